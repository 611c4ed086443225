import { textBytes } from '../base/weight.ts'
import { bytesOf, holderOf } from './bytes.ts'
import { damageOf, endDamaged } from './damage.ts'
import type { TaskRecord } from './record.ts'
import { resumeTask } from './resume.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon } from './store.ts'

/** The most tasks that are claimed at once, and how many at first: nobody knows how large they are. */
const AT_ONCE = { first: 8, most: 100 }

/** Claims tasks of this server that other nodes left or that are due, as long as they can run here. */
export class Claims {
  readonly #tasks: TaskRunner
  #limit = AT_ONCE.first
  #isShort = false

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
    await Promise.all(left.map((record) => this.#giveBack(record)))
    const isAll = left.length === 0 && records.length === limit
    if (isAll) this.#limit = Math.min(this.#limit * 2, AT_ONCE.most)
    else if (left.length > 0) this.#limit = 1
    return isAll && limit < places
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
    // One that is larger than all the room runs alone.
    const hasRoom = bytes.set(id, holderOf(record), bytesOf(textBytes(request), state)) || runs.size === 0
    if (hasRoom) resumeTask(this.#tasks, record)
    return hasRoom
  }

  #giveBack({ id, version }: TaskRecord): Soon<unknown> {
    return this.#tasks.store.change(id, version, { node: '' })
  }
}
