-- Ends the caller's exclusive hold and empties the queue: no waiter gets the lock, but one message to all says that the caller has
-- completed.
--
-- first: begin, stored
-- then:  settings, common
--
-- ARGV[3]  the last fencing token used under the caller's id
-- ARGV[4]  the channel of completions
--
-- COMPLETED | NOT_OWNER
local last, completions = tonumber(ARGV[3]), ARGV[4]

settle()
local holder = holder_of(me)
if not holder or holder.kind ~= EXCLUSIVE then
  return answer('NOT_OWNER')
end
local waiting = #lock.queue
lock.holders, lock.queue, lock.fence, lock.changed = {}, {}, math.max(lock.fence, last), true
save()
if waiting > 0 then
  redis.pcall('PUBLISH', completions, message(me, lock.fence, 0, lock.fence))
end
return 'COMPLETED'
