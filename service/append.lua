#!lua name=evenfold_append
-- Append one entry to a stream, if it is the one that comes next.
--
-- The first line and the name evenfold_append are replaced as service/log.py loads this file: library and function are
-- both named evenfold_<hash of all the rest>, so that old and new run side by side. This is the only place that calls
-- XADD on a table's or a tournament's stream, and it never gives MAXLEN or MINID: a stream is never trimmed.
--
-- KEYS  1 stream  2 feed  3 index of idempotency keys  4 catalogue  5 tombstone: one hash slot, by their {partition}
-- ARGV  1 the stream's name  2 the expected version  3 e  4 h  5 the idempotency key's hash, or ''
--
-- Answers  {'ok', v}  {'same', v}  {'behind', entries after expected, at most 500}  {'ahead', length}  {'gone'}

local AT_MOST = 500

local function append(keys, args)
  local stream, feed, index, catalogue, tombstone = keys[1], keys[2], keys[3], keys[4], keys[5]
  local name, expected, key = args[1], tonumber(args[2]), args[5]

  if redis.call('EXISTS', tombstone) == 1 then
    return {'gone'}
  end
  if key ~= '' then
    local known = redis.call('HGET', index, key)
    if known then
      return {'same', tonumber(known)}
    end
  end

  local length = redis.call('XLEN', stream)
  local version = string.format('%d', expected + 1)
  if length > expected then
    return {'behind', redis.call('XRANGE', stream, version .. '-0', '+', 'COUNT', AT_MOST)}
  elseif length < expected then
    return {'ahead', length}
  end

  -- The first write: refused (an id that is not above the last one) it leaves nothing half done.
  redis.call('XADD', stream, version .. '-0', 'e', args[3], 'h', args[4])
  -- The server's clock names the entry of the feed; where it steps back, the server goes on from the last id.
  redis.call('XADD', feed, '*', 's', name, 'v', version)
  if key ~= '' then
    redis.call('HSET', index, key, version)
  end
  if expected == 0 then
    redis.call('ZADD', catalogue, 0, name)
  end
  return {'ok', expected + 1}
end

redis.register_function('evenfold_append', append)
