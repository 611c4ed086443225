import { shareOf } from '../base/share.ts'
import { MOST_CHANGES, MOST_NAME_BYTES } from '../rpc/session-store.ts'
import { TASK_SCRIPTS, type TaskScriptName } from './tasks-redis-scripts.ts'

/*
 * The steps that Redis does at once, as scripts. All keys of a script have the same tag, also those that it puts together. Scripts take
 * the time from Redis, so that the clocks of nodes do not matter; those of tasks get it from the node.
 */

/** A script, and the number of its keys. */
interface Script {
  readonly keys: number
  readonly lua: string
}

/** The time in milliseconds. */
const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** Gives a key a text unless it has one. KEYS: key. ARGV: text. Answers the text that it has then. */
const FIRST = `redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])`

/*
 * A session is a hash: v (version), o (owner), t (when a use was noted), i (idle time), and its fields after "=". It expires.
 * The names that the last changes concerned are there after "c" and the version, with f (the first of these versions) and b (their bytes).
 * Programs that do not know this leave gaps, and after a gap all fields are read.
 * The index of all sessions has another tag: when each ends, how many each owner has, who owns each, and the last uses for each owner.
 */

/** KEYS: session. ARGV: owner, idle time, life time, then names and texts. */
const SESSION_CREATE = `${NOW}redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'v', 1, 'o', ARGV[1], 't', now, 'i', ARGV[2])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], '=' .. ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`

/** Nothing is written while uses follow each other closely. KEYS: session. ARGV: known version, idle time, life time, how late a use may be noted, then names of fields and what they must be: "=" and a text, or nothing. */
const SESSION_USE = `${NOW}local head = redis.call('HMGET', KEYS[1], 'v', 'o', 't', 'i')
if not head[1] then return false end
for i = 5, #ARGV, 2 do
  local text = redis.call('HGET', KEYS[1], '=' .. ARGV[i])
  if (text and '=' .. text or '') ~= ARGV[i + 1] then return false end
end
local owner = false
if now - head[3] >= tonumber(ARGV[4]) or head[4] ~= ARGV[2] then
  redis.call('HSET', KEYS[1], 't', now, 'i', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  owner = head[2]
end
local known, version = tonumber(ARGV[1]), tonumber(head[1])
if known == version then return { head[1], owner, false, false } end
local changes = known and known < version and version - known <= ${MOST_CHANGES} and {}
local seen = {}
for i = version, changes and known + 1 or version + 1, -1 do
  local names = redis.call('HGET', KEYS[1], string.format('c%.0f', i))
  if not names then
    changes = false
    break
  end
  for _, name in ipairs(cmsgpack.unpack(names)) do
    if not seen[name] then
      seen[name] = true
      changes[#changes + 1] = name
      changes[#changes + 1] = redis.call('HGET', KEYS[1], '=' .. name)
    end
  end
end
if changes then return { head[1], owner, false, changes } end
return { head[1], owner, redis.call('HGETALL', KEYS[1]), false }`

/** KEYS: session. ARGV: the number of names to remove, these, then names and texts. */
const SESSION_CHANGE = `if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local last, names = 1 + tonumber(ARGV[1]), {}
for i = 2, last do
  redis.call('HDEL', KEYS[1], '=' .. ARGV[i])
  names[#names + 1] = ARGV[i]
end
for i = last + 1, #ARGV, 2 do
  redis.call('HSET', KEYS[1], '=' .. ARGV[i], ARGV[i + 1])
  names[#names + 1] = ARGV[i]
end
local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
local kept = redis.call('HMGET', KEYS[1], 'f', 'b')
local first, bytes, packed = tonumber(kept[1] or version), tonumber(kept[2] or 0), cmsgpack.pack(names)
local function drop(number)
  local field = string.format('c%.0f', number)
  bytes = bytes - redis.call('HSTRLEN', KEYS[1], field)
  redis.call('HDEL', KEYS[1], field)
end
redis.call('HSET', KEYS[1], string.format('c%.0f', version), packed)
bytes = bytes + #packed
for number = first, math.min(version - ${MOST_CHANGES}, first + ${MOST_CHANGES} - 1) do drop(number) end
first = math.max(first, version - ${MOST_CHANGES} + 1)
while bytes > ${MOST_NAME_BYTES} and first <= version do
  drop(first)
  first = first + 1
end
redis.call('HSET', KEYS[1], 'f', first, 'b', bytes)
return version`

/** Functions of the index. KEYS: ends, owners, owner of each; the beginning of the keys of owners is ARGV[1]. */
const INDEX = `${NOW}local function remove(id)
  redis.call('ZREM', KEYS[1], id)
  local owner = redis.call('HGET', KEYS[3], id)
  if not owner then return end
  redis.call('HDEL', KEYS[3], id)
  redis.call('ZREM', ARGV[1] .. owner, id)
  if tonumber(redis.call('ZINCRBY', KEYS[2], -1, owner)) <= 0 then redis.call('ZREM', KEYS[2], owner) end
end
local function add(id, owner, life)
  redis.call('ZADD', KEYS[1], now + life, id)
  redis.call('ZADD', ARGV[1] .. owner, now, id)
  local isNew = redis.call('HSET', KEYS[3], id, owner)
  if isNew == 1 then redis.call('ZINCRBY', KEYS[2], 1, owner) end
  return isNew
end
`

/** ARGV: …, id, owner, life time, most sessions, how long a used session is fresh. Fresh ones go only for an owner with far fewer. */
const INDEX_ADMIT = `${INDEX}for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. now, 'LIMIT', 0, 1000)) do remove(id) end
remove(ARGV[2])
local answer = 'created'
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[5]) then
  local largest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  local oldest = largest[1] and redis.call('ZRANGE', ARGV[1] .. largest[1], 0, 0, 'WITHSCORES') or {}
  if not oldest[1] then return 'full' end
  local own, most = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[3]) or 0), tonumber(largest[2])
  local hasFarFewer = most > 1 and own < most * ${shareOf(1)}
  if now - oldest[2] < tonumber(ARGV[6]) and not hasFarFewer then return 'full' end
  remove(oldest[1])
  answer = '=' .. oldest[1]
end
add(ARGV[2], ARGV[3], ARGV[4])
return answer`

/** ARGV: …, then id, owner and life time of each session. Answers the ids that the index did not have. */
const INDEX_USE = `${INDEX}local missing = {}
for i = 2, #ARGV, 3 do
  if add(ARGV[i], ARGV[i + 1], ARGV[i + 2]) == 1 then missing[#missing + 1] = ARGV[i] end
end
return missing`

/** ARGV: …, id. */
const INDEX_END = `${INDEX}remove(ARGV[2])
return 1`

/** Keys of Redis end just after their time, and so do entries of the index. KEYS: ends. */
const INDEX_COUNT = `${NOW}return redis.call('ZCOUNT', KEYS[1], now, '+inf')`

/*
 * A log is a stream whose entries have the numbers 1, 2, …, and a hash: next, first, bytes, and for events writer, over, position,
 * and the requests that are given up, after "=".
 * Entries have the text first, and then a mark that tells repeated steps from new ones.
 */

/** KEYS: stream, hash, names of the session's streams. ARGV: name, writer, life time. Each new stream removes some names of expired ones, so few are left. */
const LOG_OPEN = `if redis.call('EXISTS', KEYS[2]) == 0 then
  local heads = string.sub(KEYS[2], 1, #KEYS[2] - #ARGV[1])
  for _, name in ipairs(redis.call('SRANDMEMBER', KEYS[3], 4)) do
    if redis.call('EXISTS', heads .. name) == 0 then redis.call('SREM', KEYS[3], name) end
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[2], 'next', 0, 'first', 0, 'bytes', 0, 'writer', ARGV[2])
  redis.call('PUBLISH', KEYS[1], '')
end
redis.call('SADD', KEYS[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
if redis.call('PTTL', KEYS[3]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[3], ARGV[3]) end
return 1`

/**
 * KEYS: stream, hash, names. ARGV: text, mark, whether it may have been added, most events, most bytes, idle time, whether it is the
 * last, position, number, life time, whether it gives up its requests, then these. A log without idle time is created by its first text, and has no watchers. Redis may have evicted the
 * stream or the hash alone.
 */
const LOG_ADD = `local head = redis.call('HMGET', KEYS[2], 'next', 'over', 'position', 'first', 'bytes')
local isEvent = ARGV[6] ~= ''
if isEvent and not head[1] then return false end
local seq = tonumber(head[1] or 0)
if ARGV[9] ~= '' then
  local expected = tonumber(ARGV[9])
  if expected < seq then return expected end
  if expected > seq then return false end
elseif ARGV[3] ~= '' then
  for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1000)) do
    if entry[2][4] == ARGV[2] then return tonumber(string.match(entry[1], '^%d+')) - 1 end
  end
end
if head[2] then return false end
for i = 12, #ARGV do
  if redis.call('HEXISTS', KEYS[2], '=' .. ARGV[i]) == 1 then return false end
end
if ARGV[8] ~= '' then
  if head[3] and tonumber(ARGV[8]) <= tonumber(head[3]) then return false end
  redis.call('HSET', KEYS[2], 'position', ARGV[8])
end
if not head[1] then redis.call('DEL', KEYS[1]) end
redis.call('XADD', KEYS[1], string.format('%.0f-0', seq + 1), 't', ARGV[1], 'm', ARGV[2])
local first, bytes = tonumber(head[4] or 0), tonumber(head[5] or 0) + #ARGV[1]
local kept = first
while first < seq and (seq - first >= tonumber(ARGV[4]) or bytes > tonumber(ARGV[5])) do
  local id = string.format('%.0f-0', first + 1)
  local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
  if entry then bytes = bytes - #entry[2][2] end
  first = first + 1
end
if first == seq then bytes = #ARGV[1] end
if first > kept then redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f-0', first + 1)) end
redis.call('HSET', KEYS[2], 'next', seq + 1, 'first', first, 'bytes', bytes)
if ARGV[7] ~= '' then redis.call('HSET', KEYS[2], 'over', 1) end
if ARGV[11] ~= '' then
  for i = 12, #ARGV do redis.call('HSET', KEYS[2], '=' .. ARGV[i], 1) end
end
if isEvent then
  local left, idle, life = redis.call('PTTL', KEYS[2]), tonumber(ARGV[6]), tonumber(ARGV[10])
  if seq == 0 or left < idle or left > life then
    redis.call('PEXPIRE', KEYS[1], life)
    redis.call('PEXPIRE', KEYS[2], life)
    if redis.call('PTTL', KEYS[3]) < life then redis.call('PEXPIRE', KEYS[3], life) end
  end
  redis.call('PUBLISH', KEYS[1], '')
end
return seq`

/** KEYS: stream, hash. ARGV: the number before the first, most events. The log begins after events that are missing. */
const LOG_READ = `local head = redis.call('HMGET', KEYS[2], 'next', 'first', 'over', 'writer')
if not head[1] then return false end
local entries = redis.call('XRANGE', KEYS[1], string.format('%.0f-0', ARGV[1] + 2), '+', 'COUNT', ARGV[2])
local texts = {}
for i, entry in ipairs(entries) do texts[i] = entry[2][2] end
local first = tonumber(head[2])
local found = entries[1] and tonumber(string.match(entries[1][1], '^%d+')) - 1 or tonumber(head[1])
if found > math.max(ARGV[1] + 1, first) then first = found end
return { head[1], first, head[3] or '', head[4] or '', texts }`

/** KEYS: stream, hash. The log begins after events that are missing. */
const LOG_HEAD = `local head = redis.call('HMGET', KEYS[2], 'next', 'first', 'over', 'writer')
if not head[1] then return false end
local next = tonumber(head[1])
local first = math.max(tonumber(head[2]), next - redis.call('XLEN', KEYS[1]))
return { next, first, head[3] or '', head[4] or '' }`

/** KEYS: stream, hash. ARGV: the number of the first event that stays. */
const LOG_TRIM = `local head = redis.call('HMGET', KEYS[2], 'next', 'first', 'bytes')
if not head[1] then return 0 end
local from, to = tonumber(head[2]), math.min(tonumber(ARGV[1]), tonumber(head[1]))
if to <= from then return 0 end
local bytes = to == tonumber(head[1]) and 0 or tonumber(head[3])
if bytes > 0 then
  for number = from + 1, to do
    local id = string.format('%.0f-0', number)
    local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
    if entry then bytes = bytes - #entry[2][2] end
  end
end
redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f-0', to + 1))
redis.call('HSET', KEYS[2], 'first', to, 'bytes', bytes)
return 1`

/** KEYS: names. ARGV: the beginnings of the keys of streams and of hashes, then the name of one stream, or none for all. */
const LOG_FORGET = `local names = ARGV[3] and { ARGV[3] } or redis.call('SMEMBERS', KEYS[1])
for _, name in ipairs(names) do
  redis.call('DEL', ARGV[1] .. name, ARGV[2] .. name)
  redis.call('SREM', KEYS[1], name)
  redis.call('PUBLISH', ARGV[1] .. name, '')
end
return 1`

/** KEYS: count. ARGV: limit, window, cost. */
const RATE_USE = `local used = tonumber(redis.call('GET', KEYS[1]) or 0)
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  used, left = 0, tonumber(ARGV[2])
  redis.call('SET', KEYS[1], 0, 'PX', ARGV[2])
end
local isWithin = used + ARGV[3] <= tonumber(ARGV[1])
if isWithin then
  redis.call('INCRBY', KEYS[1], ARGV[3])
  used = used + ARGV[3]
end
return { isWithin and 1 or 0, used, left }`

/**
 * KEYS: last number, ends, nodes. ARGV: node, lease, most numbers, how long dead nodes are remembered. Numbers begin anywhere, since nodes from
 * before a loss of data may still use the lowest ones.
 */
const NODE_JOIN = `${NOW}for _, number in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[4])) do
  redis.call('ZREM', KEYS[2], number)
  redis.call('HDEL', KEYS[3], number)
end
local others = {}
for i, number in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. now, '+inf')) do
  others[i] = { number, redis.call('HGET', KEYS[3], number) }
end
local number
redis.call('SET', KEYS[1], now % tonumber(ARGV[3]), 'NX')
repeat number = (redis.call('INCR', KEYS[1]) - 1) % tonumber(ARGV[3]) + 1
until not redis.call('ZSCORE', KEYS[2], number)
redis.call('ZADD', KEYS[2], now + ARGV[2], number)
redis.call('HSET', KEYS[3], number, ARGV[1])
return { number, others }`

/** KEYS: ends. ARGV: number, then the lease for a sign of life, or nothing to ask only. */
const NODE_ALIVE = `${NOW}local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if ends and ARGV[2] then redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) end
return ends and tonumber(ends) > now and 1 or 0`

/** KEYS: ends, nodes. ARGV: number. */
const NODE_LEAVE = `redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
return 1`

/** The names of the commands that run scripts. */
export type ScriptName =
  | 'pierheadFirst'
  | 'pierheadSessionCreate'
  | 'pierheadSessionUse'
  | 'pierheadSessionChange'
  | 'pierheadIndexAdmit'
  | 'pierheadIndexUse'
  | 'pierheadIndexEnd'
  | 'pierheadIndexCount'
  | 'pierheadLogOpen'
  | 'pierheadLogAdd'
  | 'pierheadLogRead'
  | 'pierheadLogHead'
  | 'pierheadLogTrim'
  | 'pierheadLogForget'
  | 'pierheadRateUse'
  | 'pierheadNodeJoin'
  | 'pierheadNodeAlive'
  | 'pierheadNodeLeave'
  | TaskScriptName

/** All scripts. */
export const SCRIPTS: Readonly<Record<ScriptName, Script>> = {
  pierheadFirst: { keys: 1, lua: FIRST },
  pierheadSessionCreate: { keys: 1, lua: SESSION_CREATE },
  pierheadSessionUse: { keys: 1, lua: SESSION_USE },
  pierheadSessionChange: { keys: 1, lua: SESSION_CHANGE },
  pierheadIndexAdmit: { keys: 3, lua: INDEX_ADMIT },
  pierheadIndexUse: { keys: 3, lua: INDEX_USE },
  pierheadIndexEnd: { keys: 3, lua: INDEX_END },
  pierheadIndexCount: { keys: 1, lua: INDEX_COUNT },
  pierheadLogOpen: { keys: 3, lua: LOG_OPEN },
  pierheadLogAdd: { keys: 3, lua: LOG_ADD },
  pierheadLogRead: { keys: 2, lua: LOG_READ },
  pierheadLogHead: { keys: 2, lua: LOG_HEAD },
  pierheadLogTrim: { keys: 2, lua: LOG_TRIM },
  pierheadLogForget: { keys: 1, lua: LOG_FORGET },
  pierheadRateUse: { keys: 1, lua: RATE_USE },
  pierheadNodeJoin: { keys: 3, lua: NODE_JOIN },
  pierheadNodeAlive: { keys: 1, lua: NODE_ALIVE },
  pierheadNodeLeave: { keys: 2, lua: NODE_LEAVE },
  ...TASK_SCRIPTS,
}
