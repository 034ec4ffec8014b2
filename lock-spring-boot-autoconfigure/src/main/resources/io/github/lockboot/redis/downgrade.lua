-- Makes a shared hold of the caller's exclusive one, with the same lease, and grants the lock to the shared waiters at the head of the
-- queue. Changes nothing if it is shared already.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the fence of the caller's grant: a late copy must not change a later one
-- ARGV[4]  the last fencing token used under the caller's id; readers have it as theirs
--
-- RENEWED lease-ms waiters | NOT_OWNER
local fence, last = tonumber(ARGV[3]), tonumber(ARGV[4])

settle()
local holder = holder_of(me)
if not holder or holder.fence ~= fence or holder.kind > 0 then
  return answer('NOT_OWNER')
end
if holder.kind == EXCLUSIVE then
  holder.kind, lock.fence, lock.changed = SHARED, math.max(lock.fence, last), true
  admit()
end
return answer('RENEWED', holder.expiry - now, #lock.queue)
