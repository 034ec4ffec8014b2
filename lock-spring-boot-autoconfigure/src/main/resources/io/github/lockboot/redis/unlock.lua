-- Ends the caller's hold: the first waiters that may hold the lock now get it. A next id, by which the caller's process waits again, joins
-- the queue. unlock-last, unlock-queued and common precede it.
--
-- ARGV[5]  the last fencing token used under the caller's id
-- ARGV[6]  the next id, which joins the queue unless it is there or holds the lock; empty for none
-- ARGV[7]  its ttl, ms, if there is one
-- ARGV[8]  its kind, if there is one
--
-- RELEASED | HANDED_OVER | OWNER and QUEUED as by acquire, of the next id | NOT_OWNER
local next_ttl, next_kind = tonumber(ARGV[7]), tonumber(ARGV[8])

settle()
local holder, place = holder_of(me)
if not holder then
  return answer('NOT_OWNER')
end
if holder.kind ~= SHARED then
  lock.fence = math.max(lock.fence, last)
end
if next_id == '' then
  return answer(release(place) > 0 and 'HANDED_OVER' or 'RELEASED')
end
if not holder_of(next_id) then
  join(next_id, next_ttl, next_kind)
end
release(place, next_id)
return answer_to(next_id)
