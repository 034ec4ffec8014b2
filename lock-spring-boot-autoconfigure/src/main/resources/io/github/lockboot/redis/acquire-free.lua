-- The usual case of acquire, before anything else is set up: there is no key, so there is nothing to settle. Numbers are put
-- together from the clock's digits: formatting them would take as long as writing the hash. Nothing precedes it; acquire-queued
-- follows. KEYS and ARGV: see common and acquire.
if redis.call('EXISTS', KEYS[1]) == 0 then
  local ttl, time = ARGV[5], redis.call('TIME')
  local seconds, micros = time[1], string.sub('00000' .. time[2], -6)
  local fence, expiry = seconds .. micros, (seconds .. string.sub(micros, 1, 3)) + ttl
  redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'ttl', ttl, 'until', expiry, 'fence', fence)
  local kept = redis.pcall('PEXPIRE', KEYS[1], ttl)
  if type(kept) == 'table' then -- not allowed to this user: better no lock than one without an end
    redis.call('DEL', KEYS[1])
    return kept
  end
  return ARGV[#ARGV] .. ' OWNER ' .. fence .. ' ' .. ttl .. ' 0'
end
