-- The usual case of unlock, before anything else is set up: mine, nobody waits, and every token used is in the past.
if ARGV[6] == '' then
  local field = redis.pcall('HMGET', KEYS[1], 'owner', 'queue', 'until', 'ttl', 'fence')
  if field[1] == ARGV[1] and not field[2] then
    local expiry, ttl, fence = tonumber(field[3]), tonumber(field[4]), tonumber(field[5])
    local time = redis.call('TIME')
    local micros = time[1] * 1000000 + time[2]
    if expiry and ttl and fence and expiry > micros / 1000 and math.max(fence, tonumber(ARGV[5])) < micros then
      redis.call('DEL', KEYS[1])
      return {'RELEASED'}
    end
  end
end
