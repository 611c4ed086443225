import { type Cost, startWorker, type Worker } from '../children.ts'
import type { Heap, InProcessCommands, InProcessRound } from '../in-process.ts'
import type { Extent } from '../extent.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, interleave } from '../measure.ts'
import type { Revision } from '../messages.ts'
import { type Subject, argumentOf, programOf } from '../subjects.ts'
import { withSubjectName } from './http.ts'

/** A round, and whether other programs disturbed it. */
export type WatchedCalls = InProcessRound & Cost & { readonly busy: boolean }

/** The processes of the subjects, each idle while another one is measured. */
export class Pool {
  readonly #revision: Revision
  readonly #options: Readonly<Record<string, unknown>>
  readonly #workers = new Map<string, Worker<InProcessCommands>>()
  readonly #workerOf = new Map<Subject, Worker<InProcessCommands>>()

  /** The options are those of the subjects. */
  constructor(revision: Revision, options: Readonly<Record<string, unknown>> = {}) {
    this.#revision = revision
    this.#options = options
  }

  /** Starts a subject in its own process, or in the process of `sharedWith`. */
  async open(
    subject: Subject,
    { batch = 1, wide, sharedWith = subject }: { batch?: number; wide?: number; sharedWith?: Subject } = {},
  ): Promise<void> {
    let worker = this.#workers.get(sharedWith.name)
    if (!worker) {
      worker = startWorker('in-process', argumentOf(sharedWith, this.#options))
      this.#workers.set(sharedWith.name, worker)
    }
    this.#workerOf.set(subject, worker)
    const program = programOf(subject, 'memory')
    const command = { name: subject.name, subject: program, revision: this.#revision, batch }
    await withSubjectName(subject, worker.ask('open', { ...command, ...(wide !== undefined && { wide }) }))
  }

  async call(subject: Subject, extent: Extent): Promise<WatchedCalls> {
    const disturbed = watchOtherPrograms()
    const command = { name: subject.name, extent }
    const round = await withSubjectName(subject, this.#worker(subject).ask<InProcessRound>('call', command))
    return { ...round, busy: disturbed(round.workerCpuMs) }
  }

  /** Warms up every subject, then calls them in turn. */
  async callAll(
    subjects: readonly Subject[],
    plan: Plan,
    log: (line: string) => void,
  ): Promise<ReadonlyMap<Subject, readonly WatchedCalls[]>> {
    for (const subject of subjects) await this.call(subject, { calls: plan.warmUp.memory })
    return interleave(subjects, plan, async (subject, number) => {
      const round = await this.call(subject, { seconds: plan.seconds })
      log(`round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} msg/s`)
      return round
    })
  }

  async heapBytes(subject: Subject): Promise<number> {
    return (await this.#worker(subject).ask<Heap>('heap', {})).bytes
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.close()))
  }

  #worker(subject: Subject): Worker<InProcessCommands> {
    const worker = this.#workerOf.get(subject)
    if (!worker) throw new Error(`${subject.name} is not running`)
    return worker
  }
}
