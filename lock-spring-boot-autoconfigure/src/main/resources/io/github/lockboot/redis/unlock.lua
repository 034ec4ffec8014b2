-- Ends the caller's id, in the queue or as a holder: the first waiters that may hold the lock now get it. A next id, by which the caller's
-- process waits again, joins the queue.
--
-- Or the lock stays taken for a time: under an id that nobody uses, so that no command of the caller, repeated or late, changes that.
-- Readers that do so are one holder, which ends at the latest of their times. A hint reaches the first waiter if the lock becomes free
-- earlier than it knows.
--
-- first: begin, stored, unlock-last
-- then:  settings, unlock-queued, common
--
-- begin          me, the caller's id, and the time
-- stored         the text that is stored
-- unlock-last    answers if nobody waits; otherwise last_token and next_id, which are ARGV[3] and ARGV[4]
-- settings       the settings of the registry
-- unlock-queued  answers if the first waiter is exclusive and listens, and the queue was swept a moment ago
-- common         update brings the lock up to date; holder_of finds a hold, release ends it; join queues an id; answer writes the lock
--
-- ARGV[3]  the last fencing token used under the caller's id
-- ARGV[4]  the next id, which joins the queue unless it is there or holds the lock; or empty if the lock stays taken; with ARGV[5] and
--          ARGV[6], if either is so
-- ARGV[5]  the ttl of the next id, ms; or how long the lock stays taken, ms
-- ARGV[6]  the kind of the next id; or the number of the caller's grant: a late copy must not keep a later one
--
-- RELEASED | GRANTED_NEXT | KEPT | GRANTED and QUEUED as by acquire, of the next id | NOT_HOLDER, also if the caller was in the queue
local keeps = next_id == ''

update()
local holder, place = holder_of(me)
local position = lock and position_of(me)
if position then
  table.remove(lock.queue, position)
  lock.changed = true
  admit()
end
if not holder or keeps and holder.grant_number ~= tonumber(ARGV[6]) then
  return answer_as_master('NOT_HOLDER')
end
if keeps then
  local stay, lease_end, kept = tonumber(ARGV[5]), holder.expiry, nil
  for _, other in ipairs(lock.holders) do
    kept = kept or holder.kind == SHARED and string.find(other.id, '^kept%-') and other
  end
  if kept then
    kept.ttl, kept.expiry = math.max(kept.ttl, stay), math.max(kept.expiry, now + stay)
    release(place)
  else
    holder.id, holder.ttl, holder.expiry, lock.changed = 'kept-' .. me, stay, now + stay, true
  end
  for _, waiter in ipairs(now + stay < lease_end and lock.queue or {}) do
    notify(waiter[1], 0, 0, #lock.queue - 1, 0)
    if not is_deaf(waiter[1]) then
      break
    end
  end
  return answer('KEPT')
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
