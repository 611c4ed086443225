import { toMs, type Duration } from '../base/duration.ts'
import type { TaskRecord } from '../tasks/record.ts'
import type { OwnTasks, Soon, TaskRoom, TaskStore } from '../tasks/store.ts'

/** One check of a contract, for any test runner. */
export interface ContractCheck {
  /** The promise that it checks. */
  readonly name: string
  /** Rejects with an error that says what was wrong. */
  run(): Promise<void>
}

/** How a contract reaches the store that it checks. */
export interface TaskStoreContractOptions {
  /** Opens the store at a place: a name of letters, digits and hyphens that is new for each check. A place is empty at first. */
  readonly open: (place: string) => Soon<TaskStore>
  /**
   * Whether opening a place again, at the same time or after closing, gives a store with the same tasks. Then durability and
   * sharing are checked too. Default: `false`.
   */
  readonly durable?: boolean | undefined
  /** How long a change may take to reach watchers. Default: 20 s. */
  readonly watchTimeout?: Duration | undefined
}

/** The stores of one check. */
export interface Stores {
  /** A store that is empty at first. */
  readonly store: TaskStore
  /** Opens a further store at the same place; the same store again if that is not possible. */
  again(): Promise<TaskStore>
  /** Fails unless a watcher of a store hears of a task after the act. */
  heard(store: TaskStore, id: string, act: () => unknown): Promise<void>
}

/** The promises of a contract, with a check for each. */
export type Checks = Readonly<Record<string, (stores: Stores) => Promise<void>>>

/** The tasks that a node of a check may claim. */
export const OWN: OwnTasks = { server: 'films', tools: ['mix', 'render'] }

/** Room for every task of a check. */
export const ROOMY: TaskRoom = { tasks: 100_000, callerTasks: 100_000, taskBytes: 1e12 }

let made = 0

/** A task for a check, with an id of its own. */
export function sampleTask(members: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: `task-${++made}-${crypto.randomUUID()}`,
    server: 'films',
    owner: 'ada',
    scope: 'ada',
    network: '',
    tool: 'render',
    key: '',
    same: '',
    isShared: false,
    status: 'working',
    statusMessage: '',
    isError: false,
    createdAt: 1_800_000_000_000,
    updatedAt: 1_800_000_000_000,
    ttlMs: null,
    pollMs: 1000,
    attempt: 1,
    dueAt: 0,
    node: 'node-1',
    version: 1,
    request: '{"params":{"name":"render"}}',
    state: '',
    outcome: '',
    ...members,
  }
}

/** Adds tasks one after the other, each with the members of its position, and answers their ids. Stores that make ids make those of these tasks. */
export async function addTasks(
  store: TaskStore,
  count: number,
  members: (position: number) => Partial<TaskRecord> = () => ({}),
): Promise<readonly string[]> {
  const ids: string[] = []
  for (let position = 0; position < count; position++) {
    const own = store.newId === undefined ? {} : { id: store.newId() }
    const task = sampleTask({ ...own, ...members(position) })
    assertSame(await store.create(task, ROOMY), { outcome: 'created' }, 'create answers')
    ids.push(task.id)
  }
  return ids
}

/** Fails unless two values have the same members. */
export function assertSame(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [written(actual), written(expected)]
  if (is !== should) throw new Error(`${what}: expected ${clipped(should)}, got ${clipped(is)}`)
}

/** Fails unless the act fails, now or later. */
export async function assertFails(act: () => unknown, what: string): Promise<void> {
  try {
    await act()
  } catch {
    return
  }
  throw new Error(`${what}: expected an error, got none`)
}

/** Runs the checks one by one, each with stores of its own, which are closed at its end. */
export function contractChecks(
  { open, durable = false, watchTimeout = '20s' }: TaskStoreContractOptions,
  checks: Checks,
): readonly ContractCheck[] {
  const ms = toMs(watchTimeout, 'taskStoreContract')
  return Object.entries(checks).map(([name, check]) => ({
    name,
    async run() {
      const place = `check-${crypto.randomUUID()}`
      const store = await open(place)
      const opened = [store]
      const again = async (): Promise<TaskStore> => {
        if (!durable) return store
        const other = await open(place)
        opened.push(other)
        return other
      }
      try {
        await check({ store, again, heard: (...given) => assertHeard(ms, ...given) })
      } finally {
        for (const one of opened) await one.close()
      }
    },
  }))
}

/** A value as text, with members in one order. */
function written(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (member === undefined) return '(undefined)'
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
}

function clipped(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}… (${text.length} characters)` : text
}

/** Fails unless a watcher hears of a task after the act, within the time. */
async function assertHeard(ms: number, store: TaskStore, id: string, act: () => unknown): Promise<void> {
  let stop = (): void => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  const heard = new Promise<void>((resolve, reject) => {
    stop = store.watch((one) => {
      if (one === id) resolve()
    })
    timer = setTimeout(() => reject(new Error('a watcher never heard of a task that changed')), ms)
  })
  // Without it, a time that is over during the act would be an unhandled rejection.
  heard.catch(() => {})
  try {
    await act()
    await heard
  } finally {
    clearTimeout(timer)
    stop()
  }
}
