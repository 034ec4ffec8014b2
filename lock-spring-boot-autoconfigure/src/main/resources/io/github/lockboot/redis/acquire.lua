-- Grants the lock to the caller if the holders admit it and no waiter that may be alive is before the caller; renews it if the caller holds it; otherwise
-- queues the caller or marks it as seen.
--
-- first: begin, acquire-free, stored
-- then:  settings, common
--
-- ARGV[3]  ttl, ms
-- ARGV[4]  the kind
-- ARGV[5]  1 to queue the caller, 0 otherwise
--
-- GRANTED grant-number lease-ms waiters [token, unless it is that number] | QUEUED position grant-number ms-left holder-id |
-- BUSY ms-left [holder-id, unless the key is not a lock]; the first lease ends in so many ms, and is of that holder
local ttl, kind, enqueue = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1'

update(me)
if not lock then
  return answer('BUSY', first_lease())
end
local holder = holder_of(me)
if holder then
  holder.expiry, lock.changed = math.max(holder.expiry, now + ttl), true
elseif make_way(kind) then
  grant(me, ttl, kind, ttl)
elseif enqueue and (position_of(me) or #lock.queue < most_waiters) then
  join(me, ttl, kind)
else
  return answer('BUSY', first_lease())
end
return answer_to(me)
