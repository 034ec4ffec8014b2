-- Reads the settings of the registry and the time in ms; writes the text that is stored, and messages.
local poll, patience, most_waiters, most_holders, channels = string.match(ARGV[2], '^(%d+) (%d+) (%d+) (%d+) (.*)$')
poll, patience, most_waiters, most_holders = tonumber(poll), tonumber(patience), tonumber(most_waiters), tonumber(most_holders)
local now = math.floor(micros / 1000)

local function text(number)
  return string.format('%.0f', number) -- '..' would round from 1e14 on
end

-- Redis allows PEXPIRE when it is out of memory, and then the other writes of the script, too. A new lock is refused.
local function put(state, stay)
  if redis.pcall('SET', KEYS[1], state, 'PX', text(stay)).err then
    if stored then
      redis.call('PEXPIRE', KEYS[1], text(stay))
    end
    redis.call('SET', KEYS[1], state, 'PX', text(stay))
  end
end

-- Sends <id> <grant number> <lease ms> <waiters> <token> <key> to the process with this id; with a grant number of 0 it is a hint.
local function notify(id, grant_number, lease, waiters, token)
  local message = table.concat({id, text(grant_number), text(lease), text(waiters), text(token), KEYS[1]}, ' ')
  redis.pcall('PUBLISH', channels .. (string.match(id, '^(.*)-') or id), message)
end
