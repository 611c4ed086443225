import { lazy } from '../base/lazy.ts'
import { isFinal } from '../protocol/task-status.ts'
import { CLOCK, clockFor, type TaskClock } from '../tasks/clock.ts'
import type { TaskHead, TaskRecord } from '../tasks/record.ts'
import { tasksTooLarge } from '../tasks/room.ts'
import type {
  Created,
  OwnTasks,
  Rejected,
  TaskChange,
  TaskExcerpt,
  TaskQuery,
  TaskRoom,
  TaskStore,
  TaskText,
} from '../tasks/store.ts'
import type { Argument } from './redis-client.ts'
import type { RedisLink } from './redis-link.ts'
import type { RedisNews } from './redis-news.ts'
import type { Row } from './sqlite-engine.ts'
import { readableText, storedText } from './stored-text.ts'
import {
  changedColumns,
  changedTexts,
  excerptOf,
  headOf,
  readRecord,
  recordOf,
  valuesOf,
} from './tasks-columns.ts'
import { RedisTaskQueue } from './tasks-redis-queue.ts'
import { COLUMNS, RECORD_COLUMNS } from './tasks-redis-library.ts'
import type { TaskScriptName } from './tasks-redis-scripts.ts'
import { RedisTaskWatchers } from './tasks-redis-watch.ts'
import { bytesOf, FORGOTTEN_MS, textsOf, whole } from './tasks-sizes.ts'

/**
 * The version of the keys of tasks. Programs that only add fields or keys keep it, so that they run beside older ones; a program refuses keys of a
 * newer version.
 */
const VERSION = 1

/** The most tasks that one script reads or removes, so that other commands do not wait long. */
const AT_ONCE = 200

/** Keeps tasks in Redis. Each step is one script; BullMQ tells nodes of tasks that wait for one. */
export class RedisTaskStore implements TaskStore {
  readonly leaseMs: number
  readonly #link: RedisLink
  readonly #news: RedisNews
  readonly #base: string
  readonly #queue: RedisTaskQueue
  readonly #watchers: RedisTaskWatchers
  readonly #start = lazy(() => this.#begin())
  /** Tells the changes of this process from those of others. */
  readonly #writer: string = crypto.randomUUID()
  /** The marks of claims whose answers are lost, by node: their tasks are those of the node, which does not know. */
  readonly #lostClaims = new Map<string, string>()
  /** The callers whose turn was last, by the tools of a claim. */
  readonly #turns = new Map<string, string>()

  /** The time of Redis, as it was last read. */
  readonly #clock: TaskClock

  constructor(link: RedisLink, news: RedisNews, leaseMs: number) {
    this.leaseMs = leaseMs
    this.#link = link
    this.#news = news
    this.#base = link.key('tasks', '')
    this.#queue = new RedisTaskQueue(link, leaseMs)
    this.#watchers = new RedisTaskWatchers(link, news, `${this.#base}:news`, this.#writer)
    this.#clock = clockFor({ now: async () => Number(await this.#run('pierheadTaskTime')) }, CLOCK)
  }

  async now(): Promise<number> {
    await this.#clock.read?.()
    return this.#clock.now()
  }

  async open(): Promise<string> {
    // Without BullMQ, no task could be created.
    await this.#queue.load()
    await this.#start()
    return String(await this.#link.run('pierheadFirst', [`${this.#base}:id`], [crypto.randomUUID()]))
  }

  async create(record: TaskRecord, room: TaskRoom): Promise<Created> {
    // A task that waited for a node could not be announced.
    await this.#queue.load()
    const bytes = bytesOf(textsOf(record))
    const { tasks, callerTasks, taskBytes } = room
    const values = [bytes, tasks, callerTasks, taskBytes, ...fieldsOf(record)]
    const reply = await this.#run('pierheadTaskCreate', ...values)
    const [outcome, detail] = reply as readonly [Created['outcome'], unknown]
    if (outcome === 'exists') return { outcome, head: headOf(typed(detail)) }
    if (outcome !== 'created') return { outcome, limit: Number(detail) } satisfies Rejected
    await this.#announce(record)
    return { outcome }
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const row = await this.#read(id, RECORD_COLUMNS)
    return row === undefined ? undefined : recordOf(row)
  }

  async head(id: string): Promise<TaskHead | undefined> {
    const row = await this.#read(id, COLUMNS)
    return row === undefined ? undefined : headOf(row)
  }

  async owned(ids: readonly string[], owner: string): Promise<readonly TaskHead[]> {
    if (ids.length === 0) return []
    const rows = await this.#run('pierheadTaskOwned', storedText(owner), ...ids.map(storedText))
    return (rows as readonly unknown[]).map((row) => headOf(typed(row)))
  }

  async read(id: string, text: TaskText, most: number): Promise<TaskExcerpt | undefined> {
    const reply = await this.#run('pierheadTaskRead', storedText(id), text, whole(most))
    return reply === null ? undefined : excerptOf(typed((reply as Row).with(0, id)), text, most)
  }

  async change(
    id: string,
    version: number,
    change: TaskChange,
    room?: TaskRoom,
  ): Promise<TaskHead | undefined> {
    const texts = changedTexts(change).flatMap(([name, text]) => [name, storedText(text)])
    const columns = changedColumns(change).flatMap(([column, value]) => [column, value ?? ''])
    const step = [storedText(id), version, crypto.randomUUID(), this.#writer, room?.taskBytes ?? '']
    const reply = await this.#run('pierheadTaskChange', ...step, ...columns, ...texts)
    if (reply === 'full') throw tasksTooLarge(room as TaskRoom)
    if (reply === null) return undefined
    const head = headOf(typed(reply))
    this.#watchers.notify([id])
    if (change.node === '' || change.dueAt !== undefined) await this.#announce(head)
    return head
  }

  async list({ server, scope, status, tool, after, limit }: TaskQuery): Promise<readonly TaskHead[]> {
    const list = listOf({ scope, status, tool })
    const filters = [server, scope, status, tool].map((text) =>
      text === undefined ? '' : `=${storedText(text)}`,
    )
    const heads: TaskHead[] = []
    let last = after === undefined ? '' : `=${storedText(after)}`
    for (let from = '-inf'; heads.length < limit;) {
      const most = Math.min(limit - heads.length, AT_ONCE)
      const reply = await this.#run('pierheadTaskList', list, from, last, most, ...filters)
      const [next, rows] = reply as readonly [string, readonly unknown[]]
      heads.push(...rows.map((row) => headOf(typed(row))))
      if (next === '') break
      from = next
      last = ''
    }
    return heads
  }

  async expire(now: number, limit: number): Promise<readonly string[]> {
    const ids: string[] = []
    while (ids.length < limit) {
      const most = Math.min(limit - ids.length, AT_ONCE)
      const removed = (await this.#run('pierheadTaskExpire', now, most)) as readonly string[]
      const names = removed.map(readableText)
      this.#watchers.notify(names)
      ids.push(...names)
      if (removed.length < most) break
    }
    return ids
  }

  async claim(
    node: string,
    now: number,
    limit: number,
    { server, tools }: OwnTasks,
  ): Promise<readonly TaskRecord[]> {
    await this.#start()
    if (limit === 0) return []
    const lost = this.#lostClaims.get(node)
    const mark = lost ?? crypto.randomUUID()
    this.#lostClaims.delete(node)
    const servers = [...new Set(['', storedText(server)])]
    const names = [servers.length, ...servers, ...tools.map(storedText)]
    const work = JSON.stringify(names)
    const last = this.#turns.get(work) ?? ''
    const claiming = this.#link.step((client, isRepeated) => {
      const mayBeDone = isRepeated || lost !== undefined ? 1 : ''
      const step = [storedText(node), now, Math.min(limit, AT_ONCE), mark, this.#writer, mayBeDone, last]
      return this.#link.script(client, 'pierheadTaskClaim', [this.#base, ...step, ...names])
    })
    const reply = await claiming.catch((error: unknown) => {
      this.#lostClaims.set(node, mark)
      throw error
    })
    const [turn, rows] = reply as readonly [string, readonly unknown[]]
    this.#turns.set(work, turn)
    const records = await Promise.all(rows.map((row) => this.#readable(typed(row), now, mark)))
    this.#watchers.notify(records.map(({ id }) => id))
    return records
  }

  async beat(node: string, until: number): Promise<void> {
    await this.#run('pierheadTaskBeat', storedText(node), until, until - FORGOTTEN_MS)
  }

  watch(onChange: (id: string) => void): () => void {
    const stop = this.#watchers.add(onChange)
    // If that fails, the next step tries again, and gets the error.
    void Promise.resolve(this.#start()).catch(() => {})
    return stop
  }

  onReady(server: string, onReady: () => Promise<void>): () => Promise<void> {
    return this.#queue.listen(storedText(server), async (id) => {
      const waits = async (): Promise<boolean> => isWaiting(await this.head(id))
      if (!(await waits())) return true
      await onReady()
      return !(await waits())
    })
  }

  /** Closes the connections of the driver, which all its stores share. */
  async close(): Promise<void> {
    if (!this.#link.lifetime.isOver) await this.#queue.close()
    this.#watchers.close()
    this.#news.close()
    this.#link.close()
  }

  /** Looks at the version of the keys, and begins to listen. */
  async #begin(): Promise<true> {
    await this.#link.checkVersion('tasks', `${this.#base}:version`, VERSION)
    await this.#watchers.start()
    return true
  }

  async #run(name: TaskScriptName, ...values: readonly Argument[]): Promise<unknown> {
    await this.#start()
    return this.#link.run(name, [this.#base], values)
  }

  async #read(id: string, columns: readonly string[]): Promise<Row | undefined> {
    await this.#start()
    const name = storedText(id)
    const values = (await this.#link.call([
      'HMGET',
      `${this.#base}:t:${name}`,
      ...columns,
    ])) as readonly unknown[]
    return values.every((value) => value === null) ? undefined : typed([name, ...values.slice(1)])
  }

  /** Tells a node of a task that waits for one, when it may begin. */
  async #announce(head: TaskHead): Promise<void> {
    if (isWaiting(head)) await this.#queue.add(head, head.dueAt - this.#clock.now())
  }

  /** The record of a claimed row. One that cannot be read becomes that of a task that failed. */
  async #readable(row: Row, now: number, mark: string): Promise<TaskRecord> {
    const id = String(row[0])
    const { record, damage } = readRecord(row, { id: readableText(id), now })
    if (damage === undefined) return record
    const failed = { ...record, version: record.version + 1 }
    await this.#run('pierheadTaskReplace', id, mark, this.#writer, ...fieldsOf(failed))
    return failed
  }
}

/** Whether any node may begin a task. */
function isWaiting(head: TaskHead | undefined): boolean {
  return head !== undefined && head.node === '' && !isFinal(head.status)
}

/** The list that has the fewest tasks besides those that are meant. */
function listOf({ scope, status, tool }: Pick<TaskQuery, 'scope' | 'status' | 'tool'>): string {
  if (scope !== undefined) return `:scope:${storedText(scope)}`
  if (status === undefined) return tool === undefined ? ':all' : `:tool:${storedText(tool)}`
  return tool === undefined ? `:status:${status}` : `:status:${status}\0${storedText(tool)}`
}

/** The columns and values of a task. */
function fieldsOf(record: TaskRecord): readonly Argument[] {
  const values = [...valuesOf(record), ...textsOf(record)]
  const names = [...COLUMNS, 'expires_at', 'request', 'state', 'outcome']
  return names.flatMap((name, index) => [name, values[index] ?? ''])
}

const NUMBERS = new Set(
  'is_error created_at updated_at ttl_ms poll_ms attempt due_at version is_shared'.split(' '),
)

/** A row with numbers where columns have numbers. Those that cannot be read are not numbers. */
function typed(reply: unknown): Row {
  return (reply as Row).map((value, index) => {
    const column = RECORD_COLUMNS[index] ?? ''
    // Older programs have none.
    if (column === 'same') return value ?? ''
    if (!NUMBERS.has(column)) return value
    if (column === 'ttl_ms' && value === '') return null
    return value === null || value === '' ? Number.NaN : Number(value)
  })
}
