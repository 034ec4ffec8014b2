-- The usual case of acquire: the request is exclusive and there is no key, so there is nothing to settle. Numbers are made of the
-- digits of the clock, because formatting them would take as long as writing the hash. common and acquire describe KEYS and ARGV.
--
-- OWNER fence lease-ms 0
if ARGV[6] == '0' and redis.call('EXISTS', KEYS[1]) == 0 then
  local key, me, ttl, number = KEYS[1], ARGV[1], ARGV[5], ARGV[#ARGV]
  local time = redis.call('TIME')
  local seconds, micros = time[1], string.sub('00000' .. time[2], -6)
  local fence, expiry = seconds .. micros, (seconds .. string.sub(micros, 1, 3)) + ttl
  redis.call('HSET', key, 'v', FORMAT, 'owner', me, 'ttl', ttl, 'until', expiry, 'fence', fence)
  local kept = redis.pcall('PEXPIRE', key, ttl)
  if type(kept) == 'table' then -- the user has no right to it, and the key must not stay without a ttl
    redis.call('DEL', key)
    return kept
  end
  return number .. ' OWNER ' .. fence .. ' ' .. ttl .. ' 0'
end
