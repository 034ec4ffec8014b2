-- Takes the caller out of the queue, or ends its hold if it has been granted the lock. Preceded by common, which describes KEYS
-- and ARGV.
--
-- LEFT | GIVEN_AWAY | UNKNOWN
if not lock then
  return 'UNKNOWN'
end
settle(NOBODY)
if lock.owner == me then
  release(NOBODY)
  return answer('GIVEN_AWAY')
end
local position = position_of(me)
if not position then
  return answer('UNKNOWN')
end
table.remove(lock.queue, position)
lock.changed = true
return answer('LEFT')
