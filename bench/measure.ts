import type { Subject } from './subjects.ts'

/** How much a run does. */
export interface Plan {
  /** Whether peers are measured beside. */
  readonly peers: boolean
  readonly rounds: number
  /** Measured in each round, and before the first. */
  readonly seconds: number
  readonly warmUp: number
  readonly starts: number
  readonly sessions: number
  /** How many sessions are held while calls are measured, from few to many. */
  readonly sessionCounts: readonly number[]
  /** How long calls go on without a pause, to see whether the heap grows. */
  readonly sustained: number
  /** How many sessions are held open at once over each transport, and for how long. */
  readonly held: {
    readonly tcp: number
    readonly ws: number
    readonly sse: number
    readonly busy: number
    readonly seconds: number
  }
  readonly toolCounts: readonly number[]
  readonly typeCounts: readonly number[]
}

/** A result before it is compared: the median of the rounds. */
export interface Sample {
  readonly work: string
  readonly subject: Subject
  readonly value: number
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly busy?: boolean
}

/** A line of the report. Ratios are value over value, whichever way is better. */
export interface Row {
  readonly work: string
  readonly subject: string
  readonly value: number
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly ratioToLimit: number | null
  readonly ratioToBestPeer: number | null
  readonly busy?: true
  /** What the row was to reach, and whether it did. */
  readonly goals?: readonly Verdict[]
}

/** A goal in words, what was found in its measure, and whether that is enough. */
export interface Verdict {
  readonly goal: string
  readonly found: number
  readonly met: boolean
}

/** A part of the bench, chosen by its name with `--only`. */
export interface Work {
  readonly name: string
  readonly run: (plan: Plan, say: (line: string) => void) => Promise<readonly Sample[]>
}

/** Runs A B C, B C A, C A B …, so that what changes with time touches all alike; gives each subject's results. */
export async function interleave<Result>(
  subjects: readonly Subject[],
  rounds: number,
  measure: (subject: Subject, round: number) => Promise<Result>,
): Promise<ReadonlyMap<Subject, readonly Result[]>> {
  const results = new Map<Subject, Result[]>(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < rounds; round++) {
    const shift = round % subjects.length
    for (const subject of [...subjects.slice(shift), ...subjects.slice(0, shift)])
      results.get(subject)?.push(await measure(subject, round))
  }
  return results
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** Whether most of the rounds were disturbed. */
export function mostly(rounds: readonly { readonly busy: boolean }[]): boolean {
  return rounds.filter(({ busy }) => busy).length * 2 > rounds.length
}

/** Calls per second: the median of the rounds. */
export function rateOf(rounds: readonly { readonly count: number; readonly seconds: number }[]): number {
  return median(rounds.map(({ count, seconds }) => count / seconds))
}

/**
 * How much more something costs at worst than at first, in per cent. Costs were taken round by round, so each is
 * compared with the one beside it: what disturbs a round disturbs both.
 */
export function risePercent([first = [], ...others]: readonly (readonly number[])[]): number {
  const rises = others.map((costs) => median(costs.map((cost, round) => cost / (first[round] ?? Number.NaN))))
  return (Math.max(...rises) - 1) * 100
}

/** Compares the samples of each work with its limit and with the best of the peers. */
export function toRows(samples: readonly Sample[]): readonly Row[] {
  return samples.map((sample) => {
    const rivals = samples.filter(({ work, unit }) => work === sample.work && unit === sample.unit)
    const limit = rivals.find(({ subject }) => subject.role === 'limit')?.value
    const peers = rivals.filter(({ subject }) => subject.role === 'peer').map(({ value }) => value)
    const best = sample.better === 'more' ? Math.max(...peers) : Math.min(...peers)
    return {
      work: sample.work,
      subject: sample.subject.name,
      value: significant(sample.value),
      unit: sample.unit,
      better: sample.better,
      ratioToLimit: ratio(sample.value, limit),
      ratioToBestPeer: ratio(sample.value, peers.length > 0 ? best : undefined),
      ...(sample.busy && { busy: true as const }),
    }
  })
}

function ratio(value: number, other: number | undefined): number | null {
  return other === undefined || other === 0 ? null : significant(value / other)
}

function significant(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4))
}
