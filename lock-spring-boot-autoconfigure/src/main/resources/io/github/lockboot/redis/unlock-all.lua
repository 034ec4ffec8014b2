-- The usual case of unlock, as in unlock-last, for several locks. Does nothing to a lock for which this is not the usual case.
-- LuaScript defines FORMAT.
--
-- KEYS  the locks
-- ARGV  for each lock in turn the caller's acquisition id and the last fencing token used under it; last the number of the command
--
-- ALL, and for each lock, separated by commas: RELEASED | SKIPPED
local time = redis.call('TIME')
local now, replies = time[1] * 1000000 + time[2], {}
for i = 1, #KEYS do
  local stored, last = redis.pcall('GET', KEYS[i]), tonumber(ARGV[2 * i])
  local held = type(stored) == 'string' and stored or ''
  local format, fence, owner = string.match(held, '^%[(%d+),"(%d+)",%[%["([^"\\]+)",%d+,%d+,0%]%]%]$')
  replies[i] = 'SKIPPED'
  if owner == ARGV[2 * i - 1] and format == FORMAT and tonumber(fence) < now and last < now then
    redis.call('DEL', KEYS[i])
    replies[i] = 'RELEASED'
  end
end
return 'ALL ' .. table.concat(replies, ',')
