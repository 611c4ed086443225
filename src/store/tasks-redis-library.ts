import { HEAD } from './tasks-columns.ts'

/** The columns of a head. */
export const COLUMNS: readonly string[] = HEAD.split(', ')

/** The columns of a record. */
export const RECORD_COLUMNS: readonly string[] = [...COLUMNS, 'request', 'state', 'outcome']

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

/** The fields of a task that its places depend on. */
const INDEXED =
  'version status server scope network tool key created_at due_at node seq place turn keyed mark'.split(' ')

/** What all scripts begin with: how they read tasks. */
export const LIBRARY: string = `local base = KEYS[1]
local FINAL = { completed = true, failed = true, cancelled = true }
local function key(id) return base .. ':t:' .. id end
local function row(id, ...)
  local values = redis.pcall('HMGET', key(id), ${quoted(COLUMNS)}, ...)
  if values.err then return false end
  for _, value in ipairs(values) do
    if value then
      values[1] = id
      return values
    end
  end
  return false
end
local INDEXED = { ${quoted(INDEXED)} }
local function read(id)
  local values = redis.pcall('HMGET', key(id), unpack(INDEXED))
  if values.err then return false end
  local task, isThere = {}, false
  for i, name in ipairs(INDEXED) do
    task[name] = values[i] or ''
    if values[i] then isThere = true end
  end
  return isThere and task
end
local function news(writer, id) redis.call('PUBLISH', base .. ':news', writer .. ' ' .. id) end
`

/** The lists and queues that a task is in. */
export const PLACES: string = `local function byStatus(command, id, task)
  local score = command == 'ZADD' and { task.seq } or {}
  score[#score + 1] = id
  redis.call(command, base .. ':status:' .. task.status, unpack(score))
  redis.call(command, base .. ':status:' .. task.status .. '\\0' .. task.tool, unpack(score))
end
local function unplace(id, task)
  if task.place == '' then return end
  local queue = base .. ':q:' .. task.place
  redis.call('ZREM', queue, id)
  if task.turn ~= '' then redis.call('ZREM', base .. ':w:' .. task.place, task.turn) end
  if redis.call('EXISTS', queue) == 1 then return end
  local work, node = string.match(task.place, '^(.*)%z([^%z]*)$')
  if work then redis.call('SREM', base .. ':r:' .. work, node) end
end
local function place(id, task)
  task.place, task.turn = '', ''
  if not FINAL[task.status] then
    local work = task.server .. '\\0' .. task.tool
    task.place = work .. '\\0' .. task.node
    redis.call('ZADD', base .. ':q:' .. task.place, tonumber(task.due_at) or 0, id)
    redis.call('SADD', base .. ':r:' .. work, task.node)
    local caller = task.network ~= '' and task.network or task.scope
    task.turn = caller .. '\\0' .. string.format('%017.0f', math.min(math.max(0, math.ceil(tonumber(task.due_at) or 0)), 9e15)) .. '\\0' .. id
    redis.call('ZADD', base .. ':w:' .. task.place, 0, task.turn)
  end
  redis.call('HSET', key(id), 'place', task.place, 'turn', task.turn)
end
local function expiresAt(id, at)
  if at == '' then redis.call('ZREM', base .. ':ends', id) else redis.call('ZADD', base .. ':ends', at, id) end
end
local function holder(name)
  local id = name ~= '' and redis.call('HGET', base .. ':keys', name)
  return id and redis.call('EXISTS', key(id)) == 1 and id
end
local function keyName(task)
  if task.scope == '' or task.key == '' then return '' end
  return task.server .. '\\0' .. task.scope .. '\\0' .. task.tool .. '\\0' .. task.key
end
local function release(id, task)
  if task.keyed ~= '' and redis.call('HGET', base .. ':keys', task.keyed) == id then redis.call('HDEL', base .. ':keys', task.keyed) end
end
`
