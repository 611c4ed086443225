import { orElse, soon } from '../base/soon.ts'
import { TurnoverMap } from '../base/turnover-map.ts'
import { mcpError } from '../errors/error.ts'
import { SOON } from '../errors/retry-after.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import { storedHolder, TaskBytes } from './bytes.ts'
import { RecentTexts } from './recent-texts.ts'
import type { TaskHead } from './record.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon, TaskExcerpt, TaskText } from './store.ts'

/** Texts up to this size are read at once; of longer ones, the size is asked for first. */
const SHORT_BYTES = 65_536
/** The bytes of texts that are read at the same time: at least these, and those of so many results. */
const LEAST_BYTES = 67_108_864
const LEAST_RESULTS = 8
/** How often a text may grow while it is read. */
const TRIES = 5
/** The outcomes of failed tasks that are remembered, and their longest. */
const MOST_FAILURES = 1000
const FAILURE_CHARS = 4096
const OF_ANY_SIZE = Number.MAX_SAFE_INTEGER
const HINT = 'Read the task again later: the server is reading the texts of many tasks.'

/** A text of a task with the head that belongs to it. */
export interface ReadText {
  readonly head: TaskHead
  readonly text: string
}

type Found = ReadText | undefined

/**
 * Reads single texts of tasks. Those who want the same text at the same time share one read, and the bytes of all reads that are under
 * way are bounded, for each caller and in total: a request of a few bytes may ask for a text of many.
 */
export class TaskReads {
  readonly #tasks: TaskRunner
  readonly #bytes: TaskBytes
  readonly #underWay = new TurnoverMap<string, Promise<Found>>()
  /** A failed task keeps its request, for a retry, which may be so long that some stores take long to find what is behind it. */
  readonly #failures = new Map<string, string>()

  readonly #recent: RecentTexts

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
    this.#recent = new RecentTexts(tasks.clock)
    this.#bytes = new TaskBytes(Math.max(LEAST_BYTES, LEAST_RESULTS * tasks.host.limits.taskResultBytes))
  }

  /** A text of a task, at the version of a head or later; undefined if the task is gone. Fails with `overloaded` if too much is being read. */
  of(head: TaskHead, name: TaskText): Soon<Found> {
    if (name !== 'outcome') return this.#shared(head, name, false)
    const known = this.#recent.get(head.id) ?? this.#failures.get(head.id)
    if (known !== undefined && isFinal(head.status)) return { head, text: known }
    return soon(this.#shared(head, name, false), (found) => {
      if (found !== undefined) this.#remember(found)
      return found
    })
  }

  /** The state of a task that runs here. It counts like others, but is never rejected: there is one read for each run. */
  forRun(head: TaskHead): Soon<Found> {
    return this.#shared(head, 'state', true)
  }

  #shared(head: TaskHead, text: TaskText, isForced: boolean): Soon<Found> {
    const name = `${isForced} ${text} ${head.id}`
    const before = this.#underWay.get(name)
    if (before !== undefined)
      // It may have begun before the change that the caller knows.
      return before.then((found) =>
        found === undefined || found.head.version >= head.version
          ? found
          : this.#shared(head, text, isForced),
      )
    const found = this.#read(head, text, isForced)
    if (!(found instanceof Promise)) return found
    this.#underWay.set(name, found)
    const forget = (): void => {
      if (this.#underWay.get(name) === found) this.#underWay.delete(name)
    }
    found.then(forget, forget)
    return found
  }

  #read({ id }: TaskHead, text: TaskText, isForced: boolean): Soon<Found> {
    const { store, isInMemory } = this.#tasks
    const most = isInMemory ? OF_ANY_SIZE : SHORT_BYTES
    return soon(store.read(id, text, most), (found) => this.#rest(found, text, isForced, TRIES))
  }

  /** Reads a text that was too long. */
  #rest(found: TaskExcerpt | undefined, name: TaskText, isForced: boolean, tries: number): Soon<Found> {
    if (found === undefined) return undefined
    const { head, text, bytes } = found
    if (text !== undefined) return { head, text }
    const holder = storedHolder(head)
    const isFree = isForced || this.#bytes.total === 0 || this.#bytes.hasRoom(holder, bytes)
    if (!isFree || tries === 0) throw mcpError(OVERLOADED, {}, { ...SOON, hint: HINT })
    const read = {}
    this.#bytes.force(read, holder, bytes)
    const reading = orElse(
      () => this.#tasks.store.read(head.id, name, bytes),
      (error) => {
        this.#bytes.delete(read)
        throw error
      },
    )
    return soon(reading, (again) => {
      this.#bytes.delete(read)
      return this.#rest(again, name, isForced, tries - 1)
    })
  }

  #remember({ head: { id, status }, text }: ReadText): void {
    if (this.#tasks.isInMemory) return
    if (status === 'completed' && text.length > SHORT_BYTES) this.#recent.set(id, text)
    if (status !== 'failed' || text.length > FAILURE_CHARS) return
    this.#failures.set(id, text)
    const [oldest] = this.#failures.keys()
    if (this.#failures.size > MOST_FAILURES) this.#failures.delete(oldest as string)
  }
}
