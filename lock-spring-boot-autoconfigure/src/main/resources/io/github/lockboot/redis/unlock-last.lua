-- The usual case of unlock, before anything else is set up: mine, nobody waits, and every token used is in the past. Whether
-- the lease has run out does not matter: nobody else has had the lock since. Nothing precedes it; common follows. KEYS and
-- ARGV: see common and unlock.
if ARGV[6] == '' then
  local field = redis.pcall('HMGET', KEYS[1], 'owner', 'queue', 'fence')
  if field[1] == ARGV[1] and not field[2] then
    local fence, time = tonumber(field[3]), redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    if fence and fence < now and tonumber(ARGV[5]) < now then
      redis.call('DEL', KEYS[1])
      return ARGV[#ARGV] .. ' RELEASED'
    end
  end
end
