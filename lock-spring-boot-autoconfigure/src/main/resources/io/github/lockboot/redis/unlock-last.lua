-- The usual case of unlock: the caller owns the lock, the queue is empty, and every used token is in the past. Even after the lease,
-- no other id has had the lock. common and unlock describe KEYS and ARGV.
--
-- RELEASED
local key, me, last, next_id, number = KEYS[1], ARGV[1], tonumber(ARGV[5]), ARGV[6], ARGV[#ARGV]

if next_id == '' then
  local field = redis.pcall('HMGET', key, 'owner', 'queue', 'fence', 'v')
  if field[1] == me and not field[2] and field[4] == FORMAT then
    local fence, time = tonumber(field[3]), redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    if fence and fence < now and last < now then
      redis.call('DEL', key)
      return number .. ' RELEASED'
    end
  end
end
