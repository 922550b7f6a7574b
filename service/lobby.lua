#!lua name=evenfold_lobby
-- Put a table into the lobby as it is at a version, or take it out, and tell what has changed: all of it, or nothing.
--
-- The first line and the name evenfold_lobby are replaced as the file is loaded (service/functions.py).
--
-- Whoever comes with a version older than what is known changes nothing. What is known of a table that has ended is its
-- version, for a while: two generations of ended tables are kept, and the older goes when the newer is full. Who looked
-- at a table before these began may lack an end that is forgotten by now, and is told to look again.
--
-- KEYS  1 summaries  2 what is listed: `<version> <place> <index>…`  3 changes  4 the generation
--       5, 6 tables that have ended, of even and of odd generations  7 the bells
-- ARGV  1 the table  2 the version  3 its place in the indexes  4 the summary, '' if the table is to be taken out
--       5 the generation known before its stream was read
--       6 a version that the table was listed at and has no more, or -1: that, though newer, is put right
--       7… the indexes that are to have it, whose keys begin as that of the summaries does
--
-- Answers {what, the generation}: 'put', 'newer' is known, or it is too 'late' to say. A change says `t` the table, `v`
-- the version, `s` its summary ('' if it was taken out), `w` the one before ('' if there was none), and `f` whether it
-- is the first there ever was; `r` says that no client can go on from what it has.

-- How many changes are kept, and how many bells.
local CHANGES = 10000
local BELLS = 10000

-- How many tables a generation of the ended has.
local ENDED = 5000

local INDEXES = 7

local function listed_as(line)
  local words = {}
  for word in string.gmatch(line or '', '%S+') do
    words[#words + 1] = word
  end
  return words
end

local function known_version(keys, id, words)
  local version = tonumber(words[1] or -1)
  for place = 5, 6 do
    version = math.max(version, tonumber(redis.call('HGET', keys[place], id) or -1))
  end
  return version
end

local function take_out(keys, id, version, generation)
  redis.call('HDEL', keys[1], id)
  redis.call('HDEL', keys[2], id)
  local ended = keys[5 + generation % 2]
  redis.call('HSET', ended, id, version)
  if redis.call('HLEN', ended) >= ENDED then
    redis.call('SET', keys[4], generation + 1)
    redis.call('DEL', keys[5 + (generation + 1) % 2])
  end
end

local function put(keys, args)
  local changes, bells = keys[3], keys[7]
  local id, version, place, summary = args[1], tonumber(args[2]), args[3], args[4]
  local generation = tonumber(redis.call('GET', keys[4]) or 0)
  if tonumber(args[5]) < generation - 1 then
    return {'late', generation}
  end
  local words = listed_as(redis.call('HGET', keys[2], id))
  local known = known_version(keys, id, words)
  if known > version and known ~= tonumber(args[6]) then
    return {'newer', generation}
  end

  local before = redis.call('HGET', keys[1], id) or ''
  for index = 3, #words do
    redis.call('ZREM', words[index], words[2])
  end
  if summary == '' then
    take_out(keys, id, args[2], generation)
  else
    redis.call('HSET', keys[1], id, summary)
    redis.call('HSET', keys[2], id, table.concat({args[2], place, unpack(args, INDEXES)}, ' '))
    for index = INDEXES, #args do
      redis.call('ZADD', args[index], 0, place)
    end
  end
  if before == summary then
    return {'put', generation}
  end

  local first = redis.call('EXISTS', changes) == 0 and 1 or 0
  if known > version then
    redis.call('XADD', changes, 'MAXLEN', '~', CHANGES, '*', 'r', 1)
  end
  redis.call('XADD', changes, 'MAXLEN', '~', CHANGES, '*', 't', id, 'v', args[2], 's', summary, 'w', before, 'f', first)
  redis.call('XADD', bells, 'MAXLEN', '~', BELLS, '*', 'b', 'lobby')
  return {'put', generation}
end

redis.register_function('evenfold_lobby', put)
