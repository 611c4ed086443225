import { doubledMs } from '../base/backoff.ts'
import { nextTask } from '../base/next-task.ts'
import { orElse, soon } from '../base/soon.ts'
import { textBytes } from '../base/weight.ts'
import { bytesOf, heldBytesOf, requestBytesOf, NOBODY, storedHolder, type TaskHolder } from './bytes.ts'
import { type Claimed, readClaimed } from './claimed.ts'
import { endDamaged } from './damage.ts'
import { PutBack, type PutBackTask } from './put-back.ts'
import type { TaskHead, TaskRecord } from './record.ts'
import { postponeTask, resumeTask } from './resume.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon } from './store.ts'

/** The most tasks that are claimed at once, and how many at first: nobody knows how large they are. After longer texts than these, fewer. */
const AT_ONCE = { first: 8, most: 100, chars: 4_194_304 }
/** The length of texts after which others get a turn. */
const TURN_CHARS = 65_536
/** The pauses before a task that has no room here is looked at again. */
const PAUSES = { firstMs: 1000, maxMs: 30_000 }
/** How often a task is put back for lack of room, which takes half a minute, until it runs beyond the limit. */
const PATIENCE = 5

/** The memory that a task lacked, and how often. */
interface Shortage {
  readonly holder: TaskHolder
  readonly bytes: number
  readonly times: number
}

/** Claims tasks of this server that other nodes left or that are due, as long as they can run here. */
export class Claims {
  readonly #tasks: TaskRunner
  #limit = AT_ONCE.first
  #isShort = false
  /** Tools that may have more tasks in the store than places. */
  readonly #full = new Set<string>()
  /** Tasks that wait for room. */
  readonly #short = new PutBack<Shortage>()
  /** Tasks that wait for another attempt. */
  readonly #paused = new PutBack<undefined>()
  /** The task that runs although there was no room for it: one at a time. */
  #exceeding = ''

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
  }

  /** Whether tasks that wait in the store may begin now that one of a tool has ended here; asked again, no, until the next claim or more room. */
  takeShortage(tool: string): boolean {
    const isShort = this.#full.delete(tool) || this.#isShort
    this.#isShort = false
    return isShort || (this.#short.size > 0 && this.#fitting().length > 0)
  }

  /** A task waits for another attempt. */
  pause(head: TaskHead, pauseMs: number): void {
    this.#paused.add({ head, at: this.#tasks.clock.elapsed() + pauseMs, why: undefined })
  }

  /** Keeps to the pauses of tasks after the wall clock was set back. Answers when the first is due. */
  async correct(now: number): Promise<number> {
    const { store, clock } = this.#tasks
    const all = [this.#paused, this.#short].map((some) => some.correct(store, now, clock.elapsed()))
    return Math.min(...(await Promise.all(all)))
  }

  /** Claims and runs some tasks. Says whether there may be more. */
  async take(now: number): Promise<boolean> {
    this.#isShort = false
    this.#full.clear()
    const early = this.#fitting().filter(({ head }) => head.dueAt > now)
    await Promise.all(early.map(async (task) => this.#short.move(this.#tasks.store, task, now)))
    const free: string[] = []
    let isMore = false
    for (const tool of this.#tasks.host.tools()) {
      const places = this.#tasks.gates.openFor(tool)
      if (places === Infinity) free.push(tool)
      else {
        if (places <= this.#limit) this.#full.add(tool)
        isMore = (await this.#takeOf([tool], places, now)) || isMore
      }
    }
    return (await this.#takeOf(free, Infinity, now)) || isMore
  }

  /** The tasks that may begin now, all of them together. */
  #fitting(): readonly PutBackTask<Shortage>[] {
    const fitting: PutBackTask<Shortage>[] = []
    let sum = 0
    let looks = AT_ONCE.most
    let isExceeded = false
    for (const task of this.#short.values()) {
      if (looks-- === 0) break
      const { holder, bytes } = task.why
      if (this.#tasks.bytes.hasRoom(holder, sum + bytes)) sum += bytes
      else if (!isExceeded && this.#mayExceed(task.why)) isExceeded = true
      else continue
      fitting.push(task)
    }
    return fitting
  }

  async #takeOf(tools: readonly string[], places: number, now: number): Promise<boolean> {
    const { store, node, host } = this.#tasks
    const limit = Math.min(places, this.#limit)
    if (limit <= 0 || this.#tasks.isClosing) return false
    const records = await store.claim(node, now, limit, { server: host.server, tools })
    for (const { tool } of records) this.#tasks.gates.came(tool, 1)
    this.#reportOrphans(records)
    const left = await this.#runAll(records, now)
    this.#isShort ||= left > 0
    const isAll = records.length === limit
    const chars = records.reduce((sum, record) => sum + charsOf(record), 0)
    if (left > 0) this.#limit = 1
    else if (chars > AT_ONCE.chars)
      this.#limit = Math.max(1, Math.floor((records.length * AT_ONCE.chars) / chars))
    else if (isAll) this.#limit = Math.min(this.#limit * 2, AT_ONCE.most)
    // Those behind a task that has no room may have some.
    return isAll && (limit < places || left > 0)
  }

  /** Says that another process died. Its tasks have no time when they are due; those that wait for something have one. */
  #reportOrphans(records: readonly TaskRecord[]): void {
    const [first, ...others] = records.filter(({ dueAt }) => dueAt <= 0)
    if (first === undefined) return
    const facts = { tasks: 1 + others.length, first: first.id }
    this.#tasks.host.report('warning', 'this process takes over tasks of one that died', facts)
  }

  /** Runs tasks, with a turn for others after long ones, and gives back those that cannot run here. Answers how many these are. */
  async #runAll(records: readonly TaskRecord[], now: number): Promise<number> {
    const givenBack: unknown[] = []
    const errors: unknown[] = []
    let chars = 0
    for (const record of records) {
      if (chars > TURN_CHARS) {
        await nextTask()
        chars = 0
      }
      chars += charsOf(record)
      const left = this.#run(record)
      if (left === undefined) continue
      // One that fails keeps no other from running.
      const back = orElse(
        () => this.#giveBack(left, now),
        (error) => errors.push(error),
      )
      givenBack.push(back)
    }
    await Promise.all(givenBack)
    if (errors.length > 0) throw errors[0]
    return givenBack.length
  }

  /** Runs a task, or ends it if its record is damaged. Answers it if there is no room, or the server closes. */
  #run(record: TaskRecord): Claimed | undefined {
    const claimed = readClaimed(record)
    if ('damage' in claimed) {
      this.#tasks.unawaited(() => endDamaged(this.#tasks, record, claimed.damage))
      return undefined
    }
    if (this.#tasks.isClosing) return claimed
    const { id } = record
    const { holder, bytes } = needOf(claimed)
    if (!this.#tasks.bytes.set(id, holder, bytes)) {
      if (!this.#mayExceed(this.#short.get(id)?.why)) return claimed
      this.#exceeding = id
    }
    this.#short.delete(id)
    this.#paused.delete(id)
    resumeTask(this.#tasks, claimed, holder)
    return undefined
  }

  /** Whether a task runs although there is no room: nothing else runs, or it has waited for long because of tasks of others, which may never end. */
  #mayExceed(shortage: Shortage | undefined): boolean {
    const { runs, bytes } = this.#tasks
    if (runs.size === 0) return true
    if (shortage === undefined || shortage.times < PATIENCE) return false
    return runs.get(this.#exceeding) === undefined && !bytes.hasRoom(NOBODY, shortage.bytes)
  }

  #giveBack(claimed: Claimed, now: number): Soon<unknown> {
    const { id, version } = claimed.record
    if (this.#tasks.isClosing) return this.#tasks.store.change(id, version, { node: '' })
    const times = this.#short.get(id)?.why.times ?? 0
    const pauseMs = doubledMs(times, PAUSES)
    // Whole seconds, so that one look serves many.
    const dueAt = Math.ceil((now + pauseMs) / 1000) * 1000
    const at = this.#tasks.clock.elapsed() + pauseMs
    this.#tasks.upkeep.due(dueAt)
    const need = needOf(claimed)
    return soon(postponeTask(this.#tasks, claimed, dueAt), (head) => {
      if (head !== undefined) this.#short.add({ head, at, why: { ...need, times: times + 1 } })
    })
  }
}

/** The length of the texts of a record that are parsed. */
function charsOf({ request, state }: TaskRecord): number {
  return request.length + state.length
}

/** The memory that a stored task takes once it runs. */
function needOf({ record, request, shared }: Claimed): Omit<Shortage, 'times'> {
  const bytes = textBytes(record.request)
  const held = heldBytesOf(requestBytesOf(request, bytes), shared)
  return { holder: storedHolder(record), bytes: bytesOf(bytes, record.state) + held }
}
