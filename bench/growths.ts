import { type Sample, increase, median } from './measure.ts'
import type { Subject } from './subjects.ts'

/** The costs of a subject with some number of things, round by round. */
export interface Costs {
  readonly subject: Subject
  /** In microseconds of CPU time for each call. */
  readonly each: readonly number[]
  readonly busy: boolean
}

/**
 * What a call costs more with many things than with few, for each subject. `measured` begins with few. In percent, both the growth of our
 * server and that of the limit are parts of what our server takes with few.
 */
export function growthSamples(work: string, measured: readonly Costs[]): readonly Sample[] {
  const subjects = [...new Set(measured.map(({ subject }) => subject))]
  const few = median(measured.find(({ subject }) => subject.role === 'ours')?.each ?? [])
  return subjects.flatMap((subject): readonly Sample[] => {
    const own = measured.filter((one) => one.subject === subject)
    const value = increase(own.map(({ each }) => each))
    const common = { work, subject, better: 'less', busy: own.some(({ busy }) => busy) } as const
    return [
      { ...common, value, unit: 'µs CPU' },
      { ...common, value: (value / few) * 100, unit: '%' },
    ]
  })
}
