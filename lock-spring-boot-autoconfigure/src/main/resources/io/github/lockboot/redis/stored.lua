-- Reads the text that is stored: false if there is no such key.
local stored = redis.pcall('GET', KEYS[1])
if type(stored) == 'table' then
  if not string.find(stored.err, 'WRONGTYPE', 1, true) then
    return stored
  end
  stored = '' -- of another type, and so a stranger's, as any text that is not ours
end
local micros = time[1] * 1000000 + time[2]
