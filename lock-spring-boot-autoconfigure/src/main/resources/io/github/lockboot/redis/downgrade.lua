-- Makes the caller's exclusive hold a shared one, with the same lease, and grants the lock to the shared waiters at the head of the
-- queue. Changes nothing if it is shared already.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the number of the caller's grant: a late copy must not change a later one
-- ARGV[4]  the last fencing token used under the caller's id; shared holders use it as theirs
--
-- RENEWED lease-ms waiters | NOT_HOLDER
local grant_number, last_token = tonumber(ARGV[3]), tonumber(ARGV[4])

update()
local holder = holder_of(me)
if not holder or holder.grant_number ~= grant_number or holder.kind > 0 then
  return answer_as_master('NOT_HOLDER')
end
if holder.kind == EXCLUSIVE then
  holder.kind, lock.grant_number, lock.changed = SHARED, math.max(lock.grant_number, last_token), true
  admit()
end
return answer('RENEWED', holder.expiry - now, #lock.queue)
