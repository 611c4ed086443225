import { TASK_OVERHEAD } from '../tasks/room.ts'
import { COLUMNS, LIBRARY, PLACES } from './tasks-redis-library.ts'

/*
 * The steps of tasks. Everything is under one tag, because the limits count the tasks of all callers together:
 *
 * - `:t:<id>` is a task: a hash with the columns of its head, its texts, and when it expires. `seq` is its place in the lists, `place` the queue
 *   that it is in, `keyed` the name of its key, and `mark` tells a step that is repeated from another one.
 * - `:all`, `:scope:<scope>`, `:tool:<tool>`, `:status:<status>` and `:status:<status> <tool>` are lists, `:ends` has the times at which tasks expire.
 * - `:q:<server> <tool> <node>` has the unfinished tasks of a node by the time from which they may run, and those that wait, whose node is empty. `:r:<server> <tool>`
 *   has the nodes for which there is such a queue, `:nodes` until when nodes are alive. `:w:<server> <tool> <node>` has the same tasks as texts that begin with
 *   the caller, so that callers take turns; `turn` of a task is its text. Older programs neither add nor remove these.
 * - `:keys` has the ids of tasks by server, scope, tool and key; `:n` and `:b` the sums of tasks and bytes.
 *
 * Names are put together with NUL, which no stored text contains. The only key of a script is the beginning of all these.
 */

/** The sums, and the rules of `tasks/room.ts`. A test compares them. */
const ROOM = `local function count(task, tasks, bytes)
  local names = { '' }
  if task.scope ~= '' then names[#names + 1] = 'scope ' .. task.scope end
  if task.network ~= '' then names[#names + 1] = 'network ' .. task.network end
  for _, name in ipairs(names) do
    if redis.call('HINCRBY', base .. ':b', name, bytes) < 0 then redis.call('HSET', base .. ':b', name, 0) end
    if tasks ~= 0 and redis.call('HINCRBY', base .. ':n', name, tasks) <= 0 then
      redis.call('HDEL', base .. ':n', name)
      redis.call('HDEL', base .. ':b', name)
    end
  end
end
local function sum(what, name) return tonumber(redis.call('HGET', base .. what, name) or 0) end
local function isWithinAddressShare(own, total, limit) return own <= (limit - total + own) * 0.75 end
local function hasShare(own, near, total, limit)
  local free = limit - total + own
  if own > free * 0.25 then return false end
  if near == own or isWithinAddressShare(near, total, limit) then return true end
  return own <= free * 0.25 * 0.25
end
local function hasBytes(task, more, limit)
  local near = task.network == '' and 0 or sum(':b', 'network ' .. task.network)
  local own = task.scope == '' and near or sum(':b', 'scope ' .. task.scope)
  return hasShare(own + more, (near == 0 and own or near) + more, sum(':b', '') + more, limit)
end
local function rejection(task, bytes, most, callerMost, mostBytes)
  local all = sum(':n', '')
  if all >= tonumber(most) then return { 'full', most } end
  if task.scope ~= '' and sum(':n', 'scope ' .. task.scope) >= tonumber(callerMost) then return { 'caller_full', callerMost } end
  local near = task.network == '' and 0 or sum(':n', 'network ' .. task.network)
  if task.network ~= '' and not isWithinAddressShare(near + 1, all + 1, tonumber(most)) then return { 'caller_full', near } end
  return not hasBytes(task, bytes, tonumber(mostBytes)) and { 'too_large', mostBytes }
end
local function lengths(id)
  local all = 0
  for _, name in ipairs({ 'request', 'state', 'outcome' }) do all = all + redis.call('HSTRLEN', key(id), name) end
  return all
end
`

/** ARGV: bytes, most tasks, most of a scope, most bytes, then the columns and values of the task and when it expires. */
const CREATE = `${LIBRARY}${PLACES}${ROOM}local task = {}
for i = 5, #ARGV, 2 do task[ARGV[i]] = ARGV[i + 1] end
local id = task.id
if redis.call('EXISTS', key(id)) == 1 then return { 'created' } end
local keyed = keyName(task)
local same = holder(keyed)
if same then return { 'exists', row(same) } end
local rejected = rejection(task, tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4])
if rejected then return rejected end
task.seq = string.format('%.0f', redis.call('INCR', base .. ':seq'))
redis.call('HSET', key(id), 'seq', task.seq, 'keyed', keyed, unpack(ARGV, 5))
redis.call('ZADD', base .. ':all', task.seq, id)
if task.scope ~= '' then redis.call('ZADD', base .. ':scope:' .. task.scope, task.seq, id) end
redis.call('ZADD', base .. ':tool:' .. task.tool, task.seq, id)
byStatus('ZADD', id, task)
place(id, task)
if task.expires_at ~= '' then expiresAt(id, task.expires_at) end
if keyed ~= '' then redis.call('HSET', base .. ':keys', keyed, id) end
count(task, 1, tonumber(ARGV[1]))
return { 'created' }`

/** ARGV: id, version, mark, writer, most bytes or nothing, then the columns and values that change. Answers the head, 'full', or nothing. */
const CHANGE = `${LIBRARY}${PLACES}${ROOM}local id = ARGV[1]
local task = read(id)
if not task then return false end
if task.mark == ARGV[3] then return row(id) end
if task.version ~= ARGV[2] then return false end
local change = {}
for i = 6, #ARGV, 2 do change[ARGV[i]] = ARGV[i + 1] end
local more = 0
for _, name in ipairs({ 'request', 'state', 'outcome' }) do
  if change[name] then more = more + #change[name] - redis.call('HSTRLEN', key(id), name) end
end
if more > 0 and ARGV[5] ~= '' and not hasBytes(task, more, tonumber(ARGV[5])) then return 'full' end
if more ~= 0 then count(task, 0, more) end
local fields = { 'version', string.format('%.0f', task.version + 1), 'mark', ARGV[3] }
for i = 6, #ARGV do fields[#fields + 1] = ARGV[i] end
if change.key and change.key ~= task.key then
  local name = keyName({ server = task.server, scope = task.scope, tool = task.tool, key = change.key })
  local other = holder(name)
  release(id, task)
  if other and other ~= id then
    name = ''
    fields[#fields + 1] = 'key'
    fields[#fields + 1] = ''
  elseif name ~= '' then
    redis.call('HSET', base .. ':keys', name, id)
  end
  fields[#fields + 1] = 'keyed'
  fields[#fields + 1] = name
end
if change.ttl_ms then
  local at = change.ttl_ms == '' and '' or string.format('%.17g', (tonumber(task.created_at) or 0) + change.ttl_ms)
  fields[#fields + 1] = 'expires_at'
  fields[#fields + 1] = at
  expiresAt(id, at)
end
redis.call('HSET', key(id), unpack(fields))
if change.status and change.status ~= task.status then
  byStatus('ZREM', id, task)
  task.status = change.status
  byStatus('ZADD', id, task)
end
if change.status or change.node or change.due_at then
  unplace(id, task)
  task.node = change.node or task.node
  task.due_at = change.due_at or task.due_at
  place(id, task)
end
news(ARGV[4], id)
return row(id)`

/** ARGV: owner, then ids. Answers the heads of those that the owner has. */
const OWNED = `${LIBRARY}local heads = {}
for i = 2, #ARGV do
  if redis.pcall('HGET', key(ARGV[i]), 'owner') == ARGV[1] then heads[#heads + 1] = row(ARGV[i]) end
end
return heads`

/** ARGV: id, text, most bytes. Answers the head with the bytes of a text, and the text unless it has more. */
const READ = `${LIBRARY}local head = row(ARGV[1])
if not head then return false end
local bytes = redis.call('HSTRLEN', key(ARGV[1]), ARGV[2])
head[#head + 1] = bytes
head[#head + 1] = bytes <= tonumber(ARGV[3]) and redis.call('HGET', key(ARGV[1]), ARGV[2])
return head`

/**
 * Reads a part of a list. ARGV: the list, the number after which it begins, or the task after which it begins, the most tasks that are looked at, and the
 * server, scope, status and tool of tasks, each after '=' if it matters. Answers where it ended, and the heads.
 */
const LIST = `${LIBRARY}local after = ARGV[2]
if ARGV[3] ~= '' then
  local last = read(string.sub(ARGV[3], 2))
  if not last or (ARGV[6] ~= '' and '=' .. last.scope ~= ARGV[6]) then return { '', {} } end
  after = last.seq
end
local heads = {}
local ids = redis.call('ZRANGEBYSCORE', base .. ARGV[1], '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[4])
local function isMeant(at, value) return at == '' or at == '=' .. (value or '') end
for i = 1, #ids, 2 do
  local head = row(ids[i])
  after = ids[i + 1]
  if not head then
    redis.call('ZREM', base .. ARGV[1], ids[i])
  elseif (ARGV[5] == '' or head[2] == '' or '=' .. (head[2] or '') == ARGV[5]) and isMeant(ARGV[7], head[${COLUMNS.indexOf('status') + 1}]) and isMeant(ARGV[8], head[${COLUMNS.indexOf('tool') + 1}]) then
    heads[#heads + 1] = head
  end
end
return { #ids == 2 * ARGV[4] and after or '', heads }`

/** ARGV: time, most tasks. Answers the ids. The news have no writer, so that this process also hears of tasks whose removal it never got an answer to. */
const EXPIRE = `${LIBRARY}${PLACES}${ROOM}local ids = redis.call('ZRANGEBYSCORE', base .. ':ends', '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do
  local task = read(id)
  redis.call('ZREM', base .. ':ends', id)
  redis.call('ZREM', base .. ':all', id)
  if task then
    count(task, -1, -${TASK_OVERHEAD} - lengths(id))
    unplace(id, task)
    release(id, task)
    byStatus('ZREM', id, task)
    redis.call('ZREM', base .. ':tool:' .. task.tool, id)
    redis.call('ZREM', base .. ':scope:' .. task.scope, id)
  end
  redis.call('DEL', key(id))
  news('', id)
end
return ids`

/**
 * ARGV: node, time, most tasks, mark, writer, whether it may have been done, the caller whose turn was last, the number of servers, these, and the tools.
 * Callers take turns, each with its earliest task. Answers the caller whose turn was last, even if it had
 * none that was due, and the records.
 */
const CLAIM = `${LIBRARY}${PLACES}local node, now, most, mark = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local works = {}
for i = 9, 8 + ARGV[8] do
  for j = 9 + ARGV[8], #ARGV do works[#works + 1] = ARGV[i] .. '\\0' .. ARGV[j] end
end
local records = {}
if ARGV[6] ~= '' then
  for _, work in ipairs(works) do
    for _, id in ipairs(redis.call('ZRANGE', base .. ':q:' .. work .. '\\0' .. node, 0, -1)) do
      local task = read(id)
      if task and task.mark == mark then records[#records + 1] = row(id, 'request', 'state', 'outcome') end
    end
  end
  if #records > 0 then return { ARGV[7], records } end
end
local function takeOne(work, from, id)
  local queue = base .. ':q:' .. work .. '\\0' .. from
  local task = read(id)
  if task and not FINAL[task.status] then
    unplace(id, task)
    -- Where it was found, whatever became of the record.
    task.server, task.tool = string.match(work, '^(.*)%z(.*)$')
    task.node = node
    redis.call('HSET', key(id), 'node', node, 'mark', mark)
    -- One that cannot be read stays, so that the task fails.
    if tonumber(task.version) then redis.call('HSET', key(id), 'version', string.format('%.0f', task.version + 1)) end
    place(id, task)
    news(ARGV[5], id)
    records[#records + 1] = row(id, 'request', 'state', 'outcome')
  end
  redis.call('ZREM', queue, id)
end
local function take(work, from)
  local queue = base .. ':q:' .. work .. '\\0' .. from
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue, '-inf', ARGV[2], 'LIMIT', 0, most - #records)) do
    takeOne(work, from, id)
  end
end
local dead, free = {}, {}
for _, work in ipairs(works) do
  for _, from in ipairs(redis.call('SMEMBERS', base .. ':r:' .. work)) do
    local isAlive = from == node or (tonumber(redis.call('ZSCORE', base .. ':nodes', from) or 0) or 0) > now
    if from == '' then free[#free + 1] = { work, from } elseif not isAlive then dead[#dead + 1] = { work, from } end
  end
end
for _, queue in ipairs(free) do dead[#dead + 1] = queue end
-- The first entry of the tasks by caller, after which there is a caller, and its queue.
local function firstOf(from, upto)
  local first, queue
  for _, other in ipairs(dead) do
    local found = redis.call('ZRANGEBYLEX', base .. ':w:' .. other[1] .. '\\0' .. other[2], from, upto, 'LIMIT', 0, 1)[1]
    if found and (not first or found < first) then first, queue = found, other end
  end
  return first, queue
end
local function takeOf(caller)
  local before = #records
  while #records == before do
    local first, queue = firstOf('[' .. caller .. '\\0', '(' .. caller .. '\\1')
    if not first then return false end
    local due, id = string.match(first, '^[^%z]*%z(%d*)%z(.*)$')
    local place = queue[1] .. '\\0' .. queue[2]
    -- An older program has moved the task without it.
    local isThere = redis.pcall('HGET', key(id), 'place') == place
    if isThere and tonumber(due) > now then return false end
    redis.call('ZREM', base .. ':w:' .. place, first)
    if isThere then takeOne(queue[1], queue[2], id) end
  end
  return true
end
-- Each caller has a turn, until a hundred had none that was due; then those who had one.
local from, turn, passed, isAround = '[' .. ARGV[7] .. '\\1', ARGV[7], 0, false
local callers, visited = {}, {}
while #records < most and passed < 100 do
  local first = firstOf(from, '+')
  local caller = first and string.match(first, '^[^%z]*')
  if first and visited[caller] or not first and isAround then break end
  if first then
    visited[caller], turn, from = true, caller, '[' .. caller .. '\\1'
    if takeOf(caller) then callers[#callers + 1] = caller else passed = passed + 1 end
  else
    from, isAround = '-', true
  end
end
while #records < most and #callers > 0 do
  local others = {}
  for _, caller in ipairs(callers) do
    if #records < most and takeOf(caller) then
      others[#others + 1] = caller
      if passed < 100 then turn = caller end
    end
  end
  callers = others
end
-- The oldest of the others, and those without such an entry.
for _, queue in ipairs(dead) do
  if #records >= most then break end
  take(queue[1], queue[2])
end
return { turn, records }`

/** Ends a claimed task that cannot be read. ARGV: id, mark of the claim, writer, then all columns and values, and when it expires. */
const REPLACE = `${LIBRARY}${PLACES}${ROOM}local id = ARGV[1]
local task = read(id)
if not task or task.mark ~= ARGV[2] then return false end
local before = lengths(id)
local work = string.match(task.place, '^(.*)%z[^%z]*$')
local tools = { task.tool, work and string.match(work, '%z(.*)$') or task.tool }
unplace(id, task)
release(id, task)
for _, tool in ipairs(tools) do
  for _, status in ipairs({ 'working', 'input_required', 'completed', 'failed', 'cancelled' }) do
    byStatus('ZREM', id, { status = status, tool = tool })
  end
end
local seq = task.seq
task = { seq = seq }
for i = 4, #ARGV, 2 do task[ARGV[i]] = ARGV[i + 1] end
redis.call('HSET', key(id), 'keyed', '', 'mark', '', unpack(ARGV, 4))
count(task, 0, lengths(id) - before)
if tonumber(seq) then byStatus('ZADD', id, task) end
place(id, task)
expiresAt(id, task.expires_at)
news(ARGV[3], id)
return 1`

/** Nodes have new names after each start; those of the past are forgotten. ARGV: node, until when it is alive, the time before which others are forgotten. */
const BEAT = `redis.call('ZADD', KEYS[1] .. ':nodes', ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1] .. ':nodes', '-inf', '(' .. ARGV[3])
return 1`

/** The time of the server that has the tasks, in milliseconds. */
const TIME = `local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)`

/** The names of the commands that run these scripts. */
export type TaskScriptName =
  | 'pierheadTaskCreate'
  | 'pierheadTaskChange'
  | 'pierheadTaskRead'
  | 'pierheadTaskOwned'
  | 'pierheadTaskList'
  | 'pierheadTaskExpire'
  | 'pierheadTaskClaim'
  | 'pierheadTaskReplace'
  | 'pierheadTaskBeat'
  | 'pierheadTaskTime'

/** The scripts, each with one key. */
export const TASK_SCRIPTS: Readonly<Record<TaskScriptName, { readonly keys: number; readonly lua: string }>> =
  {
    pierheadTaskCreate: { keys: 1, lua: CREATE },
    pierheadTaskChange: { keys: 1, lua: CHANGE },
    pierheadTaskRead: { keys: 1, lua: READ },
    pierheadTaskOwned: { keys: 1, lua: OWNED },
    pierheadTaskList: { keys: 1, lua: LIST },
    pierheadTaskExpire: { keys: 1, lua: EXPIRE },
    pierheadTaskClaim: { keys: 1, lua: CLAIM },
    pierheadTaskReplace: { keys: 1, lua: REPLACE },
    pierheadTaskBeat: { keys: 1, lua: BEAT },
    pierheadTaskTime: { keys: 1, lua: TIME },
  }
