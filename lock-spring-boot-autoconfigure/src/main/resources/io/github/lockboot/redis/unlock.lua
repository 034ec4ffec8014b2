-- Ends the caller's hold: the first waiters that may hold the lock now get it. A next id, by which the caller's process waits again, joins
-- the queue.
--
-- first: begin, stored, unlock-last
-- then:  settings, unlock-queued, common
--
-- begin          me, the caller's id, and the time
-- stored         the text that is stored
-- unlock-last    answers if nobody waits; otherwise last_token and next_id, which are ARGV[3] and ARGV[4]
-- settings       the settings of the registry
-- unlock-queued  answers if the first waiter is exclusive, and the queue was swept a moment ago
-- common         update brings the lock up to date; holder_of finds a hold, release ends it; join queues an id; answer writes the lock
--
-- ARGV[3]  the last fencing token used under the caller's id
-- ARGV[4]  the next id, which joins the queue unless it is there or holds the lock; with ARGV[5] and ARGV[6], if there is one
-- ARGV[5]  its ttl, ms
-- ARGV[6]  its kind
--
-- RELEASED | GRANTED_NEXT | GRANTED and QUEUED as by acquire, of the next id | NOT_HOLDER
update()
local holder, place = holder_of(me)
if not holder then
  return answer_as_master('NOT_HOLDER')
end
if holder.kind ~= SHARED then
  lock.grant_number = math.max(lock.grant_number, last_token)
end
if not next_id then
  return answer(release(place) > 0 and 'GRANTED_NEXT' or 'RELEASED')
end
if not holder_of(next_id) then
  join(next_id, tonumber(ARGV[5]), tonumber(ARGV[6]))
end
release(place, next_id)
return answer_to(next_id)
