-- The usual case of acquire, before anything else is set up: there is no key, so there is nothing to settle.
if redis.call('EXISTS', KEYS[1]) == 0 then
  local ttl, time = ARGV[5], redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  local fence, expiry = string.format('%.0f', micros), string.format('%.0f', math.floor(micros / 1000) + ttl)
  redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'ttl', ttl, 'until', expiry, 'fence', fence)
  redis.call('PEXPIRE', KEYS[1], ttl)
  return 'OWNER ' .. fence .. ' ' .. ttl .. ' 0'
end
