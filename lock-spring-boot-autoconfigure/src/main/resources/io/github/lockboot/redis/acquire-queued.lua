-- The usual case of a poll: another id holds the lock exclusively, the caller is not the first waiter, and a script looked at the queue a
-- moment ago. Then there is nothing to settle. The caller's time of last seen is replaced in the text; parsing it would take several times
-- as long. Also answers a failed try and a full queue. acquire-free precedes it; begin and acquire describe KEYS and ARGV.
--
-- QUEUED position fence ms-left | BUSY ms-left
local format, fence, owner, held, expiry, looked, queue = string.match(
  stored or '', '^%[(%d+),"(%d+)",%[%["([^"\\]+)",(%d+),(%d+),0%]%],"",(%d+),%d+,()%[%["')
if format == FORMAT and owner ~= me then
  local left, unlooked = expiry - now, now - looked
  local settled = left > 0 and left <= math.min(held, 1e14) and tonumber(fence) < micros
  local from, to = string.find(stored, '["' .. me .. '",', queue, true)
  if settled and unlooked >= 0 and unlooked < poll / 4 and from ~= queue + 1 then -- there the first waiter begins
    local position, at = 1, string.find(stored, '],["', queue, true)
    while at and at < (from or #stored) do
      position, at = position + 1, string.find(stored, '],["', at + 1, true)
    end
    local enqueue = ARGV[5] == '1'
    local _, last, seen = string.find(stored, '^%d+,(%d+)[],]', (to or 0) + 1)
    if from and seen and enqueue then
      local before, behind = string.sub(stored, 1, last - #seen - 1), string.sub(stored, last)
      put(before .. now .. behind, math.max(left, patience))
      return 'QUEUED ' .. position .. ' ' .. fence .. ' ' .. left
    elseif not from and (not enqueue or position >= most_waiters) then
      return 'BUSY ' .. left
    end
  end
end
