-- The usual case of a poll: another holds the lock, I am queued behind others, and somebody went through the queue a moment ago.
-- Then there is nothing to settle, and that I was seen is written into the queue's text: taking it apart would take Redis several
-- times as long. A try in vain and a full queue are answered here, too. Preceded by acquire-free; common follows. KEYS and ARGV:
-- see common and acquire.
local held = redis.pcall('HMGET', KEYS[1], 'owner', 'ttl', 'until', 'fence', 'looked', 'queue')
local queue, from, to = held[6], nil, nil
if queue then
  from, to = string.find(queue, string.sub(cjson.encode({ARGV[1]}), 1, -2) .. ',', 1, true)
end
if queue and held[1] and held[1] ~= ARGV[1] and from ~= 2 then -- where the first waiter begins
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  local now = math.floor(micros / 1000)
  local left, unlooked = (tonumber(held[3]) or 0) - now, now - (tonumber(held[5]) or 0)
  local settled = left > 0 and left <= math.min(tonumber(held[2]) or 0, 1e15) and (tonumber(held[4]) or micros) < micros
  if settled and unlooked >= 0 and unlooked < ARGV[3] / 4 then
    local position, at = 1, string.find(queue, '],["', 1, true)
    while at and at < (from or #queue) do
      position, at = position + 1, string.find(queue, '],["', at + 1, true)
    end
    local left_ms, _, last, seen = string.format('%.0f', left), string.find(queue, '^%d+,(%d+)%]', (to or 0) + 1)
    if from and seen and ARGV[6] == '1' then
      local stay = string.format('%.0f', math.max(1000, left, tonumber(ARGV[4])))
      redis.call('PEXPIRE', KEYS[1], stay) -- first: Redis allows it when it is out of memory, and then the other one, too
      local before, behind = string.sub(queue, 1, last - #seen - 1), string.sub(queue, last)
      redis.call('HSET', KEYS[1], 'queue', before .. string.format('%.0f', now) .. behind)
      return 'QUEUED ' .. position .. ' ' .. held[4] .. ' ' .. left_ms
    elseif not from and (ARGV[6] == '0' or position >= tonumber(ARGV[7])) then
      return 'BUSY ' .. left_ms
    end
  end
end
