-- Returns whether the lock is held. Changes nothing.
--
-- first: begin, stored
-- then:  settings, common
--
-- FREE | FOREIGN | HELD
if not stored then
  redis.call('DEL', KEYS[1]) -- a replica may lack what its master has, and refuses nothing but writes
end
if not lock then
  return 'FOREIGN'
end
for _, holder in ipairs(lock.holders) do
  if math.min(holder.expiry - now, holder.ttl) > 0 then
    return 'HELD'
  end
end
return 'FREE'
