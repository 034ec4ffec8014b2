-- Takes several locks exclusively, all or none: each must be free. If the caller holds one already, an earlier copy of this command has
-- taken it. LuaScript defines FORMAT.
--
-- KEYS  the locks
-- ARGV  for each lock in turn the caller's acquisition id and the ttl, ms; last the number of the command
--
-- ALL, and for each lock, separated by commas: OWNER fence lease-ms waiters | BUSY 0
local time = redis.call('TIME')
local seconds, micros = time[1], string.sub('00000' .. time[2], -6)
local fence, now = seconds .. micros, seconds .. string.sub(micros, 1, 3)
local replies, free, others = {}, {}, false
for i, key in ipairs(KEYS) do
  local me, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  replies[i] = 'BUSY 0'
  if redis.call('EXISTS', key) == 0 then
    free[#free + 1] = i
  else
    local held = redis.pcall('HMGET', key, 'owner', 'until', 'fence', 'queue')
    local left = math.min((tonumber(held[2]) or 0) - now, ttl)
    if held[1] == me and left > 0 then
      replies[i] = 'OWNER ' .. held[3] .. ' ' .. string.format('%.0f', left) .. (held[4] and ' 1' or ' 0')
    else
      others = true
    end
  end
end
for place, i in ipairs(others and {} or free) do
  local key, me, ttl = KEYS[i], ARGV[2 * i - 1], ARGV[2 * i]
  redis.call('HSET', key, 'v', FORMAT, 'owner', me, 'ttl', ttl, 'until', now + ttl, 'fence', fence)
  local kept = redis.pcall('PEXPIRE', key, ttl)
  if type(kept) == 'table' then -- the user has no right to it, and no key must stay without a ttl, nor some without the others
    for taken = 1, place do
      redis.call('DEL', KEYS[free[taken]])
    end
    return kept
  end
  replies[i] = 'OWNER ' .. fence .. ' ' .. ttl .. ' 0'
end
return 'ALL ' .. table.concat(replies, ',')
