-- The state of one lock: read once, settled, changed in memory, written once. Each script on locks begins with this part, behind the
-- part for its usual cases, and describes its replies and its ARGV from 5 on.
--
-- KEYS[1]  the lock
-- ARGV[1]  the caller's acquisition id, <session>-<sequence>.<nonce>
-- ARGV[2]  the prefix of channels; a session follows
-- ARGV[3]  how often a waiter asks, ms
-- ARGV[4]  how long a waiter may not ask before it is dropped, ms
-- ARGV[#ARGV]  the number of the command, with which the reply begins
--
-- LuaScript defines two constants before this part. CLAIM_LEASE is the longest lease, ms, of a grant by a message; the first renewal
-- extends it to the whole ttl. TOKENS_PER_GRANT is the number of tokens that a holder may use, including the first.
local key, me, channels, poll, patience = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local LAST_TOKEN = 2 ^ 53 - TOKENS_PER_GRANT -- larger numbers are not exact; the clock reaches this one in 2255
local LEAST_STAY = 1000 -- ms; after a shorter PEXPIRE the key may expire before HSET, which would create it without a ttl
local MOST_MS = 1e15
local FIELDS = {'fence', 'owner', 'ttl', 'until', 'queue', 'looked', 'excused'}

local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)

local function text(number)
  return string.format('%.0f', number) -- '..' would round from 1e14 on
end

local function number_in(value, least, most)
  local number = tonumber(value)
  return number and number >= least and number <= most and number == math.floor(number) and number
end

-- {{id, ttl ms, last seen ms}, ...} in order of arrival; nil if no script of locks wrote it.
local function parse_queue(packed)
  if not packed then
    return {}
  end
  local ok, queue = pcall(cjson.decode, packed)
  if not ok or type(queue) ~= 'table' then
    return nil
  end
  for _, waiter in ipairs(queue) do
    if type(waiter) ~= 'table' or type(waiter[1]) ~= 'string' then
      return nil
    end
    waiter[2], waiter[3] = number_in(waiter[2], 1, MOST_MS), number_in(waiter[3], 0, MOST_MS)
    if not waiter[2] or not waiter[3] then
      return nil
    end
  end
  return queue
end

-- The lock as it is stored; nil if the key is not a lock: it has another type, or is a hash with unknown or missing fields.
local function load()
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then
    return {fence = 0, queue = {}}
  elseif kind ~= 'hash' then
    return nil
  end
  local values, stored, ours = redis.call('HMGET', key, unpack(FIELDS)), {}, 0
  for i, field in ipairs(FIELDS) do
    if values[i] then
      stored[field], ours = values[i], ours + 1
    end
  end
  if ours < redis.call('HLEN', key) then
    return nil
  end
  local lock = {stored = stored, fence = number_in(stored.fence, 0, LAST_TOKEN), queue = parse_queue(stored.queue)}
  lock.looked, lock.excused = number_in(stored.looked, 0, MOST_MS), number_in(stored.excused, 0, MOST_MS)
  if stored.owner then
    lock.owner, lock.ttl, lock.expiry = stored.owner, number_in(stored.ttl, 1, MOST_MS), number_in(stored['until'], 0, 2 * MOST_MS)
  end
  local whole = lock.fence and lock.queue and (not lock.owner or (lock.ttl and lock.expiry))
  return whole and lock or nil
end

-- Besides the state it has three flags for answer():
--   changed  the state differs from the stored one and must be written
--   push     this script granted the lock to a waiter, which does not read the reply and needs a message
--   hint     the first waiter has joined the queue, and the owner needs a message
local lock = load()

local function ms_left()
  if not lock then
    return math.max(redis.call('PTTL', key), 0)
  end
  return lock.owner and lock.expiry - now or 0
end

local function position_of(id)
  for position, waiter in ipairs(lock.queue) do
    if waiter[1] == id then
      return position
    end
  end
end

-- Queues the id, or marks it as seen if it is queued; returns its position.
local function join(id, ttl)
  local position = position_of(id) or #lock.queue + 1
  local waiter = lock.queue[position] or {id, ttl}
  waiter[3] = now
  lock.queue[position], lock.changed = waiter, true
  return position
end

local function own(id, ttl, lease)
  lock.owner, lock.ttl, lock.expiry, lock.fence = id, ttl, now + lease, math.max(lock.fence + 1, micros)
  lock.changed = true -- the grant is new
end

-- Grants the lock to the first waiter. The reader gets its grant by the reply of this script, with the whole ttl; any other waiter
-- gets a message.
local function grant_next(reader)
  local waiter = table.remove(lock.queue, 1)
  if waiter then
    local id, ttl = waiter[1], waiter[2]
    own(id, ttl, id == reader and ttl or math.min(ttl, CLAIM_LEASE))
    lock.push = id ~= reader
  end
end

-- Ends the hold: the first waiter, if any, gets the lock.
local function release(reader)
  lock.owner, lock.push, lock.changed = nil, false, true -- push was for the previous owner
  grant_next(reader)
end

-- Marks the reader as seen now, and drops each waiter that was not seen for the whole patience.
--
-- If the last look was so long ago that a live waiter may seem dead, Redis may have been down. Then no waiter is dropped, and each
-- keeps at least the time in which a live one asks. This is not repeated before one of them was seen: where calls are rare, dead
-- waiters would never be dropped.
local function look(reader)
  local newest, oldest = -1, 0
  local spare = patience - math.floor(1.25 * poll) -- a live waiter asks at every poll; a quarter is for delays
  for _, waiter in ipairs(lock.queue) do
    if waiter[3] > now then -- the clock was set back
      waiter[3], lock.changed = now - poll, true
    end
    newest = math.max(newest, waiter[3])
  end
  if lock.excused and lock.excused > now then -- the clock was set back
    lock.excused, lock.changed = nil, true
  end
  if lock.looked and now - lock.looked > spare and newest > (lock.excused or -1) then
    oldest = now - spare
    lock.excused, lock.changed = math.max(newest, oldest), true
  end
  local live = {}
  for _, waiter in ipairs(lock.queue) do
    local seen = waiter[1] == reader and now or math.max(waiter[3], oldest)
    if now - seen < patience then
      live[#live + 1] = waiter
    end
    lock.changed, waiter[3] = lock.changed or seen ~= waiter[3], seen
  end
  lock.queue, lock.changed = live, lock.changed or #live < #lock.queue
  if not lock.looked or now < lock.looked or now >= lock.looked + poll / 4 then
    lock.looked, lock.changed = now, lock.changed or #live > 0
  end
end

-- Brings the state up to date: drops dead waiters, corrects clock steps, ends an expired lease, grants a free lock. The reader is the
-- id that gets its grant by the reply; nil if the script does not ask for the lock.
local function settle(reader)
  if not lock then
    return
  end
  look(reader)
  if lock.owner and lock.expiry > now + lock.ttl then
    lock.expiry, lock.changed = now + lock.ttl, true
  end
  if lock.owner and lock.expiry <= now then
    lock.fence = lock.fence + TOKENS_PER_GRANT - 1 -- its holder may have used them all
    release(reader)
  elseif not lock.owner then
    grant_next(reader)
  end
end

-- Writes a changed state. The first write on an existing key is PEXPIRE: Redis allows it when out of memory, and then allows the
-- other writes of the script, too.
local function save()
  if not lock or not lock.changed then
    return
  end
  local waiting = #lock.queue > 0
  local last_token = lock.owner and lock.fence + TOKENS_PER_GRANT - 1 or lock.fence -- the newest that may have been used
  if not lock.owner and not waiting and lock.fence < micros then
    redis.call('DEL', key)
    return
  end
  local stay = math.max(
    LEAST_STAY,
    math.ceil((last_token - micros) / 1000) + 1,
    lock.owner and lock.expiry - now or 0,
    waiting and patience or 0
  )
  if lock.stored then
    redis.call('PEXPIRE', key, text(stay))
  end
  local set, unset, state = {}, {}, {fence = text(lock.fence)}
  if lock.owner then
    state.owner, state.ttl, state['until'] = lock.owner, text(lock.ttl), text(lock.expiry)
  end
  if waiting then
    state.queue, state.looked, state.excused = cjson.encode(lock.queue), text(lock.looked), lock.excused and text(lock.excused)
  end
  for _, field in ipairs(FIELDS) do
    if state[field] then
      set[#set + 1] = field
      set[#set + 1] = state[field]
    elseif lock.stored and lock.stored[field] then
      unset[#unset + 1] = field
    end
  end
  redis.call('HSET', key, unpack(set))
  if #unset > 0 then
    redis.call('HDEL', key, unpack(unset))
  end
  if not lock.stored and type(redis.pcall('PEXPIRE', key, text(stay))) == 'table' then
    redis.call('DEL', key) -- the user has no right to PEXPIRE, and the key must not stay without a ttl
    redis.call('PEXPIRE', key, text(stay)) -- ends the script with the same error
  end
end

-- <id> <fence> <lease ms> <waiters> <token> <key>; with a fence of 0 it is a hint that others wait.
local function message(id, fence, lease)
  return table.concat({id, text(fence), text(lease), text(#lock.queue), text(fence), key}, ' ')
end

-- Ends a script: writes the state, publishes, and returns the reply, a status word and numbers on one line. Redis would need longer
-- for a table than for most scripts.
local function answer(...)
  save()
  if lock and lock.owner and (lock.push or lock.hint) then
    local session = string.match(lock.owner, '^(.*)-') or lock.owner
    local fence, lease = lock.push and lock.fence or 0, lock.push and lock.expiry - now or 0
    redis.pcall('PUBLISH', channels .. session, message(lock.owner, fence, lease))
  end
  local words = {...}
  for i, word in ipairs(words) do
    words[i] = type(word) == 'number' and text(word) or word
  end
  return table.concat(words, ' ')
end

-- Ends a script that asks for the lock with this id: OWNER or QUEUED.
local function answer_to(id)
  if lock.owner == id then
    return answer('OWNER', lock.fence, lock.expiry - now, #lock.queue)
  end
  return answer('QUEUED', position_of(id), lock.fence, ms_left())
end
