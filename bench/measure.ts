import type { Subject } from './subjects.ts'

/** The extent of a run. */
export interface Plan {
  /** Whether peers are measured too. */
  readonly peers: boolean
  readonly rounds: number
  /** The length of each round. */
  readonly seconds: number
  /**
   * The number of calls to each subject before its first round, enough for V8 to compile what a call runs: over a wire, and
   * in memory, where so many take less time than the compiler needs.
   */
  readonly warmUp: { readonly wire: number; readonly memory: number }
  readonly starts: number
  readonly sessions: number
  /** The numbers of open sessions while calls are measured, ascending. */
  readonly sessionCounts: readonly number[]
  /** For how many seconds calls run without a pause, to see whether the heap grows. */
  readonly sustained: number
  /** The number of sessions held open at once over each transport, and for how long. */
  readonly held: {
    readonly tcp: number
    readonly ws: number
    readonly sse: number
    readonly busy: number
    /** Over ten nodes together. */
    readonly nodes: number
    readonly seconds: number
  }
  readonly toolCounts: readonly number[]
  readonly typeCounts: readonly number[]
  /** Called after each round. */
  readonly onRound?: (round: TimedRound) => void
}

/** A round and its time, in microseconds of the monotonic clock of the machine. */
export interface TimedRound {
  readonly subject: Subject
  readonly from: number
  readonly to: number
  readonly result: object
}

/** A result before comparison: the median of the rounds. */
export interface Sample {
  readonly work: string
  readonly subject: Subject
  readonly value: number
  readonly unit: string
  readonly better: 'more' | 'less'
  /** Whether other programs disturbed the measurement. */
  readonly busy: boolean
}

/** A line of the report. Ratios divide values, whether more or less is better. */
export interface Row {
  readonly work: string
  readonly subject: string
  readonly value: number
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly ratioToLimit: number | null
  readonly ratioToBestPeer: number | null
  /** Set if other programs disturbed this measurement or that of the limit. */
  readonly busy?: true
  /** The goals of the row, and whether it met them. */
  readonly goals?: readonly Verdict[]
}

/** A goal in words, the measured value, and whether it meets the goal. */
export interface Verdict {
  readonly goal: string
  readonly found: number
  readonly met: boolean
}

/** A part of the bench, selected by name with `--only`. */
export interface Workload {
  readonly name: string
  readonly run: (plan: Plan, log: (line: string) => void) => Promise<readonly Sample[]>
}

/** Runs A B C, B C A, C A B …, so that drift over time affects all subjects equally; returns the results by subject. */
export async function interleave<Result extends object>(
  subjects: readonly Subject[],
  { rounds, onRound }: Pick<Plan, 'rounds' | 'onRound'>,
  measure: (subject: Subject, round: number) => Promise<Result>,
): Promise<ReadonlyMap<Subject, readonly Result[]>> {
  const results = new Map<Subject, Result[]>(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < rounds; round++) {
    const shift = round % subjects.length
    for (const subject of [...subjects.slice(shift), ...subjects.slice(0, shift)]) {
      const from = microsNow()
      const result = await measure(subject, round)
      onRound?.({ subject, from, to: microsNow(), result })
      results.get(subject)?.push(result)
    }
  }
  return results
}

function microsNow(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/** The median of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** Whether other programs disturbed most of the rounds. */
export function mostlyBusy(rounds: readonly { readonly busy: boolean }[]): boolean {
  return rounds.filter(({ busy }) => busy).length * 2 > rounds.length
}

/** Calls per second: the median of the rounds. */
export function rateOf(rounds: readonly { readonly count: number; readonly seconds: number }[]): number {
  return median(rounds.map(({ count, seconds }) => count / seconds))
}

/**
 * The largest increase over the first series of costs, in percent. Costs were taken round by round, so each is compared
 * with the first one of the same round: a disturbance affects both.
 */
export function increasePercent([first = [], ...others]: readonly (readonly number[])[]): number {
  const factors = others.map((costs) =>
    median(costs.map((cost, round) => cost / (first[round] ?? Number.NaN))),
  )
  return (Math.max(...factors) - 1) * 100
}

/** The same in the unit of the costs. */
export function increase([first = [], ...others]: readonly (readonly number[])[]): number {
  const differences = others.map((costs) =>
    median(costs.map((cost, round) => cost - (first[round] ?? Number.NaN))),
  )
  return Math.max(...differences)
}

/** Compares the samples of each workload with its limit and with the best peer. */
export function toRows(samples: readonly Sample[]): readonly Row[] {
  return samples.map((sample) => {
    const rivals = samples.filter(({ work, unit }) => work === sample.work && unit === sample.unit)
    const limit = rivals.find(({ subject }) => subject.role === 'limit')
    const peers = rivals.filter(({ subject }) => subject.role === 'peer').map(({ value }) => value)
    const best = sample.better === 'more' ? Math.max(...peers) : Math.min(...peers)
    return {
      work: sample.work,
      subject: sample.subject.name,
      value: significant(sample.value),
      unit: sample.unit,
      better: sample.better,
      ratioToLimit: ratio(sample.value, limit?.value),
      ratioToBestPeer: ratio(sample.value, peers.length > 0 ? best : undefined),
      ...((sample.busy || limit?.busy) && { busy: true as const }),
    }
  })
}

function ratio(value: number, other: number | undefined): number | null {
  return other === undefined || other === 0 ? null : significant(value / other)
}

function significant(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4))
}
