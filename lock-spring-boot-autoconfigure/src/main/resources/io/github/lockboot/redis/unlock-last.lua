-- The usual case of unlock: the caller holds the lock, the queue is empty, and every used token is in the past. Even after the lease,
-- no other id has had the lock. begin and unlock describe KEYS and ARGV.
--
-- RELEASED
local last_token = tonumber(ARGV[3])
local next_id = #ARGV > 4 and ARGV[4] or nil -- without a next id, ARGV[4] is the number of the command
if stored and not next_id then
  local format, grant_number, holder = string.match(stored, '^%[(%d+),"(%d+)",%[%["([^"\\]+)",%d+,%d+,0%]%]%]$')
  if holder == me and format == FORMAT and tonumber(grant_number) < micros and last_token < micros then
    redis.call('DEL', KEYS[1])
    return ARGV[#ARGV] .. ' RELEASED'
  end
end
