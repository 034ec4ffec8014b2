-- The usual case of unlock: the caller owns the lock, the queue is empty, and every used token is in the past. Even after the lease,
-- no other id has had the lock. begin and unlock describe KEYS and ARGV.
--
-- RELEASED
local last, next_id = tonumber(ARGV[3]), ARGV[5] and ARGV[4]
if stored and not next_id then
  local format, fence, owner = string.match(stored, '^%[(%d+),"(%d+)",%[%["([^"\\]+)",%d+,%d+,0%]%]%]$')
  if owner == me and format == FORMAT and tonumber(fence) < micros and last < micros then
    redis.call('DEL', KEYS[1])
    return ARGV[#ARGV] .. ' RELEASED'
  end
end
