-- Shows operators the text that is stored under the key, and the holders of the lock. Changes nothing.
--
-- first: begin, stored
-- then:  settings, common
--
-- SHOWN ms-left grant-number number-of-holders, then grant number, ttl, end of the lease, kind and id of each holder, and then the text
-- that is stored
-- ms-left is -2 if there is no key, and the grant number is 0 if the key is not a lock: then its value may be a secret, and is not shown
local holders, words = 0, {}
for _, holder in ipairs(lock and lock.holders or {}) do
  if math.min(holder.expiry - now, holder.ttl) > 0 then
    local id = string.gsub(holder.id, '[^%w.-]', '?') -- no script of locks writes such an id
    holders = holders + 1
    words[holders] = string.format('%.0f %.0f %.0f %.0f %s ', holder.grant_number, holder.ttl, holder.expiry, holder.kind, id)
  end
end
return string.format('SHOWN %.0f %.0f %.0f ', redis.call('PTTL', KEYS[1]), lock and lock.grant_number or 0, holders)
  .. table.concat(words) .. (lock and stored or '')
