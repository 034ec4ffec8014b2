-- Extends the caller's lease. Never shortens it and never creates a key. common precedes it.
--
-- ARGV[5]  the fencing token of the caller's grant
-- ARGV[6]  ttl, ms
--
-- RENEWED lease-ms waiters | NOT_OWNER
local token, ttl = tonumber(ARGV[5]), tonumber(ARGV[6])

settle()
if not lock or lock.owner ~= me or lock.fence ~= token then
  return answer('NOT_OWNER')
end
lock.expiry, lock.changed = math.max(lock.expiry, now + ttl), true
return answer('RENEWED', lock.expiry - now, #lock.queue)
