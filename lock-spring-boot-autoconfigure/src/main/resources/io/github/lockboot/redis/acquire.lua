-- Takes the lock if it is free and nobody waits before me; renews it if it is mine; else queues me, or has me seen. Preceded by
-- acquire-free, acquire-queued and common, which describes KEYS and ARGV[1] to ARGV[4].
--
-- ARGV[5]  ttl, ms
-- ARGV[6]  1 to wait in the queue, 0 to go away
-- ARGV[7]  most waiters
--
-- OWNER fence lease-ms waiters | QUEUED position fence ms-left | BUSY ms-left
local ttl, enqueue, most = tonumber(ARGV[5]), ARGV[6] == '1', tonumber(ARGV[7])

if not lock then
  return reply('BUSY', ms_left())
end
settle(me)
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
lock.changed = true
lock.hint = position == 1
return answer('QUEUED', position, lock.fence, ms_left())
