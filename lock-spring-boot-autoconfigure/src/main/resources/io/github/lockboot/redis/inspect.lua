-- Returns the first holder of the lock. Changes nothing.
--
-- first: begin, stored
-- then:  settings, common
--
-- FREE | FOREIGN | HELD fence ms-left owner
if not lock then
  return 'FOREIGN'
end
for _, holder in ipairs(lock.holders) do
  local left = math.min(holder.expiry - now, holder.ttl)
  if left > 0 then
    return answer('HELD', holder.fence, left, holder.id)
  end
end
return 'FREE'
