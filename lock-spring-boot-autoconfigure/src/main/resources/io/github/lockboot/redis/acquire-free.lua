-- The usual case of acquire: the request is exclusive and there is no key, so there is nothing to update. Numbers are made of the
-- digits of the clock, because formatting them would take as long as SET. begin and acquire describe KEYS and ARGV.
--
-- OWNER grant-number lease-ms 0
if ARGV[4] == '0' then
  local ttl, seconds, micros = ARGV[3], time[1], string.sub('00000' .. time[2], -6)
  local grant_number, expiry = seconds .. micros, (seconds .. string.sub(micros, 1, 3)) + ttl
  local state = '[' .. FORMAT .. ',"' .. grant_number .. '",[["' .. me .. '",' .. ttl .. ',' .. expiry .. ',0]]]'
  local set = redis.pcall('SET', KEYS[1], state, 'NX', 'PX', ttl) -- an error is raised by the general part
  if set and set.ok then
    return ARGV[#ARGV] .. ' OWNER ' .. grant_number .. ' ' .. ttl .. ' 0'
  end
end
