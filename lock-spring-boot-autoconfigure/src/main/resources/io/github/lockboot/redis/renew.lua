-- Extends the caller's lease, also beyond the ttl that it had. Never shortens it and never creates a key.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the number of the caller's grant
-- ARGV[4]  ttl, ms
--
-- RENEWED lease-ms waiters | NOT_HOLDER
local grant_number, ttl = tonumber(ARGV[3]), tonumber(ARGV[4])

update()
local holder = holder_of(me)
if not holder or holder.grant_number ~= grant_number then
  return answer_as_master('NOT_HOLDER')
end
holder.ttl, holder.expiry, lock.changed = math.max(holder.ttl, ttl), math.max(holder.expiry, now + ttl), true
local reply = answer('RENEWED', holder.expiry - now, #lock.queue)
redis.call('PTTL', KEYS[1]) -- Redis announces changes of a key that was read after its last write
return reply
