-- Whether the caller has the lock under this fence, and for how long. Settles nothing. Writes what is there once more: on Redis 8 and Valkey
-- a WAIT that follows covers only what Redis did before the last write of the same connection.
--
-- ARGV[5]  the fence of the caller's grant
--
-- RENEWED lease-ms 0 | NOT_OWNER
local stored, time = redis.pcall('HMGET', KEYS[1], 'owner', 'fence', 'until', 'holders'), redis.call('TIME')
local expiry = stored[1] == ARGV[1] and stored[2] == ARGV[5] and stored[3] or 0
for _, holder in ipairs(stored[4] and cjson.decode(stored[4]) or {}) do
  expiry = holder[1] == ARGV[1] and holder[5] == ARGV[5] and holder[3] or expiry
end
local left = expiry - math.floor((time[1] * 1000000 + time[2]) / 1000)
if left <= 0 then
  return 'NOT_OWNER'
end
redis.call('HSET', KEYS[1], 'fence', stored[2])
return string.format('RENEWED %.0f 0', left)
