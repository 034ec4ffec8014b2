-- Takes the lock for the caller if the holders admit it and no waiter is before the caller; renews it if the caller holds it; otherwise
-- queues the caller or marks it as seen. acquire-free, acquire-queued and common precede it.
--
-- ARGV[5]  ttl, ms
-- ARGV[6]  the kind
-- ARGV[7]  1 to queue the caller, 0 otherwise
-- ARGV[8]  the largest number of waiters
--
-- OWNER fence lease-ms waiters [token, unless it is the fence] | QUEUED position fence ms-left | BUSY ms-left
local ttl, kind, enqueue, most = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1', tonumber(ARGV[8])

settle(me)
if not lock then
  return answer('BUSY', ms_left())
end
local holder = holder_of(me)
if holder then
  holder.expiry, lock.changed = math.max(holder.expiry, now + ttl), true
elseif #lock.queue == 0 and admits(lock.holders, kind) then
  grant(me, ttl, kind, ttl)
elseif enqueue and (position_of(me) or #lock.queue < most) then
  join(me, ttl, kind)
else
  return answer('BUSY', ms_left())
end
return answer_to(me)
