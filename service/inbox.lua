#!lua name=evenfold_inbox
-- Put the notices of a table's next decisions into inboxes, once, and note up to where that is done.
--
-- The first line and the name evenfold_inbox are replaced as the file is loaded (service/functions.py).
--
-- All of it happens in one call, or none: whoever comes second with the same decisions, be it after a kill or at the
-- same moment, is told how far another got. Numbers are made of the ids that the store gives, `<base>-<n>`, each one
-- above the last, so that they are dense whichever tables they come from. An account that is being erased gets nothing.
--
-- KEYS  1 what was told of the table  2 the base of all numbers  3 the accounts that are erased  4 the bells
--       5… one inbox for each account
-- ARGV  1 the version up to which decisions were told before  2 up to which they are told now
--       3 the table as it was then  4… in turn: which inbox (1 is the first), and a notice for it
--
-- Answers the version up to which decisions are told: ARGV 2, or another's if he was here before; then nothing is done.

-- How many of an account's notices are kept.
local KEPT = 1000

-- How many bells are kept; whoever is further behind hears all of them.
local BELLS = 10000

local FIXED = 4

local function tell(keys, args)
  local told, erased, bells = keys[1], keys[3], keys[4]
  local base = redis.call('GET', keys[2]) or '1'
  local known = redis.call('HMGET', told, 'base', 'version')
  local version = known[1] == base and tonumber(known[2]) or 0
  if version ~= tonumber(args[1]) then
    return version
  end

  local rung = {}
  for place = FIXED, #args, 2 do
    local inbox = keys[FIXED + tonumber(args[place])]
    local account = string.match(inbox, '[^:]+$')
    if not redis.call('ZSCORE', erased, account) then
      redis.call('XADD', inbox, 'MAXLEN', '=', KEPT, base .. '-*', 'n', args[place + 1])
      if not rung[inbox] then
        rung[inbox] = true
        redis.call('XADD', bells, 'MAXLEN', '~', BELLS, '*', 'b', inbox)
      end
    end
  end
  redis.call('HSET', told, 'base', base, 'version', args[2], 'company', args[3])
  return tonumber(args[2])
end

redis.register_function('evenfold_inbox', tell)
