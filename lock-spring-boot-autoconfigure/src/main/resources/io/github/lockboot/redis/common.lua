-- The state of one lock: read once, brought up to date, changed in memory, written once.
--
-- A lock has holders, and a queue of waiters. Each has a kind: 0 exclusive, -1 shared, n limited to n. The first waiter is granted the
-- lock as soon as the holders are compatible with its kind, then the next.
--
-- The text is a JSON array. Empty parts at its end are left out; 0 or an empty text means none.
--
--   [format, "grant number", [holder, ...], "token", swept, grace, [waiter, ...]]
--   holder: ["id", ttl ms, end of the lease ms, kind, "grant number"]; an exclusive one without its number, which is the lock's
--   waiter: ["id", ttl ms, last seen ms, kind], an exclusive one without its kind
--
-- The number of the lock is that of its newest grant.
local EXCLUSIVE, SHARED, MOST_PERMITS = 0, -1, 2 ^ 31 - 1
local LAST_TOKEN = 2 ^ 53 - TOKENS_PER_GRANT -- larger numbers are not exact; the clock reaches this one in 2255
local MOST_MS = 1e15

local function number_in(value, least, most)
  return type(value) == 'number' and value >= least and value <= most and value == math.floor(value) and value
end

local function grant_number_in(value, most)
  return type(value) == 'string' and string.find(value, '^%d+$') and number_in(tonumber(value), 1, most)
end

-- A list of which each entry is read by a function; nil if no script of locks wrote it.
local function read_list(list, read, grant_number)
  if type(list) ~= 'table' then
    return list == nil and {} or nil
  end
  for i, entry in ipairs(list) do
    list[i] = type(entry) == 'table' and type(entry[1]) == 'string' and read(entry, grant_number)
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

local function read_holder(entry, grant_number)
  local holder = {id = entry[1], ttl = number_in(entry[2], 1, MOST_MS), expiry = number_in(entry[3], 0, 2 * MOST_MS)}
  holder.kind = number_in(entry[4], SHARED, MOST_PERMITS)
  if holder.kind == EXCLUSIVE then
    holder.grant_number = entry[5] == nil and grant_number
  else
    holder.grant_number = grant_number_in(entry[5], LAST_TOKEN)
  end
  return holder.ttl and holder.expiry and holder.kind and holder.grant_number and entry[6] == nil and holder
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
    return {format = FORMAT, grant_number = 0, holders = {}, queue = {}, swept = 0, grace = 0}
  end
  local state = string.find(stored, '^%[%d+,"%d+"') and select(2, pcall(cjson.decode, stored))
  local grant_number = type(state) == 'table' and not state[8] and grant_number_in(state[2], LAST_TOKEN)
  if not grant_number then
    return nil
  end
  local format = number_in(state[1], 1, tonumber(FORMAT))
  local holders, queue = read_list(state[3], read_holder, grant_number), read_list(state[7], read_waiter)
  local swept, grace = number_in(state[5] or 0, 0, MOST_MS), number_in(state[6] or 0, 0, MOST_MS)
  if not (format and holders and queue and swept and grace) then
    return nil
  end
  for _, holder in ipairs(holders) do
    if holder.kind == EXCLUSIVE and holders[2] or (holder.kind == SHARED) ~= (holders[1].kind == SHARED) then
      return nil
    end
  end
  local token = state[4] ~= '' and state[4] or nil
  if token and not grant_number_in(token, grant_number) then
    return nil
  end
  if state[3] and not holders[1] and not token then
    return nil -- without holders and token, scripts leave the list out
  end
  return {
    format = format, grant_number = grant_number, holders = holders, token = token and tonumber(token),
    swept = swept, grace = grace, queue = queue
  }
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

-- Adds a holder. The token of a shared one is the newest that others may have used before; it is kept while it is not the grant number.
local function grant(id, ttl, kind, lease)
  local number = math.max(lock.grant_number + 1, micros)
  lock.token = kind == SHARED and (lock.token or (lock.grant_number > 0 and lock.grant_number or number)) or nil
  lock.grant_number = kind > 0 and number + TOKENS_PER_PERMIT - 1 or number
  local holder = {id = id, ttl = ttl, expiry = now + lease, kind = kind, grant_number = number}
  lock.holders[#lock.holders + 1], lock.changed = holder, true
  return holder
end

-- Grants the lock to the first waiters, as many as the holders admit; returns how many. The asker, the id that reads the reply of this
-- script, gets its grant by that reply, with the whole ttl; any other waiter gets a message.
local function admit(asker)
  local granted, waiter = 0, lock.queue[1]
  while waiter and admits(lock.holders, waiter[4] or EXCLUSIVE) do
    local id, ttl, kind = waiter[1], waiter[2], waiter[4] or EXCLUSIVE
    grant(id, ttl, kind, id == asker and ttl or math.min(ttl, CLAIM_LEASE)).push = id ~= asker
    table.remove(lock.queue, 1)
    granted, waiter = granted + 1, lock.queue[1]
  end
  return granted
end

-- Ends a hold; returns how many waiters are granted the lock.
local function release(place, asker)
  table.remove(lock.holders, place)
  lock.changed = true
  return admit(asker)
end

-- Marks the asker as seen now, and drops each waiter that was not seen for the whole patience.
--
-- If the last sweep was so long ago that a live waiter may seem dead, Redis may have been down. Then all waiters get a grace period: none is
-- dropped, and each keeps at least the time in which a live one asks. There is no further grace before one of them was seen: otherwise dead
-- waiters would never be dropped where calls are rare.
local function sweep(asker)
  local newest, oldest = -1, 0
  local spare = patience - math.floor(1.25 * poll) -- a live waiter asks at every poll; a quarter is for delays
  for _, waiter in ipairs(lock.queue) do
    if waiter[3] > now then -- the clock was set back
      waiter[3], lock.changed = now - poll, true
    end
    newest = math.max(newest, waiter[3])
  end
  if lock.grace > now then -- the clock was set back
    lock.grace, lock.changed = 0, true
  end
  if lock.swept > 0 and now - lock.swept > spare and newest > lock.grace then
    oldest = now - spare
    lock.grace, lock.changed = math.max(newest, oldest), true
  end
  local live = {}
  for _, waiter in ipairs(lock.queue) do
    local seen = waiter[1] == asker and now or math.max(waiter[3], oldest)
    if now - seen < patience then
      live[#live + 1] = waiter
    end
    lock.changed, waiter[3] = lock.changed or seen ~= waiter[3], seen
  end
  lock.queue, lock.changed = live, lock.changed or #live < #lock.queue
  if now < lock.swept or now >= lock.swept + poll / 4 then
    lock.swept, lock.changed = now, lock.changed or #live > 0
  end
end

-- Brings the lock up to date: drops dead waiters, corrects clock steps, ends expired leases, grants what is free. Scripts that do not
-- acquire the lock have no asker.
local function update(asker)
  if not lock then
    return
  end
  sweep(asker)
  local live = {}
  for _, holder in ipairs(lock.holders) do
    if holder.expiry > now + holder.ttl then
      holder.expiry, lock.changed = now + holder.ttl, true
    end
    if holder.expiry > now then
      live[#live + 1] = holder
    elseif holder.kind == EXCLUSIVE then
      lock.grant_number = lock.grant_number + TOKENS_PER_GRANT - 1 -- it may have used them all
    end
  end
  lock.holders, lock.changed = live, lock.changed or #live < #lock.holders
  admit(asker)
end

-- Writes a changed state, for as long as a lease runs, a waiter is to be known, or a token that was used lies in the future.
local function save()
  if not lock or not lock.changed then
    return
  end
  local first, waiting = lock.holders[1], #lock.queue > 0
  if not first and lock.grant_number < micros then
    redis.call('DEL', KEYS[1])
    return
  end
  local exclusive = first and first.kind == EXCLUSIVE
  local last_token = exclusive and lock.grant_number + TOKENS_PER_GRANT - 1 or lock.grant_number
  local stay, holders = math.max(math.ceil((last_token - micros) / 1000) + 1, waiting and patience or 0), {}
  for place, holder in ipairs(lock.holders) do
    local number = exclusive and '' or ',"' .. text(holder.grant_number) .. '"'
    holders[place] = string.format(
      '[%s,%.0f,%.0f,%.0f%s]', cjson.encode(holder.id), holder.ttl, holder.expiry, holder.kind, number)
    stay = math.max(stay, holder.expiry - now)
  end
  local token = lock.token and lock.token ~= lock.grant_number and text(lock.token) or ''
  local state = '[' .. lock.format .. ',"' .. text(lock.grant_number) .. '"'
  if first or token ~= '' then
    state = state .. ',[' .. table.concat(holders, ',') .. ']'
  end
  if waiting or token ~= '' then
    state = state .. ',"' .. token .. '"'
  end
  if waiting then
    state = state .. ',' .. text(lock.swept) .. ',' .. text(lock.grace) .. ',' .. cjson.encode(lock.queue)
  end
  put(state .. ']', stay)
end

-- The fencing token of a holder.
local function token_of(holder)
  return holder.kind == SHARED and (lock.token or lock.grant_number) or holder.grant_number
end

-- <id> <grant number> <lease ms> <waiters> <token> <key>; with a number of 0 it is a hint.
local function message(id, grant_number, lease, token)
  return table.concat({id, text(grant_number), text(lease), text(#lock.queue), text(token), KEYS[1]}, ' ')
end

-- Sends a message to the process with this id.
local function notify(id, grant_number, lease, token)
  redis.pcall('PUBLISH', channels .. (string.match(id, '^(.*)-') or id), message(id, grant_number, lease, token))
end

-- Ends a script: writes the state, publishes, and returns the reply, a status word and numbers on one line. Redis would need longer
-- for a table than for most scripts.
local function answer(...)
  save()
  for _, holder in ipairs(lock and lock.holders or {}) do
    if holder.push then
      notify(holder.id, holder.grant_number, holder.expiry - now, token_of(holder))
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

-- Ends a script that acquires the lock for this id: GRANTED or QUEUED.
local function answer_to(id)
  local holder = holder_of(id)
  if holder then
    local token = token_of(holder)
    return answer('GRANTED', holder.grant_number, holder.expiry - now, #lock.queue, token ~= holder.grant_number and token or nil)
  end
  local position = position_of(id)
  lock.hint = position == 1
  return answer('QUEUED', position, lock.grant_number, ms_left())
end
