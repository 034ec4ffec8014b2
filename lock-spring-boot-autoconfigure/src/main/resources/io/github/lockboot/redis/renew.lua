-- Extends the caller's lease, also beyond the ttl that it had, and those of other permits of the lock. Never shortens one and never
-- creates a key.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the number of the caller's grant
-- ARGV[4]  ttl, ms
-- ARGV[5]  the id of another permit, then the number of its grant and its ttl; and so on for each permit
--
-- For each id, separated by commas: RENEWED lease-ms waiters | NOT_HOLDER
update()
local holders, replies, watched = {}, {}, false
for _, holder in ipairs(lock and lock.holders or {}) do
  holders[holder.id] = holder
end
for i = 3, #ARGV - 1, 3 do
  local holder, grant_number, ttl = holders[i > 3 and ARGV[i - 1] or me], tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local reply = 'NOT_HOLDER'
  if holder and holder.grant_number == grant_number then
    holder.ttl, holder.expiry, lock.changed = math.max(holder.ttl, ttl), math.max(holder.expiry, now + ttl), true
    reply = 'RENEWED ' .. text(holder.expiry - now) .. ' ' .. text(#lock.queue)
    watched = holder.kind <= EXCLUSIVE
  end
  replies[#replies + 1] = reply
end
local reply = answer_as_master(table.concat(replies, ','))
if watched then
  redis.call('PTTL', KEYS[1]) -- Redis announces changes of a key that was read after its last write
end
return reply
