-- Ends the caller's hold, but the lock stays taken for a time: under an id that nobody uses, so that no command of the caller, repeated or
-- late, changes that. Readers that do so are one holder, which ends at the latest of their times. A hint reaches the first waiter if the
-- lock becomes free earlier than it knows.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the number of the caller's grant
-- ARGV[4]  how long the lock stays taken, ms
--
-- KEPT | NOT_HOLDER
local grant_number, stay = tonumber(ARGV[3]), tonumber(ARGV[4])

update()
local holder, place = holder_of(me)
if not holder or holder.grant_number ~= grant_number then
  return answer_as_master('NOT_HOLDER')
end
local lease_end, kept = holder.expiry, nil
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
