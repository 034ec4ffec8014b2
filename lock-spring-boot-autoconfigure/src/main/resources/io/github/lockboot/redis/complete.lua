-- Ends the caller's hold and empties the queue: no waiter gets the lock, and one message tells all that it has completed. Preceded
-- by common, which describes KEYS and ARGV[1] to ARGV[4].
--
-- ARGV[5]  the last fencing token used under the caller's id
-- ARGV[6]  the channel of completions
--
-- COMPLETED | NOT_OWNER
local last, completions = tonumber(ARGV[5]), ARGV[6]

if not lock then
  return 'NOT_OWNER'
end
settle(NOBODY)
if lock.owner ~= me then
  return answer('NOT_OWNER')
end
local waiting = #lock.queue
lock.owner, lock.queue, lock.fence, lock.changed = nil, {}, math.max(lock.fence, last), true
save()
if waiting > 0 then
  redis.pcall('PUBLISH', completions, message(me, lock.fence, 0))
end
return 'COMPLETED'
