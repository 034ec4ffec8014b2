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
for i = 1, #KEYS do
  local me, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  local stored = redis.pcall('GET', KEYS[i])
  replies[i] = 'BUSY 0'
  if not stored then
    free[#free + 1] = i
  else
    if type(stored) == 'table' and not string.find(stored.err, 'WRONGTYPE', 1, true) then
      return stored
    end
    local text = type(stored) == 'string' and stored or ''
    local held = {string.match(text, '^%[%d+,"(%d+)",%[%["([^"\\]+)",%d+,(%d+),0%]%](.)')}
    local left = math.min((tonumber(held[3]) or 0) - now, ttl)
    if held[2] == me and left > 0 then
      replies[i] = 'OWNER ' .. held[1] .. ' ' .. string.format('%.0f', left) .. (held[4] == ',' and ' 1' or ' 0')
    else
      others = true
    end
  end
end
for place, i in ipairs(others and {} or free) do
  local me, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  local holder = '["' .. me .. '",' .. ttl .. ',' .. now + ttl .. ',0]'
  local set = redis.pcall('SET', KEYS[i], '[' .. FORMAT .. ',"' .. fence .. '",[' .. holder .. ']]', 'PX', ttl)
  if set.err then -- no lock must be taken without the others
    for before = 1, place - 1 do
      local taken = free[before]
      redis.call('DEL', KEYS[taken])
    end
    return set
  end
  replies[i] = 'OWNER ' .. fence .. ' ' .. ttl .. ' 0'
end
return 'ALL ' .. table.concat(replies, ',')
