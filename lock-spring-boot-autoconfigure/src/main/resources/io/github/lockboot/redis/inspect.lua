-- Returns the owner of the lock; changes nothing. Preceded by common, which describes KEYS; reads no ARGV.
--
-- FREE | FOREIGN | HELD fence ms-left owner
if not lock then
  return 'FOREIGN'
end
local left = lock.owner and math.min(lock.expiry - now, lock.ttl) or 0
if left <= 0 then
  return 'FREE'
end
return reply('HELD', lock.fence, left, lock.owner)
