import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'

/** The least that a server with tasks does: in a map, or in a table of SQLite that commits what came together. */
export function connect(receive, path) {
  const tasks = path === undefined ? mapOf() : tableOf(path)
  return {
    async send(text) {
      const { id, method, params } = JSON.parse(text)
      const answer = (result) => receive(JSON.stringify({ jsonrpc: '2.0', id, result }))
      if (method === 'initialize') return answer({ protocolVersion: '2025-11-25', capabilities: {} })
      if (method === 'tasks/get') return answer(taskOf(params.taskId, tasks.get(params.taskId)))
      if (method === 'tasks/result') return answer(JSON.parse(tasks.get(params.taskId).outcome))
      if (method !== 'tools/call') return
      const taskId = randomBytes(18).toString('base64url')
      await tasks.insert(taskId, JSON.stringify(params), params.task.ttl)
      const { a, b } = params.arguments
      await tasks.update(taskId, JSON.stringify({ content: [{ type: 'text', text: String(a + b) }] }))
      answer({ task: { taskId, status: 'completed' } })
    },
    close: () => tasks.close(),
  }
}

/** A task as `tasks/get` shows it. */
function taskOf(taskId, { status, createdAt, updatedAt, ttl }) {
  const times = {
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
  }
  return { taskId, status, ...times, ttl, pollInterval: 1000 }
}

function mapOf() {
  const tasks = new Map()
  return {
    get: (id) => tasks.get(id),
    insert(id, request, ttl) {
      const now = Date.now()
      tasks.set(id, { status: 'working', createdAt: now, updatedAt: now, ttl, request, outcome: '' })
    },
    update: (id, outcome) =>
      void tasks.set(id, { ...tasks.get(id), status: 'completed', updatedAt: Date.now(), outcome }),
    close() {},
  }
}

function tableOf(path) {
  const builtIn = process.getBuiltinModule('node:sqlite')
  const Database = builtIn?.DatabaseSync ?? createRequire(import.meta.url)('libsql')
  const database = new Database(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec(
    'CREATE TABLE tasks (id TEXT PRIMARY KEY, status TEXT, createdAt INTEGER, updatedAt INTEGER, ttl INTEGER, request TEXT, outcome TEXT)',
  )
  const select = database.prepare('SELECT status, createdAt, updatedAt, ttl, outcome FROM tasks WHERE id = ?')
  const insert = database.prepare("INSERT INTO tasks VALUES (?, 'working', ?, ?, ?, ?, '')")
  const update = database.prepare(
    "UPDATE tasks SET status = 'completed', updatedAt = ?, outcome = ? WHERE id = ?",
  )
  let steps = []
  const commit = () => {
    const now = steps
    steps = []
    database.exec('BEGIN IMMEDIATE')
    for (const { run } of now) run()
    database.exec('COMMIT')
    for (const { done } of now) done()
  }
  const write = (run) =>
    new Promise((done) => {
      if (steps.push({ run, done }) === 1) setImmediate(commit)
    })
  return {
    get: (id) => select.get(id),
    insert: (id, request, ttl) => write(() => insert.run(id, Date.now(), Date.now(), ttl, request)),
    update: (id, outcome) => write(() => update.run(Date.now(), outcome, id)),
    close: () => database.close(),
  }
}
