#!lua name=evenfold_leases
-- Write under a lease: everything that is asked if the lease is still the one that the writer holds, else nothing.
--
-- service/functions.py replaces the first line and the name evenfold_leases. The check and the writes are one step, so
-- that whoever woke up after its lease was claimed by another changes nothing any more, however late its call arrives.
--
-- KEYS  1 the lease of a partition  2 … what is written
-- ARGV  1 the lease as the writer knows it, '' for none  2 … calls: how many words each has, and then these
--
-- Answers  a list of what each call answered, or nothing where the lease is another

local function write(keys, args)
  if (redis.call('GET', keys[1]) or '') ~= args[1] then
    return false
  end
  local replies, place = {}, 2
  while place <= #args do
    local words = tonumber(args[place])
    replies[#replies + 1] = redis.call(unpack(args, place + 1, place + words))
    place = place + words + 1
  end
  return replies
end

redis.register_function('evenfold_leases', write)
