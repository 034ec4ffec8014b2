-- Gives a hold to the caller: the same grant under the caller's id, with a new lease, also a shorter one: nobody counts on the former one any
-- more. Of several ids that ask for a hold, one gets it. If the caller has it already, its lease is extended.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the id that has the hold
-- ARGV[4]  the number of its grant
-- ARGV[5]  ttl, ms
--
-- GRANTED as by acquire | NOT_HOLDER
local grant_number, ttl = tonumber(ARGV[4]), tonumber(ARGV[5])

update()
local holder = holder_of(me) or holder_of(ARGV[3])
if not holder or holder.grant_number ~= grant_number then
  return answer_as_master('NOT_HOLDER')
end
if holder.id == me then
  holder.ttl, holder.expiry = math.max(holder.ttl, ttl), math.max(holder.expiry, now + ttl)
else
  holder.id, holder.ttl, holder.expiry = me, ttl, now + ttl
end
lock.changed = true
return answer_to(me)
