import { type Plan, type Sample, type Workload, mostlyBusy, rateOf } from '../measure.ts'
import type { Revision } from '../messages.ts'
import { ALL, LIMIT, OURS, OURS_JSON, type Subject, TMCP, V2, selectSubjects } from '../subjects.ts'
import { Pool } from './pool.ts'

const BATCH = 10

/** tools/call in one process, text in and text out, on a 2025 connection. */
export const inProcess2025: Workload = {
  name: 'in-process',
  run: (plan, log) => {
    const what = { work: 'in process tools/call, 2025-11-25', revision: '2025-11-25' } as const
    return compare(what, [...ALL, OURS_JSON], plan, log)
  },
}

/** The same at 2026-07-28. */
export const inProcess2026: Workload = {
  name: 'in-process-2026',
  run: (plan, log) => {
    const what = { work: 'in process tools/call, 2026-07-28', revision: '2026-07-28' } as const
    return compare(what, [LIMIT, OURS, V2, TMCP, OURS_JSON], plan, log)
  },
}

/** Batches of ten calls; no peer accepts them without its own transport. */
export const batches: Workload = {
  name: 'batch',
  run: (plan, log) => {
    const work = 'in process tools/call in batches of ten, 2025-03-26'
    return compare({ work, revision: '2025-03-26', batch: BATCH }, [LIMIT, OURS, OURS_JSON], plan, log)
  },
}

interface Comparison {
  readonly work: string
  readonly revision: Revision
  readonly batch?: number
}

async function compare(
  { work, revision, batch = 1 }: Comparison,
  subjects: readonly Subject[],
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const pool = new Pool(revision)
  const chosen = selectSubjects(subjects, plan)
  try {
    for (const subject of chosen) await pool.open(subject, { batch })
    const results = await pool.callAll(chosen, plan, log)
    return [...results].map(([subject, rounds]) => ({
      work,
      subject,
      value: rateOf(rounds),
      unit: 'msg/s',
      better: 'more',
      busy: mostlyBusy(rounds),
    }))
  } finally {
    await pool.close()
  }
}
