-- Returns the first holder of the lock. Changes nothing.
--
-- first: begin, stored
-- then:  settings, common
--
-- FREE | FOREIGN | HELD grant-number ms-left holder-id
if not lock then
  return 'FOREIGN'
end
for _, holder in ipairs(lock.holders) do
  local left = math.min(holder.expiry - now, holder.ttl)
  if left > 0 then
    return answer('HELD', holder.grant_number, left, holder.id)
  end
end
return 'FREE'
