#!lua name=evenfold_append
-- Append one entry to a stream, if it is the one that comes next; or put a stream back that was archived.
--
-- The first line and the name evenfold_append are replaced as service/log.py loads this file: library and function are
-- both named evenfold_<hash of all the rest>, so that old and new run side by side. This is the only place that calls
-- XADD on a table's or a tournament's stream, and it never gives MAXLEN or MINID: a stream is never trimmed.
--
-- Both take the KEYS  1 stream  2 feed  3 index of idempotency keys  4 catalogue  5 tombstone: one hash slot, by their
-- {partition}.
--
-- To append, ARGV  1 the stream's name  2 the expected version  3 e  4 h  5 the idempotency key's hash, or ''
--       6 the head at the expected version, which e chains to; '' or nothing there: it is not compared
--
-- To restore, ARGV  1 the stream's name  2 the tombstone as it stands  3 how many entries there are, then e and h of
-- each, then each idempotency key's hash and its version. Answers  {'ok', v}  {'there', length}: other entries are in
-- the store  {'changed'}: another tombstone stands, or none. Only a user who may take tombstones away may restore.
--
-- Appending answers  {'ok', v}  {'same', v}  {'behind', entries after expected, at most 500}  {'gone'}
--          {'ahead', length}: the stream does not hold, at the expected version, the entry that e chains to

local AT_MOST = 500

-- The last heads that this server has written: reading one back from its stream costs a quarter of an append. They are
-- compared first and never believed against the stream: another head, or none (a server that has just started, or has
-- just become the primary), and the entry itself is read.
local MOST_HEADS = 8192
local heads, kept = {}, 0

local function keep(stream, head)
  if not heads[stream] then
    if kept == MOST_HEADS then
      heads, kept = {}, 0
    end
    kept = kept + 1
  end
  heads[stream] = head
end

local function holds(stream, version, head)
  local entry = redis.call('XRANGE', stream, version .. '-0', version .. '-0')[1]
  return entry ~= nil and entry[2][4] == head
end

local function append(keys, args)
  local stream, feed, index, catalogue, tombstone = keys[1], keys[2], keys[3], keys[4], keys[5]
  local name, expected, key, previous = args[1], tonumber(args[2]), args[5], args[6] or ''

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
  if length < expected then
    return {'ahead', length}
  end
  -- After a failover that lost entries, others may stand where they stood: a stale writer must not chain to a lost one.
  local is_known = length == expected and heads[stream] == previous
  if expected > 0 and previous ~= '' and not is_known and not holds(stream, args[2], previous) then
    return {'ahead', length}
  end
  if length > expected then
    return {'behind', redis.call('XRANGE', stream, version .. '-0', '+', 'COUNT', AT_MOST)}
  end

  -- Nothing takes back what a function has written when a later write of it is refused. So what may be refused comes
  -- before the entry itself, where it does no harm: a name in the catalogue, a hint of growth. After the entry comes
  -- only the key, whose index was read above and whose permission is asked for here.
  if key ~= '' and not redis.acl_check_cmd('HSET', index, key, version) then
    return redis.error_reply('NOPERM this user may not write ' .. index)
  end
  if expected == 0 then
    redis.call('ZADD', catalogue, 0, name)
  end
  -- The server's clock names the entry of the feed; where it steps back, the server goes on from the last id.
  redis.call('XADD', feed, '*', 's', name, 'v', version)
  redis.call('XADD', stream, version .. '-0', 'e', args[3], 'h', args[4])
  if key ~= '' then
    redis.call('HSET', index, key, version)
  end
  keep(stream, args[4])
  return {'ok', expected + 1}
end

local function restore(keys, args)
  local stream, feed, index, catalogue, tombstone = keys[1], keys[2], keys[3], keys[4], keys[5]
  local name, count = args[1], tonumber(args[3])

  if redis.call('GET', tombstone) ~= args[2] then
    return {'changed'}
  end
  local length = redis.call('XLEN', stream)
  if length == count then
    -- Whoever archived it was cut off before it went.
    redis.call('DEL', tombstone)
    return {'ok', count}
  end
  if length > 0 then
    return {'there', length}
  end

  -- As above, what may be refused comes first: the tombstone goes last, so that nobody appends to half a stream, and
  -- whether it may go is asked for here.
  if not redis.acl_check_cmd('DEL', tombstone) then
    return redis.error_reply('NOPERM this user may not take away ' .. tombstone)
  end
  local first_key = 4 + 2 * count
  if args[first_key] and not redis.acl_check_cmd('HSET', index, 'key', '1') then
    return redis.error_reply('NOPERM this user may not write ' .. index)
  end
  redis.call('ZADD', catalogue, 0, name)
  redis.call('XADD', feed, '*', 's', name, 'v', count)
  for version = 1, count do
    redis.call('XADD', stream, string.format('%d-0', version), 'e', args[2 + 2 * version], 'h', args[3 + 2 * version])
  end
  for place = first_key, #args, 2 do
    redis.call('HSET', index, args[place], args[place + 1])
  end
  redis.call('DEL', tombstone)
  return {'ok', count}
end

redis.register_function('evenfold_append', append)
redis.register_function('evenfold_append_restore', restore)
