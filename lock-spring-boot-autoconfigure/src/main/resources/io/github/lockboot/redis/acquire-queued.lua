-- The usual case of a poll: another id holds the lock exclusively, the caller is not the first waiter, and a script looked at the queue a
-- moment ago. Then there is nothing to settle. The caller's time of last seen is replaced in the text of the queue; parsing the queue
-- would take several times as long. Also answers a failed try and a full queue. acquire-free precedes it; common and acquire describe
-- KEYS and ARGV.
--
-- QUEUED position fence ms-left | BUSY ms-left
local key, me, poll, patience = KEYS[1], ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local enqueue, most = ARGV[7] == '1', tonumber(ARGV[8])

local held = redis.pcall('HMGET', key, 'owner', 'ttl', 'until', 'fence', 'looked', 'queue', 'v')
local queue, from, to = held[6], nil, nil
if queue then
  from, to = string.find(queue, string.sub(cjson.encode({me}), 1, -2) .. ',', 1, true)
end
if queue and held[7] == FORMAT and held[1] and held[1] ~= me and from ~= 2 then -- 2 is the start of the first waiter
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  local now = math.floor(micros / 1000)
  local left, unlooked = (tonumber(held[3]) or 0) - now, now - (tonumber(held[5]) or 0)
  local settled = left > 0 and left <= math.min(tonumber(held[2]) or 0, 1e15) and (tonumber(held[4]) or micros) < micros
  if settled and unlooked >= 0 and unlooked < poll / 4 then
    local position, at = 1, string.find(queue, '],["', 1, true)
    while at and at < (from or #queue) do
      position, at = position + 1, string.find(queue, '],["', at + 1, true)
    end
    local left_ms, _, last, seen = string.format('%.0f', left), string.find(queue, '^%d+,(%d+)[],]', (to or 0) + 1)
    if from and seen and enqueue then
      local stay = string.format('%.0f', math.max(1000, left, patience))
      redis.call('PEXPIRE', key, stay) -- first: Redis allows it when out of memory, and then HSET, too
      local before, behind = string.sub(queue, 1, last - #seen - 1), string.sub(queue, last)
      redis.call('HSET', key, 'queue', before .. string.format('%.0f', now) .. behind)
      return 'QUEUED ' .. position .. ' ' .. held[4] .. ' ' .. left_ms
    elseif not from and (not enqueue or position >= most) then
      return 'BUSY ' .. left_ms
    end
  end
end
