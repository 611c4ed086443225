import { doubledMs } from '../base/backoff.ts'
import { textBytes } from '../base/weight.ts'
import { bytesOf, storedHolder } from './bytes.ts'
import { damageOf, endDamaged } from './damage.ts'
import type { TaskRecord } from './record.ts'
import { postponeTask, resumeTask } from './resume.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon } from './store.ts'

/** The most tasks that are claimed at once, and how many at first: nobody knows how large they are. */
const AT_ONCE = { first: 8, most: 100 }
/** The pauses before a task that has no room here is looked at again. */
const PAUSES = { firstMs: 1000, maxMs: 30_000 }
/** The most tasks without room that are remembered. Of those beyond, the pauses begin again. */
const MOST_POSTPONED = 10_000

/** Claims tasks of this server that other nodes left or that are due, as long as they can run here. */
export class Claims {
  readonly #tasks: TaskRunner
  #limit = AT_ONCE.first
  #isShort = false
  /** How often tasks that wait had no room. */
  readonly #postponed = new Map<string, number>()

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
  }

  /** Whether tasks may wait in the store until others have ended here; asked again, no, until the next claim. */
  takeShortage(): boolean {
    const isShort = this.#isShort
    this.#isShort = false
    return isShort
  }

  /** Claims and runs some tasks. Says whether there may be more. */
  async take(now: number): Promise<boolean> {
    this.#isShort = false
    const free: string[] = []
    let isMore = false
    for (const tool of this.#tasks.host.tools()) {
      const places = this.#tasks.placesOf(tool)
      if (places === Infinity) free.push(tool)
      else isMore = (await this.#takeOf([tool], places, now)) || isMore
    }
    return (await this.#takeOf(free, Infinity, now)) || isMore
  }

  async #takeOf(tools: readonly string[], places: number, now: number): Promise<boolean> {
    const { store, node, host } = this.#tasks
    const limit = Math.min(places, this.#limit)
    this.#isShort ||= limit === places
    if (limit <= 0 || this.#tasks.isClosing) return false
    const records = await store.claim(node, now, limit, { server: host.server, tools })
    const left = records.filter((record) => !this.#run(record))
    this.#isShort ||= left.length > 0
    await Promise.all(left.map((record) => this.#giveBack(record, now)))
    const isAll = records.length === limit
    if (left.length > 0) this.#limit = 1
    else if (isAll) this.#limit = Math.min(this.#limit * 2, AT_ONCE.most)
    // Those behind a task that has no room may have some.
    return isAll && (limit < places || left.length > 0)
  }

  /** Runs a task, or ends it if its record is damaged. False if there is no room, or the server closes. */
  #run(record: TaskRecord): boolean {
    const damage = damageOf(record)
    if (damage !== undefined) {
      this.#tasks.unawaited(() => endDamaged(this.#tasks, record, damage))
      return true
    }
    if (this.#tasks.isClosing) return false
    const { bytes, runs } = this.#tasks
    const { id, request, state } = record
    const holder = storedHolder(record)
    // One that is larger than all the room runs alone.
    const hasRoom = bytes.set(id, holder, bytesOf(textBytes(request), state)) || runs.size === 0
    if (!hasRoom) return false
    this.#postponed.delete(id)
    resumeTask(this.#tasks, record, holder)
    return true
  }

  #giveBack(record: TaskRecord, now: number): Soon<unknown> {
    const { id, version } = record
    if (this.#tasks.isClosing) return this.#tasks.store.change(id, version, { node: '' })
    const times = this.#postponed.get(id) ?? 0
    this.#postponed.delete(id)
    this.#postponed.set(id, times + 1)
    const [oldest] = this.#postponed.keys()
    if (this.#postponed.size > MOST_POSTPONED) this.#postponed.delete(oldest as string)
    // Whole seconds, so that one look serves many.
    const dueAt = Math.ceil((now + doubledMs(times, PAUSES)) / 1000) * 1000
    this.#tasks.upkeep.due(dueAt)
    return postponeTask(this.#tasks, record, dueAt)
  }
}
