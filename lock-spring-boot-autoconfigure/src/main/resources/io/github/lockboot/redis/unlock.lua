-- Ends the caller's hold: the first waiters that may hold the lock now get it. A next id, by which the caller's process waits again, joins
-- the queue.
--
-- first: begin, stored, unlock-last
-- then:  settings, unlock-queued, common
--
-- ARGV[3]  the last fencing token used under the caller's id
-- ARGV[4]  the next id, which joins the queue unless it is there or holds the lock; with ARGV[5] and ARGV[6], if there is one
-- ARGV[5]  its ttl, ms
-- ARGV[6]  its kind
--
-- RELEASED | HANDED_OVER | OWNER and QUEUED as by acquire, of the next id | NOT_OWNER
settle()
local holder, place = holder_of(me)
if not holder then
  return answer('NOT_OWNER')
end
if holder.kind ~= SHARED then
  lock.fence = math.max(lock.fence, last)
end
if not next_id then
  return answer(release(place) > 0 and 'HANDED_OVER' or 'RELEASED')
end
if not holder_of(next_id) then
  join(next_id, tonumber(ARGV[5]), tonumber(ARGV[6]))
end
release(place, next_id)
return answer_to(next_id)
