-- Extends the leases of several permits, as renew does for one.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the id of the first permit, then the number of its grant and its ttl, ms; and so on for each permit
--
-- ALL, and for each permit, separated by commas: RENEWED lease-ms waiters | NOT_HOLDER
update()
local holders, replies = {}, {}
for _, holder in ipairs(lock and lock.holders or {}) do
  holders[holder.id] = holder
end
for i = 3, #ARGV - 1, 3 do
  local holder, grant_number, ttl = holders[ARGV[i]], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local reply = 'NOT_HOLDER'
  if holder and holder.grant_number == grant_number then
    holder.ttl, holder.expiry, lock.changed = math.max(holder.ttl, ttl), math.max(holder.expiry, now + ttl), true
    reply = 'RENEWED ' .. text(holder.expiry - now) .. ' ' .. text(#lock.queue)
  end
  replies[#replies + 1] = reply
end
return answer_as_master('ALL ' .. table.concat(replies, ','))
