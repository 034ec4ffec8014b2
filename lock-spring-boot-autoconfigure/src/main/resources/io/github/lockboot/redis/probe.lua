-- Tries every command that the scripts use, on a key of its own, and leaves nothing there. Nothing precedes it.
--
-- KEYS[1]  a key that does not exist
-- ARGV[1]  a channel without subscribers
--
-- {command, error, ...} for the commands that failed
local key, channel = KEYS[1], ARGV[1]
local failed = {}

local function works(command, ...)
  local reply = redis.pcall(command, ...)
  local failure = type(reply) == 'table' and reply.err
  if failure then
    failed[#failed + 1] = string.lower(command)
    failed[#failed + 1] = failure
  end
  return not failure
end

works('TIME')
works('EXISTS', key)
works('TYPE', key)
works('HGET', key, 'field')
works('HMGET', key, 'field')
works('HLEN', key)
works('PTTL', key)
works('PUBLISH', channel, '')
local expires, deletes = works('PEXPIRE', key, '1000'), works('DEL', key)
local empties = works('HDEL', key, 'field')
if expires or deletes or empties then
  if works('HSET', key, 'field', 'value') and expires then
    redis.call('PEXPIRE', key, '1000')
  end
  if deletes then
    redis.call('DEL', key)
  elseif empties then
    redis.call('HDEL', key, 'field')
  end
end
return failed
