import { Deferred } from '../base/deferred.ts'
import type { McpError } from '../errors/error.ts'
import { STORE_FAILED } from '../errors/store.ts'
import { CallerTurns } from './caller-turns.ts'
import { crowded } from './crowded.ts'
import type { PostgresLink, Session } from './postgres-link.ts'
import { readableText, storedText } from './stored-text.ts'
import type { StoredHolder } from './tasks-counts.ts'
import { PostgresTaskCounts } from './tasks-postgres-counts.ts'
import { sizesOf, type TaskSizes } from './tasks-postgres-sizes.ts'

/** A transaction that changes sums. */
export interface CountedTransaction {
  readonly session: Session
  readonly counts: PostgresTaskCounts
  /** Whether it may have been committed already. */
  readonly isRepeated: boolean
  /** The sizes of the tasks that its steps change, as they were at its beginning. */
  readonly sizes: ReadonlyMap<string, TaskSizes>
}

/** A step that changes sums. It may run more than once. */
export type CountedStep<Value> = (transaction: CountedTransaction) => Promise<Value>

/** The rows that a step will read, so that one statement reads them for all steps of a transaction. */
export interface StepNeeds {
  /** The task that it changes. */
  readonly id?: string
  /** The scope and network whose sums it changes. */
  readonly holder?: StoredHolder
}

interface Waiting {
  readonly step: CountedStep<unknown>
  readonly needs: StepNeeds
  readonly answer: Deferred<unknown>
  readonly until: number
}

/** How many steps share a transaction. Others wait for the lock meanwhile. */
const MOST_TOGETHER = 64

/** How many steps wait. */
const MOST_WAITING = 10_000

/** The callers of tasks. */
const CALLERS = 'SELECT id, scope, network FROM pierhead_tasks WHERE id = ANY (?::text[])'

/**
 * Runs steps that change sums. One transaction at a time holds the lock of the sums, on all nodes, so the steps of a node that wait for it
 * share one: they wait for the disk once. Callers take turns while more steps wait than can share one.
 */
export class PostgresSteps {
  readonly #link: PostgresLink
  /** The steps that came since the last transaction began. */
  #arrived: Waiting[] = []
  readonly #turns = new CallerTurns<Waiting>()
  /** How many steps wait, here and there. */
  #waiting = 0
  #isRunning = false

  constructor(link: PostgresLink) {
    this.#link = link
  }

  /** Runs a step, and answers once it is committed. */
  async run<Value>(step: CountedStep<Value>, needs: StepNeeds = {}): Promise<Value> {
    this.#link.lifetime.check()
    if (this.#waiting >= MOST_WAITING)
      throw crowded(`${MOST_WAITING} changes wait for PostgreSQL at ${this.#link.settings.place}`)
    const answer = new Deferred<unknown>()
    this.#waiting++
    this.#arrived.push({ step, needs, answer, until: performance.now() + this.#link.settings.timeoutMs })
    if (!this.#isRunning) void this.#work()
    return (await answer.promise) as Value
  }

  async #work(): Promise<void> {
    this.#isRunning = true
    // Steps that are asked for together share the first transaction too.
    await Promise.resolve()
    while (this.#waiting > 0) await this.#together(await this.#next())
    this.#isRunning = false
  }

  /** The steps of the next transaction. */
  async #next(): Promise<readonly Waiting[]> {
    const arrived = this.#arrived
    this.#arrived = []
    const callers = this.#waiting > MOST_TOGETHER ? await this.#callersOf(arrived) : undefined
    for (const one of arrived) {
      const { id = '', holder } = one.needs
      this.#turns.add(holder === undefined ? (callers?.get(id) ?? '') : callerOf(holder), one)
    }
    const next = this.#turns.take(MOST_TOGETHER)
    this.#waiting -= next.length
    return next
  }

  /** The callers of the tasks that steps change, by id. */
  async #callersOf(steps: readonly Waiting[]): Promise<ReadonlyMap<string, string>> {
    const ids = steps.flatMap(({ needs: { id } }) => (id === undefined ? [] : [storedText(id)]))
    // Without an answer, these steps take turns as those of one caller; their transaction says what is wrong.
    const rows = ids.length === 0 ? [] : await this.#link.query(CALLERS, [ids]).catch(() => [])
    return new Map(
      rows.map(([id, scope, network]) => [
        readableText(String(id)),
        callerOf({ scope: String(scope), network: String(network) }),
      ]),
    )
  }

  async #together(waiting: readonly Waiting[]): Promise<void> {
    try {
      const late = waiting.filter(({ until }) => performance.now() > until)
      for (const { answer } of late) answer.reject(this.#link.failure(new Error('it answers too late')))
      const steps = waiting.filter((one) => !late.includes(one))
      if (steps.length > 0) await this.#commit(steps)
    } catch (error) {
      for (const { answer } of waiting) answer.reject(error)
    }
  }

  async #commit(steps: readonly Waiting[]): Promise<void> {
    let fault: unknown
    try {
      const values = await this.#link.transaction('sums', async (session, isRepeated) => {
        const transaction = await begin(session, steps, isRepeated)
        const made: unknown[] = []
        for (const { step } of steps) made.push(await step(transaction))
        await transaction.counts.write()
        return made
      })
      for (const [index, { answer }] of steps.entries()) answer.resolve(values[index])
      return
    } catch (error) {
      fault = error
    }
    // A step that fails takes no other with it.
    if (steps.length > 1 && (fault as Partial<McpError>).kind === STORE_FAILED.kind)
      for (const step of steps) await this.#together([step])
    else for (const { answer } of steps) answer.reject(fault)
  }
}

/** Who takes turns: networks, and callers without one. */
function callerOf({ scope, network }: StoredHolder): string {
  return network || scope
}

/** Reads what the steps need, in two statements. */
async function begin(
  session: Session,
  steps: readonly Waiting[],
  isRepeated: boolean,
): Promise<CountedTransaction> {
  const counts = new PostgresTaskCounts(session)
  const needs = steps.map((step) => step.needs)
  const sizes = await sizesOf(
    session,
    needs.flatMap(({ id }) => (id === undefined ? [] : [id])),
  )
  const holders = needs.flatMap(({ holder }) => (holder === undefined ? [] : [holder]))
  await counts.load([...holders, ...[...sizes.values()].map(({ holder }) => holder)])
  return { session, counts, isRepeated, sizes }
}
