-- The usual case of unlock while others wait: the caller holds the lock exclusively, the first waiter wants it so, too, and a script looked
-- at the queue a moment ago. Then there is nothing to settle. The first waiter is cut from the text of the queue, and the next id is put
-- behind it; parsing the queue would take longer than all the rest. unlock-last precedes it; common and unlock describe KEYS and ARGV.
--
-- HANDED_OVER | QUEUED position fence ms-left
local held = redis.pcall('HMGET', key, 'owner', 'ttl', 'until', 'fence', 'looked', 'queue', 'v')
local first, ttl, seen, more = string.match(held[6] or '', '^%[%["([^"\\]+)",(%d+),(%d+)%](,?)')
if first and held[1] == me and held[7] == FORMAT and not string.find(held[6], '["' .. next_id .. '"', 1, true) then
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  local now, poll, patience = math.floor(micros / 1000), tonumber(ARGV[3]), tonumber(ARGV[4])
  local left, unlooked, unseen = (tonumber(held[3]) or 0) - now, now - (tonumber(held[5]) or 0), now - seen
  local settled = left > 0 and left <= (tonumber(held[2]) or 0) and math.max(tonumber(held[4]) or micros, last) < micros
  if settled and unlooked >= 0 and unlooked < poll / 4 and unseen >= 0 and unseen < patience then
    local others = string.sub(held[6], #first + #ttl + #seen + #more + 8, -2)
    local waiters, at = #more, string.find(others, ',["', 1, true)
    while at do
      waiters, at = waiters + 1, string.find(others, ',["', at + 3, true)
    end
    if next_id ~= '' then
      local next_ttl, kind = tonumber(ARGV[7]), tonumber(ARGV[8])
      waiters, others = waiters + 1, others .. more .. cjson.encode({next_id, next_ttl, now, kind ~= 0 and kind or nil})
    end
    local fence, lease = string.format('%.0f', micros), math.min(ttl, CLAIM_LEASE)
    local expiry, stay = string.format('%.0f', now + lease), math.max(1000, lease, waiters > 0 and patience or 0)
    redis.call('PEXPIRE', key, stay) -- first, as in save()
    local set = {'owner', first, 'ttl', ttl, 'until', expiry, 'fence', fence, 'queue', '[' .. others .. ']'}
    redis.call('HSET', key, unpack(set, 1, waiters > 0 and 10 or 8))
    if waiters == 0 then
      redis.call('HDEL', key, 'queue', 'looked', 'excused')
    end
    local session = string.match(first, '^(.*)-') or first
    redis.pcall('PUBLISH', ARGV[2] .. session, table.concat({first, fence, lease, waiters, fence, key}, ' '))
    return number .. (next_id == '' and ' HANDED_OVER' or ' QUEUED ' .. waiters .. ' ' .. fence .. ' ' .. lease)
  end
end
