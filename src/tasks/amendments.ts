import { soon } from '../base/soon.ts'
import { TurnoverMap } from '../base/turnover-map.ts'
import { mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import { AttemptState } from './attempt-state.ts'
import type { TaskHead } from './record.ts'
import type { Run } from './run.ts'
import { TRIES } from './runner.ts'
import { stateAfter } from './states.ts'
import type { Soon, TaskChange } from './store.ts'
import type { Tasks } from './tasks.ts'

/** Something that settles questions of a task. */
export interface Amendment {
  /** The questions that it may settle. */
  readonly names: readonly string[]
  /** Whether it happens whatever room there is. */
  readonly isForced: boolean
  /** Settles them with the run, if that is here. False if the run is over, so that the record decides. */
  here(run: Run): Soon<boolean>
  /** Settles them in the state of the record. False if that changes nothing. */
  amend(shared: AttemptState): boolean
}

const nothing = (): void => undefined

/**
 * Settles questions: with the run, if it is here, or else in the record, where the node of the run sees it. A state may be large, so
 * the amendments of one task wait for each other, and read it only if one of their questions is still open.
 */
export class Amendments {
  readonly #tasks: Tasks
  readonly #last = new TurnoverMap<string, Promise<void>>()

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** False if the task does not exist. */
  settle(id: string, owner: string, amendment: Amendment): Soon<boolean> {
    return soon(this.#tasks.find(id, owner), (head) => {
      if (head === undefined) return false
      const run = this.#tasks.runs.get(id)
      const isDone = run === undefined ? false : amendment.here(run)
      return soon(isDone, (isOver) => isOver || this.#inTurn(id, () => this.#amend(head, amendment, TRIES)))
    })
  }

  #inTurn(id: string, act: () => Soon<boolean>): Soon<boolean> {
    const before = this.#last.get(id)
    const done = before === undefined ? act() : before.then(act)
    if (!(done instanceof Promise)) return done
    const last = done.then(nothing, nothing)
    this.#last.set(id, last)
    void last.then(() => {
      if (this.#last.get(id) === last) this.#last.delete(id)
    })
    return done
  }

  #amend({ id, owner }: TaskHead, amendment: Amendment, tries: number): Soon<boolean> {
    if (tries === 0) throw mcpError(OVERLOADED, {})
    const { questions, reads, runs } = this.#tasks
    return soon(this.#tasks.find(id, owner), (head) => {
      if (head === undefined) return false
      const again = (isDone: boolean): Soon<boolean> => isDone || this.#amend(head, amendment, tries - 1)
      const run = runs.get(id)
      if (run !== undefined) return soon(amendment.here(run), again)
      if (isFinal(head.status) || amendment.names.length === 0) return true
      return soon(questions.of(head), (open) => {
        if (open === undefined) return false
        if (open.every(([name]) => !amendment.names.includes(name))) return true
        return soon(reads.of(head, 'state'), (found) => {
          if (found === undefined) return false
          const shared = AttemptState.of(found.text)
          return isFinal(found.head.status) || !amendment.amend(shared)
            ? true
            : soon(this.#write(found.head, shared, amendment.isForced), again)
        })
      })
    })
  }

  /** Writes a state. False if another change came first. */
  #write(head: TaskHead, shared: AttemptState, isForced: boolean): Soon<boolean> {
    const { clock, host, questions, store } = this.#tasks
    const status = shared.questions.length === 0 ? stateAfter(head.status, 'answer') : undefined
    const change: TaskChange = { state: shared.text, updatedAt: clock.now(), ...(status && { status }) }
    const room = isForced ? undefined : host.limits
    return soon(store.change(head.id, head.version, change, room), (next) => {
      if (next !== undefined) questions.know(next, shared.questions)
      return next !== undefined
    })
  }
}
