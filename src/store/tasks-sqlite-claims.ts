import type { OwnTasks } from '../tasks/store.ts'
import type { Row, Value } from './sqlite-engine.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { storedText } from './stored-text.ts'
import { TURN, UNFINISHED, UNREADABLE } from './tasks-schema.ts'
import { whole } from './tasks-sizes.ts'

const NEXT_NODE = `SELECT node FROM pierhead_task_heads INDEXED BY pierhead_tasks_by_node WHERE server = ? AND node > ? AND ${UNFINISHED} ORDER BY node LIMIT 1`

/** Those of some tools that have tasks which are due. */
const DUE_TOOLS = `SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM pierhead_task_heads WHERE server = ? AND node = ? AND tool = value AND due_at <= ? AND ${UNFINISHED})`
const OLDEST = `SELECT seq FROM pierhead_task_heads WHERE server = ? AND node = ? AND tool = ? AND due_at <= ? AND ${UNFINISHED} ORDER BY due_at LIMIT ?`

/** The caller after another one, and its first task. */
const NEXT_TURN = `SELECT ${TURN} FROM pierhead_task_heads WHERE server = ? AND node = ? AND tool = ? AND ${TURN} > ? AND ${UNFINISHED} ORDER BY ${TURN} LIMIT 1`
const FIRST_OF = `SELECT seq FROM pierhead_task_heads WHERE server = ? AND node = ? AND tool = ? AND ${TURN} = ? AND due_at <= ? AND ${UNFINISHED} ORDER BY due_at LIMIT 1`
/** How many callers without a task that is due are passed over in one step. */
const MOST_PASSED = 100

/** Tasks of a tool that no living node runs, of which some are due. */
type Queue = readonly [server: string, node: Value, tool: Value]

/** Finds the tasks that a node may claim in a file of SQLite. */
export class SqliteTaskClaims {
  readonly #file: SqliteFile
  /** The callers whose turn was last, by the tools of a claim. */
  readonly #turns = new Map<string, Value>()

  constructor(file: SqliteFile) {
    this.#file = file
  }

  /** Whether there are any. */
  areThere(node: string, now: number, own: OwnTasks): boolean {
    if (this.#unreadable(1).length > 0) return true
    return this.#queues(node, now, own).length > 0
  }

  /** Calls `take` with each of at most `limit` tasks; that removes it from those that can be found. Callers take turns. */
  each(node: string, now: number, limit: number, own: OwnTasks, take: (seq: number) => void): void {
    let left = whole(limit)
    const claim = (seq: number): void => {
      left--
      take(seq)
    }
    for (const seq of this.#unreadable(left)) claim(seq)
    const queues = this.#queues(node, now, own)
    const takeOf = (caller: Value): boolean => {
      const seq = left > 0 ? this.#firstOf(caller, queues, now) : undefined
      if (seq !== undefined) claim(seq)
      return seq !== undefined
    }
    const work = JSON.stringify([own.server, own.tools])
    const { isAll, callers } = this.#round(queues, work, () => left > 0, takeOf)
    for (let some = callers; some.length > 0 && left > 0;)
      some = some.filter((caller) => {
        const isTaken = takeOf(caller)
        if (isTaken && isAll) this.#turns.set(work, caller)
        return isTaken
      })
    // If too many callers were passed over, the oldest tasks remain: those of dead nodes first.
    for (const queue of queues) for (const seq of this.#oldest(queue, now, left)) claim(seq)
  }

  /** Gives each caller a turn, from the one after the last. Answers those who had a task, and whether it was all of them. */
  #round(
    queues: readonly Queue[],
    work: string,
    isMore: () => boolean,
    takeOf: (caller: Value) => boolean,
  ): { readonly isAll: boolean; readonly callers: readonly Value[] } {
    const visited = new Set<Value>()
    const callers: Value[] = []
    let last = this.#turns.get(work)
    for (let passed = 0; isMore() && passed < MOST_PASSED;) {
      // Those without a name come first.
      const caller = (last === undefined ? undefined : this.#after(last, queues)) ?? ''
      if (visited.has(caller)) return { isAll: true, callers }
      visited.add(caller)
      last = caller
      this.#turns.set(work, caller)
      if (takeOf(caller)) callers.push(caller)
      else passed++
    }
    return { isAll: false, callers }
  }

  #after(last: Value, queues: readonly Queue[]): Value | undefined {
    const next = queues.map((queue) => this.#file.get(NEXT_TURN, ...queue, last)?.[0] as Value | undefined)
    return next.filter((caller) => caller !== undefined).toSorted(inOrder)[0]
  }

  #firstOf(caller: Value, queues: readonly Queue[], now: number): number | undefined {
    for (const queue of queues) {
      const row = this.#file.get(FIRST_OF, ...queue, caller, now)
      if (row !== undefined) return Number(row[0])
    }
    return undefined
  }

  #oldest(queue: Queue, now: number, limit: number): readonly number[] {
    if (limit <= 0) return []
    return this.#file.all(OLDEST, ...queue, now, limit).map(([seq]) => Number(seq))
  }

  /** The tasks that `node` may claim: those of dead nodes, and then those of none. It asks once for each node and tool, whatever the number of tasks. */
  #queues(node: string, now: number, { server, tools }: OwnTasks): readonly Queue[] {
    const servers = [...new Set(['', storedText(server)])]
    const names = JSON.stringify(tools.map(storedText))
    const dead: (readonly [server: string, node: Value])[] = []
    for (const of of servers) {
      const after = (name: Value): Row | undefined => this.#file.get(NEXT_NODE, of, name)
      for (let row = after(''); row !== undefined; row = after(row[0] as Value)) {
        const name = row[0] as Value
        const [until] = this.#file.get('SELECT until FROM pierhead_nodes WHERE node = ?', name) ?? []
        // The node that asks is alive. A time that cannot be read is not in the future.
        if (name !== storedText(node) && !(Number(until ?? 0) > now)) dead.push([of, name])
      }
    }
    return [...dead, ...servers.map((of) => [of, ''] as const)].flatMap(([of, name]) =>
      this.#file.all(DUE_TOOLS, names, of, name, now).map(([tool]): Queue => [of, name, tool as Value]),
    )
  }

  /** Tasks that can be found in no other way, because they are damaged. */
  #unreadable(limit: number): readonly number[] {
    const sql = `SELECT seq FROM pierhead_task_heads WHERE ${UNREADABLE} ORDER BY seq LIMIT ?`
    return this.#file.all(sql, limit).map(([seq]) => Number(seq))
  }
}

function inOrder(one: Value, other: Value): number {
  return Number(String(one) > String(other)) - Number(String(one) < String(other))
}
