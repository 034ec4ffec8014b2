-- Returns the owner of the lock. Changes nothing. common precedes it.
--
-- FREE | FOREIGN | HELD fence ms-left owner
if not lock then
  return 'FOREIGN'
end
local left = lock.owner and math.min(lock.expiry - now, lock.ttl) or 0
if left <= 0 then
  return 'FREE'
end
return answer('HELD', lock.fence, left, lock.owner)
