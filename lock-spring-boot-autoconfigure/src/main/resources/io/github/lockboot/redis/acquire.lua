-- Takes the lock for the caller if it is free and no waiter is before the caller; renews it if the caller owns it; otherwise queues
-- the caller or marks it as seen. acquire-free, acquire-queued and common precede it.
--
-- ARGV[5]  ttl, ms
-- ARGV[6]  1 to queue the caller, 0 otherwise
-- ARGV[7]  the largest number of waiters
--
-- OWNER fence lease-ms waiters | QUEUED position fence ms-left | BUSY ms-left
local ttl, enqueue, most = tonumber(ARGV[5]), ARGV[6] == '1', tonumber(ARGV[7])

settle(me)
if not lock then
  return answer('BUSY', ms_left())
end
if lock.owner == me then
  lock.expiry, lock.changed = math.max(lock.expiry, now + ttl), true
elseif not lock.owner and #lock.queue == 0 then
  own(me, ttl, ttl)
end
if lock.owner == me then
  return answer('OWNER', lock.fence, lock.expiry - now, #lock.queue)
end
local position = position_of(me)
if not enqueue or (not position and #lock.queue >= most) then
  return answer('BUSY', ms_left())
end
if not position then
  position = #lock.queue + 1
  lock.queue[position] = {me, ttl, now}
end
lock.changed = true -- the caller has joined the queue or was seen
lock.hint = position == 1
return answer('QUEUED', position, lock.fence, ms_left())
