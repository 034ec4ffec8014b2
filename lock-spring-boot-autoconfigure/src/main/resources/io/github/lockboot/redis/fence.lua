-- Sets a value and the fencing token of its writer, unless the key has a newer token.
--
-- KEYS[1]  hash with the fields token and value
-- ARGV[1]  fencing token, a positive decimal without leading zeros
-- ARGV[2]  value
-- ARGV[3]  time to live, ms
--
-- STORED | STALE newest-token
local token, value, ttl = ARGV[1], ARGV[2], ARGV[3]

-- Compares texts: numbers of Lua lose digits of large tokens.
local function older(one, other)
  return #one < #other or #one == #other and one < other
end

local newest = redis.call('HGET', KEYS[1], 'token')
if newest and older(token, newest) then
  return 'STALE ' .. newest
end
if not newest then
  -- If Redis refuses this, it does so before there is a key: scripts are not rolled back, and the key would stay for ever.
  redis.call('PEXPIRE', KEYS[1], ttl)
end
redis.call('HSET', KEYS[1], 'token', token, 'value', value)
redis.call('PEXPIRE', KEYS[1], ttl)
return 'STORED'
