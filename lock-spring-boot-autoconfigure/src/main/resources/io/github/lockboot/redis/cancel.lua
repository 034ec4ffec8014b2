-- Takes the caller out of the queue, or ends its hold if it has been granted the lock.
--
-- first: begin, stored
-- then:  settings, common
--
-- LEFT | GIVEN_AWAY | UNKNOWN
update()
local _, place = holder_of(me)
if place then
  release(place)
  return answer('GIVEN_AWAY')
end
local position = lock and position_of(me)
if not position then
  return answer_as_master('UNKNOWN')
end
table.remove(lock.queue, position)
lock.changed = true
admit()
return answer('LEFT')
