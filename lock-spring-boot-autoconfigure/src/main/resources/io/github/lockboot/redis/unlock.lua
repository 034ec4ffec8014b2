-- Ends the caller's hold: the first waiter, if any, gets the lock. A next id, by which the caller's process waits again, joins the
-- queue. unlock-last and common precede it.
--
-- ARGV[5]  the last fencing token used under the caller's id
-- ARGV[6]  the next id, which joins the queue unless it is there; empty for none
-- ARGV[7]  its ttl, ms
-- ARGV[8]  its kind
--
-- RELEASED | HANDED_OVER | OWNER fence lease-ms waiters | QUEUED position fence ms-left | NOT_OWNER
local last, next_id, next_ttl = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])

settle()
if not lock or lock.owner ~= me then
  return answer('NOT_OWNER')
end
lock.fence = math.max(lock.fence, last)
if next_id == '' then
  release()
  return answer(lock.owner and 'HANDED_OVER' or 'RELEASED')
end
join(next_id, next_ttl)
release(next_id)
return answer_to(next_id)
