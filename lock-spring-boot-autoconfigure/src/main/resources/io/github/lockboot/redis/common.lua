-- The state of one lock: read once, settled, changed in memory, written once.
--
-- A lock has holders, and a queue of waiters. Each has a kind: 0 exclusive, -1 shared, n limited to n. The first waiter is granted the
-- lock as soon as the holders are compatible with its kind, then the next.
--
-- The text is a JSON array. What is behind the last part that is not empty is left out; 0 or an empty text stands for none.
--
--   [format, "fence", [holder, ...], "token", looked, excused, [waiter, ...]]
--   holder: ["id", ttl ms, end of the lease ms, kind, "fence"]; an exclusive one without its fence, which is the lock's
--   waiter: ["id", ttl ms, last seen ms, kind], an exclusive one without its kind
local EXCLUSIVE, SHARED, MOST_PERMITS = 0, -1, 2 ^ 31 - 1
local LAST_TOKEN = 2 ^ 53 - TOKENS_PER_GRANT -- larger numbers are not exact; the clock reaches this one in 2255
local MOST_MS = 1e15

local function number_in(value, least, most)
  return type(value) == 'number' and value >= least and value <= most and value == math.floor(value) and value
end

local function fence_in(value, most)
  return type(value) == 'string' and string.find(value, '^%d+$') and number_in(tonumber(value), 1, most)
end

-- A list of which each entry is read by a function; nil if no script of locks wrote it.
local function read_list(list, read, fence)
  if type(list) ~= 'table' then
    return list == nil and {} or nil
  end
  for i, entry in ipairs(list) do
    list[i] = type(entry) == 'table' and type(entry[1]) == 'string' and read(entry, fence)
    if not list[i] then
      return nil
    end
  end
  return (list[1] or next(list) == nil) and list or nil -- not an object
end

local function read_waiter(entry)
  return number_in(entry[2], 1, MOST_MS) and number_in(entry[3], 0, MOST_MS)
    and (entry[4] == nil or number_in(entry[4], SHARED, MOST_PERMITS)) and entry[5] == nil and entry
end

local function read_holder(entry, fence)
  local holder = {id = entry[1], ttl = number_in(entry[2], 1, MOST_MS), expiry = number_in(entry[3], 0, 2 * MOST_MS)}
  holder.kind = number_in(entry[4], SHARED, MOST_PERMITS)
  if holder.kind == EXCLUSIVE then
    holder.fence = entry[5] == nil and fence
  else
    holder.fence = fence_in(entry[5], LAST_TOKEN)
  end
  return holder.ttl and holder.expiry and holder.kind and holder.fence and entry[6] == nil and holder
end

-- How many may hold the lock at a time as far as one of this kind is concerned.
local function most_with(kind)
  return kind == EXCLUSIVE and 1 or kind == SHARED and most_holders or math.min(kind, most_holders)
end

-- Whether a request of this kind is compatible with the holders: fewer hold the lock than the request and each holder allow.
local function admits(holders, kind)
  local count = #holders
  for _, holder in ipairs(holders) do
    if (holder.kind > 0) ~= (kind > 0) or count >= most_with(holder.kind) then
      return false
    end
  end
  return count < most_with(kind)
end

-- The lock as it is stored; nil if the text is no lock, or one of a newer format.
local function load()
  if not stored then
    return {format = FORMAT, fence = 0, holders = {}, queue = {}, looked = 0, excused = 0}
  end
  local state = string.find(stored, '^%[%d+,"%d+"') and select(2, pcall(cjson.decode, stored))
  local fence = type(state) == 'table' and not state[8] and fence_in(state[2], LAST_TOKEN)
  if not fence then
    return nil
  end
  local holders, queue, token = read_list(state[3], read_holder, fence), read_list(state[7], read_waiter), state[4] or ''
  for _, holder in ipairs(holders or {}) do
    if holder.kind == EXCLUSIVE and holders[2] or (holder.kind == SHARED) ~= (holders[1].kind == SHARED) then
      return nil
    end
  end
  local lock = {format = number_in(state[1], 1, tonumber(FORMAT)), fence = fence, holders = holders, queue = queue}
  lock.token = token ~= '' and fence_in(token, fence) or nil
  lock.looked, lock.excused = number_in(state[5] or 0, 0, MOST_MS), number_in(state[6] or 0, 0, MOST_MS)
  local whole = lock.format and holders and queue and lock.looked and lock.excused and (lock.token or token == '')
  return whole and (holders[1] or lock.token or not state[3]) and lock or nil
end

-- Besides the state it has flags for answer():
--   changed      the state differs from the stored one and must be written
--   hint         the first waiter has joined the queue, or has asked again, and the holders need a message
--   holder.push  this script granted the lock to a waiter, which does not read the reply and needs a message
local lock = load()

-- How long until the first lease ends.
local function ms_left()
  if not lock then
    return math.max(redis.call('PTTL', KEYS[1]), 0)
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
  if lock.excused > now then -- the clock was set back
    lock.excused, lock.changed = 0, true
  end
  if lock.looked > 0 and now - lock.looked > spare and newest > lock.excused then
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
  if now < lock.looked or now >= lock.looked + poll / 4 then
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

-- Writes a changed state, for as long as a lease runs, a waiter is to be known, or a token that was used is not in the past.
local function save()
  if not lock or not lock.changed then
    return
  end
  local first, waiting = lock.holders[1], #lock.queue > 0
  if not first and lock.fence < micros then
    redis.call('DEL', KEYS[1])
    return
  end
  local exclusive = first and first.kind == EXCLUSIVE
  local last_token = exclusive and lock.fence + TOKENS_PER_GRANT - 1 or lock.fence
  local stay, holders = math.max(math.ceil((last_token - micros) / 1000) + 1, waiting and patience or 0), {}
  for place, holder in ipairs(lock.holders) do
    local fence = exclusive and '' or ',"' .. text(holder.fence) .. '"'
    holders[place] = string.format(
      '[%s,%.0f,%.0f,%.0f%s]', cjson.encode(holder.id), holder.ttl, holder.expiry, holder.kind, fence)
    stay = math.max(stay, holder.expiry - now)
  end
  local token = lock.token and lock.token ~= lock.fence and text(lock.token) or ''
  local state = '[' .. lock.format .. ',"' .. text(lock.fence) .. '"'
  if first or token ~= '' then
    state = state .. ',[' .. table.concat(holders, ',') .. ']'
  end
  if waiting or token ~= '' then
    state = state .. ',"' .. token .. '"'
  end
  if waiting then
    state = state .. ',' .. text(lock.looked) .. ',' .. text(lock.excused) .. ',' .. cjson.encode(lock.queue)
  end
  put(state .. ']', stay)
end

-- The fencing token of a holder.
local function token_of(holder)
  return holder.kind == SHARED and (lock.token or lock.fence) or holder.fence
end

-- <id> <fence> <lease ms> <waiters> <token> <key>; with a fence of 0 it is a hint.
local function message(id, fence, lease, token)
  return table.concat({id, text(fence), text(lease), text(#lock.queue), text(token), KEYS[1]}, ' ')
end

-- Sends a message to the process with this id.
local function notify(id, fence, lease, token)
  redis.pcall('PUBLISH', channels .. (string.match(id, '^(.*)-') or id), message(id, fence, lease, token))
end

-- Ends a script: writes the state, publishes, and returns the reply, a status word and numbers on one line. Redis would need longer
-- for a table than for most scripts.
local function answer(...)
  save()
  for _, holder in ipairs(lock and lock.holders or {}) do
    if holder.push then
      notify(holder.id, holder.fence, holder.expiry - now, token_of(holder))
    elseif lock.hint then
      notify(holder.id, 0, 0, 0)
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
