-- The state of one lock: read once, settled, changed in memory, written once. Each script on locks begins with this part, behind the
-- part for its usual cases, and describes its replies and its ARGV from 5 on.
--
-- A lock has holders, and a queue of waiters. Each has a kind: 0 exclusive, -1 shared, n limited to n. The first waiter is granted the
-- lock as soon as the holders are compatible with its kind, then the next.
--
-- KEYS[1]  the lock
-- ARGV[1]  the caller's acquisition id, <session>-<sequence>.<nonce>
-- ARGV[2]  the prefix of channels; a session follows
-- ARGV[3]  how often a waiter asks, ms
-- ARGV[4]  how long a waiter may not ask before it is dropped, ms
-- ARGV[#ARGV]  the number of the command, with which the reply begins
--
-- LuaScript defines four constants before. FORMAT is the number of the format that is stored: a key with a newer one is a stranger's, and
-- a key with an older one keeps it. CLAIM_LEASE is the longest lease, ms, of a grant by a message; the first renewal extends it to the
-- whole ttl. TOKENS_PER_GRANT and TOKENS_PER_PERMIT are the number of tokens that an exclusive and a limited holder may use, including the
-- first.
local key, me, channels, poll, patience = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local EXCLUSIVE, SHARED, MOST_PERMITS = 0, -1, 2 ^ 31 - 1
local LAST_TOKEN = 2 ^ 53 - TOKENS_PER_GRANT -- larger numbers are not exact; the clock reaches this one in 2255
local LEAST_STAY = 1000 -- ms; after a shorter PEXPIRE the key may expire before HSET, which would create it without a ttl
local MOST_MS = 1e15
local FIELDS = {'v', 'fence', 'owner', 'ttl', 'until', 'holders', 'token', 'queue', 'looked', 'excused'}

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

-- A stored list, each entry read by a function; nil if no script of locks wrote it.
local function parse(packed, read)
  if not packed then
    return {}
  end
  local ok, list = pcall(cjson.decode, packed)
  if not ok or type(list) ~= 'table' then
    return nil
  end
  for i, entry in ipairs(list) do
    list[i] = type(entry) == 'table' and type(entry[1]) == 'string' and read(entry)
    if not list[i] then
      return nil
    end
  end
  return list
end

-- {id, ttl ms, last seen ms, kind unless it is exclusive}
local function read_waiter(entry)
  entry[2], entry[3] = number_in(entry[2], 1, MOST_MS), number_in(entry[3], 0, MOST_MS)
  return entry[2] and entry[3] and (entry[4] == nil or number_in(entry[4], SHARED, MOST_PERMITS)) and entry
end

-- {id, ttl ms, end of the lease ms, kind, fence}
local function read_holder(entry)
  local holder = {id = entry[1], ttl = number_in(entry[2], 1, MOST_MS), expiry = number_in(entry[3], 0, 2 * MOST_MS)}
  holder.kind, holder.fence = number_in(entry[4], SHARED, MOST_PERMITS), number_in(entry[5], 0, LAST_TOKEN)
  return holder.ttl and holder.expiry and holder.kind and holder.fence and holder
end

-- Whether a request of this kind is compatible with the holders.
local function admits(holders, kind)
  local other = holders[1] and holders[1].kind
  return not other or (kind == SHARED and other == SHARED) or (kind > 0 and other > 0 and #holders < kind)
end

-- An exclusive holder is stored in fields of its own, all others in a list.
local function parse_holders(stored, fence)
  if stored.owner then
    local ttl, expiry = number_in(stored.ttl, 1, MOST_MS), number_in(stored['until'], 0, 2 * MOST_MS)
    local owner = {id = stored.owner, ttl = ttl, expiry = expiry, kind = EXCLUSIVE, fence = fence}
    return ttl and expiry and not stored.holders and {owner}
  end
  local holders = parse(stored.holders, read_holder)
  for _, holder in ipairs(holders or {}) do
    if holder.kind == EXCLUSIVE or (holder.kind == SHARED) ~= (holders[1].kind == SHARED) then
      return nil
    end
  end
  return holders and (holders[1] or not stored.holders) and holders
end

-- The lock as it is stored; nil if the key is not a lock: it has another type, or is a hash with unknown or missing
-- fields, or of a newer format.
local function load()
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then
    return {format = tonumber(FORMAT), fence = 0, holders = {}, queue = {}}
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
  local lock = {stored = stored, fence = number_in(stored.fence, 0, LAST_TOKEN), queue = parse(stored.queue, read_waiter)}
  lock.format = number_in(stored.v, 1, tonumber(FORMAT))
  lock.holders, lock.token = parse_holders(stored, lock.fence), number_in(stored.token, 0, lock.fence or 0)
  lock.looked, lock.excused = number_in(stored.looked, 0, MOST_MS), number_in(stored.excused, 0, MOST_MS)
  return lock.format and lock.fence and lock.holders and lock.queue and (lock.token or not stored.token) and lock or nil
end

-- Besides the state it has flags for answer():
--   changed      the state differs from the stored one and must be written
--   hint         the first waiter has joined the queue, or has asked again, and the holders need a message
--   holder.push  this script granted the lock to a waiter, which does not read the reply and needs a message
local lock = load()

-- How long until the first lease ends.
local function ms_left()
  if not lock then
    return math.max(redis.call('PTTL', key), 0)
  end
  local left
  for _, holder in ipairs(lock.holders) do
    left = math.min(left or holder.expiry - now, holder.expiry - now)
  end
  return left or 0
end

-- The holder with this id, nil also if the key is not a lock, and its place.
local function holder_of(id)
  for place, holder in ipairs(lock and lock.holders or {}) do
    if holder.id == id then
      return holder, place
    end
  end
end

local function position_of(id)
  for position, waiter in ipairs(lock.queue) do
    if waiter[1] == id then
      return position
    end
  end
end

-- Queues the id, or marks it as seen if it is queued.
local function join(id, ttl, kind)
  local position = position_of(id) or #lock.queue + 1
  local waiter = lock.queue[position] or {id, ttl, now, kind ~= EXCLUSIVE and kind or nil}
  waiter[3] = now
  lock.queue[position], lock.changed = waiter, true
end

-- Adds a holder. The token of a shared one is the newest that others may have used before; it is kept while it is not the fence.
local function grant(id, ttl, kind, lease)
  local fence = math.max(lock.fence + 1, micros)
  lock.token = kind == SHARED and (lock.token or (lock.fence > 0 and lock.fence or fence)) or nil
  lock.fence = kind > 0 and fence + TOKENS_PER_PERMIT - 1 or fence
  local holder = {id = id, ttl = ttl, expiry = now + lease, kind = kind, fence = fence}
  lock.holders[#lock.holders + 1], lock.changed = holder, true
  return holder
end

-- Grants the lock to the first waiters, as many as the holders admit; returns how many. The reader gets its grant by the reply of this
-- script, with the whole ttl; any other waiter gets a message.
local function admit(reader)
  local granted, waiter = 0, lock.queue[1]
  while waiter and admits(lock.holders, waiter[4] or EXCLUSIVE) do
    local id, ttl, kind = waiter[1], waiter[2], waiter[4] or EXCLUSIVE
    grant(id, ttl, kind, id == reader and ttl or math.min(ttl, CLAIM_LEASE)).push = id ~= reader
    table.remove(lock.queue, 1)
    granted, waiter = granted + 1, lock.queue[1]
  end
  return granted
end

-- Ends a hold; returns how many waiters are granted the lock.
local function release(place, reader)
  table.remove(lock.holders, place)
  lock.changed = true
  return admit(reader)
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

-- Brings the state up to date: drops dead waiters, corrects clock steps, ends expired leases, grants what is free. The reader is the id
-- that gets its grant by the reply; nil if the script does not ask for the lock.
local function settle(reader)
  if not lock then
    return
  end
  look(reader)
  local live = {}
  for _, holder in ipairs(lock.holders) do
    if holder.expiry > now + holder.ttl then
      holder.expiry, lock.changed = now + holder.ttl, true
    end
    if holder.expiry > now then
      live[#live + 1] = holder
    elseif holder.kind == EXCLUSIVE then
      lock.fence = lock.fence + TOKENS_PER_GRANT - 1 -- it may have used them all
    end
  end
  lock.holders, lock.changed = live, lock.changed or #live < #lock.holders
  admit(reader)
end

-- Writes a changed state. The first write on an existing key is PEXPIRE: Redis allows it when out of memory, and then allows the
-- other writes of the script, too.
local function save()
  if not lock or not lock.changed then
    return
  end
  local waiting, first = #lock.queue > 0, lock.holders[1]
  local owner = first and first.kind == EXCLUSIVE and first
  local last_token = owner and lock.fence + TOKENS_PER_GRANT - 1 or lock.fence -- the newest that may have been used
  if not first and not waiting and lock.fence < micros then
    redis.call('DEL', key)
    return
  end
  local stay = math.max(LEAST_STAY, math.ceil((last_token - micros) / 1000) + 1, waiting and patience or 0)
  local packed = {}
  for place, holder in ipairs(lock.holders) do
    stay = math.max(stay, holder.expiry - now)
    packed[place] = not owner and {holder.id, holder.ttl, holder.expiry, holder.kind, text(holder.fence)}
  end
  if lock.stored then
    redis.call('PEXPIRE', key, text(stay))
  end
  local set, unset, state = {}, {}, {v = text(lock.format), fence = text(lock.fence)}
  if owner then
    state.owner, state.ttl, state['until'] = owner.id, text(owner.ttl), text(owner.expiry)
  elseif first then
    state.holders = cjson.encode(packed)
  end
  state.token = lock.token and lock.token ~= lock.fence and text(lock.token)
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

-- The fencing token of a holder.
local function token_of(holder)
  return holder.kind == SHARED and (lock.token or lock.fence) or holder.fence
end

-- <id> <fence> <lease ms> <waiters> <token> <key>; with a fence of 0 it is a hint that others wait.
local function message(id, fence, lease, token)
  return table.concat({id, text(fence), text(lease), text(#lock.queue), text(token), key}, ' ')
end

-- Ends a script: writes the state, publishes, and returns the reply, a status word and numbers on one line. Redis would need longer
-- for a table than for most scripts.
local function answer(...)
  save()
  for _, holder in ipairs(lock and lock.holders or {}) do
    if holder.push or lock.hint then
      local session, fence, lease, token = string.match(holder.id, '^(.*)-') or holder.id, 0, 0, 0
      if holder.push then
        fence, lease, token = holder.fence, holder.expiry - now, token_of(holder)
      end
      redis.pcall('PUBLISH', channels .. session, message(holder.id, fence, lease, token))
    end
  end
  local words = {...}
  for i, word in ipairs(words) do
    words[i] = type(word) == 'number' and text(word) or word
  end
  return table.concat(words, ' ')
end

-- Ends a script that asks for the lock with this id: OWNER or QUEUED.
local function answer_to(id)
  local holder = holder_of(id)
  if holder then
    local token = token_of(holder)
    return answer('OWNER', holder.fence, holder.expiry - now, #lock.queue, token ~= holder.fence and token or nil)
  end
  local position = position_of(id)
  lock.hint = position == 1
  return answer('QUEUED', position, lock.fence, ms_left())
end
