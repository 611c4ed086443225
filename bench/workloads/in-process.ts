import { type Plan, type Sample, type Workload, mostlyBusy, rateOf } from '../measure.ts'
import { CALL_ROWS, nameOf, titleOf } from '../call-rows.ts'
import { type HandlerKind, TEXT } from '../kinds.ts'
import type { Revision } from '../messages.ts'
import {
  ALL,
  AT_2026,
  LIMIT,
  OURS,
  OURS_JSON,
  type Subject,
  selectSubjects,
  withJsonSchema,
} from '../subjects.ts'
import { Pool } from './pool.ts'

const BATCH = 10

/** tools/call in one process, text in and text out, on a 2025 connection. */
export function inProcess2025(kind: HandlerKind): Workload {
  const row = CALL_ROWS.inProcess2025
  const what = { work: titleOf(row, kind), revision: '2025-11-25', kind } as const
  const subjects = withJsonSchema(ALL, kind)
  return { name: nameOf(row, kind), run: (plan, log) => compare(what, subjects, plan, log) }
}

/** The same at 2026-07-28. */
export function inProcess2026(kind: HandlerKind): Workload {
  const row = CALL_ROWS.inProcess2026
  const what = { work: titleOf(row, kind), revision: '2026-07-28', kind } as const
  const subjects = withJsonSchema(AT_2026, kind)
  return { name: nameOf(row, kind), run: (plan, log) => compare(what, subjects, plan, log) }
}

/** Batches of ten calls; no peer accepts them without its own transport. */
export const batches: Workload = {
  name: 'batch',
  run: (plan, log) => {
    const work = 'in process tools/call in batches of ten, 2025-03-26'
    return compare(
      { work, revision: '2025-03-26', kind: TEXT, batch: BATCH },
      [LIMIT, OURS, OURS_JSON],
      plan,
      log,
    )
  },
}

interface Comparison {
  readonly work: string
  readonly revision: Revision
  readonly kind: HandlerKind
  readonly batch?: number
}

async function compare(
  { work, revision, kind: { handler }, batch = 1 }: Comparison,
  subjects: readonly Subject[],
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const pool = new Pool(revision, { handler })
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
