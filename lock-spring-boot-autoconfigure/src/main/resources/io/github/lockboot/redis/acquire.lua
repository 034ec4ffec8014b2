-- Grants the lock to the caller if the holders admit it and no waiter that may be alive is before the caller; renews it if the caller holds
-- it; otherwise queues the caller or marks it as seen.
--
-- Or takes a hold over from another id: the same grant under the caller's id, with a new lease, also a shorter one, because nobody counts on
-- the former one any more. Of several ids that ask for a hold, one gets it. If the caller has it already, its lease is extended.
--
-- Or, if the caller names itself, makes its exclusive hold a shared one, with the same lease, and grants the lock to the shared waiters at
-- the head of the queue. Changes nothing if it is shared already.
--
-- first: begin, acquire-free, stored
-- then:  settings, common
--
-- ARGV[3]  ttl, ms
-- ARGV[4]  the kind
-- ARGV[5]  1 to queue the caller, 0 otherwise
-- ARGV[6]  the id that has the hold, with ARGV[7] and ARGV[8], if a hold is taken over or made shared
-- ARGV[7]  the number of its grant: a late copy must not change a later one
-- ARGV[8]  the last fencing token used under that id; shared holders use it as theirs
--
-- GRANTED grant-number lease-ms waiters [token, unless it is that number] | QUEUED position grant-number ms-left holder-id |
-- BUSY ms-left [holder-id, unless the key is not a lock]; the first lease ends in so many ms, and is of that holder |
-- NOT_HOLDER, if there is no such hold
local ttl, kind, enqueue = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1'
local from = #ARGV > 6 and ARGV[6] or nil -- without it, ARGV[6] is the number of the command

update(not from and me or nil)
local holder = holder_of(me) or from and holder_of(from)
if from and (not holder or holder.grant_number ~= tonumber(ARGV[7]) or kind == SHARED and holder.kind > EXCLUSIVE) then
  return answer_as_master('NOT_HOLDER')
end
if not lock then
  return answer('BUSY', first_lease())
end
if from and kind == SHARED and holder.kind == EXCLUSIVE then
  holder.kind, lock.grant_number = SHARED, math.max(lock.grant_number, tonumber(ARGV[8]))
  admit()
end
if holder then
  if holder.id ~= me then
    holder.id, holder.ttl, holder.expiry = me, ttl, now + ttl
  elseif from ~= me then
    holder.ttl, holder.expiry = math.max(holder.ttl, ttl), math.max(holder.expiry, now + ttl)
  end
  lock.changed = true
elseif make_way(kind) then
  grant(me, ttl, kind, ttl)
elseif enqueue and (position_of(me) or #lock.queue < most_waiters) then
  join(me, ttl, kind)
else
  return answer('BUSY', first_lease())
end
return answer_to(me)
