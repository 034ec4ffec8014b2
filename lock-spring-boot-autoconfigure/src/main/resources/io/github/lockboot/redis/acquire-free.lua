-- The usual case of acquire, before anything else is set up: there is no key, so there is nothing to settle.
if redis.call('EXISTS', KEYS[1]) == 0 then
  local time, ttl = redis.call('TIME'), tonumber(ARGV[5])
  local fence = time[1] * 1000000 + time[2]
  local expiry = math.floor(fence / 1000) + ttl
  redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'ttl', ARGV[5],
      'until', string.format('%.0f', expiry), 'fence', string.format('%.0f', fence))
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  return {'OWNER', fence, ttl, 0}
end
