-- Ends my hold for all who wait: none of them gets the lock, all are told at once that it is done.
-- Preceded by common, which describes KEYS and ARGV[1] to ARGV[4].
--
-- ARGV[5]  last fencing token used under my id
-- ARGV[6]  channel of those who follow
--
-- COMPLETED | NOT_OWNER
local last, followers = tonumber(ARGV[5]), ARGV[6]

if not lock then
  return 'NOT_OWNER'
end
settle()
if lock.owner ~= me then
  return answer('NOT_OWNER')
end
local waiting = #lock.queue
lock.owner, lock.queue, lock.fence, lock.changed = nil, {}, math.max(lock.fence, last), true
save()
if waiting > 0 then
  redis.pcall('PUBLISH', followers, message(me, lock.fence, 0))
end
return 'COMPLETED'
