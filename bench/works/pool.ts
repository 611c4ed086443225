import { type Cost, startWorker, type Worker } from '../children.ts'
import type { Heap, InProcessOrders, InProcessRound } from '../in-process.ts'
import { watchOthers } from '../machine.ts'
import { type Plan, interleave } from '../measure.ts'
import type { Revision } from '../messages.ts'
import { type Subject, argumentOf, programOf } from '../subjects.ts'
import { named } from './http.ts'

/** A round, and whether other programs disturbed it. */
export type WatchedCalls = InProcessRound & Cost & { readonly busy: boolean }

/** The processes that hold the subjects, each idle while another one is measured. */
export class Pool {
  readonly #revision: Revision
  readonly #workers = new Map<string, Worker<InProcessOrders>>()
  readonly #homes = new Map<Subject, Worker<InProcessOrders>>()

  constructor(revision: Revision) {
    this.#revision = revision
  }

  /** Starts a subject in a process of its own, or beside all others that name the same neighbour. */
  async open(
    subject: Subject,
    { batch = 1, wide, beside = subject }: { batch?: number; wide?: number; beside?: Subject } = {},
  ): Promise<void> {
    let worker = this.#workers.get(beside.name)
    if (!worker) this.#workers.set(beside.name, (worker = startWorker('in-process', argumentOf(beside))))
    this.#homes.set(subject, worker)
    const program = programOf(subject, 'memory')
    const order = { name: subject.name, subject: program, revision: this.#revision, batch }
    await named(subject, worker.ask('open', { ...order, ...(wide !== undefined && { wide }) }))
  }

  async call(subject: Subject, seconds: number): Promise<WatchedCalls> {
    const disturbed = watchOthers()
    const order = { name: subject.name, seconds }
    const round = await named(subject, this.#home(subject).ask<InProcessRound>('call', order))
    return { ...round, busy: disturbed(round.workerCpuMs) }
  }

  /** Warms every subject up, then calls them in turn. */
  async callAll(
    subjects: readonly Subject[],
    plan: Plan,
    say: (line: string) => void,
  ): Promise<ReadonlyMap<Subject, readonly WatchedCalls[]>> {
    for (const subject of subjects) await this.call(subject, plan.warmUp)
    return interleave(subjects, plan.rounds, async (subject, number) => {
      const round = await this.call(subject, plan.seconds)
      say(`round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} msg/s`)
      return round
    })
  }

  async heapBytes(subject: Subject): Promise<number> {
    return (await this.#home(subject).ask<Heap>('heap', {})).bytes
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.close()))
  }

  #home(subject: Subject): Worker<InProcessOrders> {
    const worker = this.#homes.get(subject)
    if (!worker) throw new Error(`${subject.name} is not running`)
    return worker
  }
}
