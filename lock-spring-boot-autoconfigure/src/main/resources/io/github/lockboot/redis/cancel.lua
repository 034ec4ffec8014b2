-- Leaves the queue; gives the lock away if it has become mine. Preceded by common, which describes KEYS and ARGV.
--
-- LEFT | GIVEN_AWAY | UNKNOWN
if not lock then
  return 'UNKNOWN'
end
settle()
if lock.owner == me then
  release()
  return answer('GIVEN_AWAY')
end
local position = position_of(me)
if not position then
  return answer('UNKNOWN')
end
table.remove(lock.queue, position)
lock.changed = true
return answer('LEFT')
