-- Takes the lock for the caller if it is free and no waiter is before the caller; renews it if the caller owns it; otherwise queues
-- the caller or marks it as seen. acquire-free, acquire-queued and common precede it.
--
-- ARGV[5]  ttl, ms
-- ARGV[6]  the kind: 0 exclusive, -1 shared, n limited to n
-- ARGV[7]  1 to queue the caller, 0 otherwise
-- ARGV[8]  the largest number of waiters
--
-- OWNER fence lease-ms waiters | QUEUED position fence ms-left | BUSY ms-left
local ttl, enqueue, most = tonumber(ARGV[5]), ARGV[7] == '1', tonumber(ARGV[8])

settle(me)
if not lock then
  return answer('BUSY', ms_left())
end
if lock.owner == me then
  lock.expiry, lock.changed = math.max(lock.expiry, now + ttl), true
elseif not lock.owner then -- so no id is queued
  own(me, ttl, ttl)
elseif enqueue and (position_of(me) or #lock.queue < most) then
  lock.hint = join(me, ttl) == 1
else
  return answer('BUSY', ms_left())
end
return answer_to(me)
