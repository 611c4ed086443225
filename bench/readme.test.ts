import { describe, expect, test } from 'vitest'
import type { Machine } from './machine.ts'
import type { Row } from './measure.ts'
import { picture } from './picture.ts'
import { pageWith } from './readme.ts'
import { README_ROWS } from './readme-rows.ts'
import { beatenText, goalsText, tableText } from './report.ts'
import { ALL, LIMIT, OURS } from './subjects.ts'

const PAGE = '# Title\n\n<!-- bench -->\n\nprevious\n\n<!-- /bench -->\n\n## Next\n'
const MACHINE: Machine = {
  node: 'v20',
  cpu: 'CPU',
  cores: 2,
  loadBefore: 0,
  calibration: 1,
  date: '2026-01-01',
  versions: { 'official v1': '1.2.3', zod: '4.5.6' },
}
const ASYNC = 'HTTP tools/call, 2025-11-25 session, async handler'

describe('the page of benchmarks', () => {
  test('has a line for every row, with all peers', () => {
    const text = pageWith('docs/benchmarks.md', PAGE, record(), MACHINE)
    expect(text).toMatch(/^# Title\n[\s\S]*## Next\n$/)
    expect(text).not.toContain('previous')
    for (const { label } of README_ROWS) expect(text).toContain(`| ${label} |`)
    const line = text.split('\n').find((each) => each.startsWith('| HTTP calls/s, 2025-11-25 session, async'))
    expect(line).toBe(
      '| HTTP calls/s, 2025-11-25 session, async handler | 10 | **11** (1.10) | 12 | 13 | 14 | 15 |',
    )
  })

  test('shows async handlers over HTTP at both revisions, on stdio, in process and with progress', () => {
    const works = README_ROWS.map(({ work }) => work).filter((work) => work.endsWith(', async handler'))
    expect(works).toEqual([
      'HTTP tools/call, 2025-11-25 session, async handler',
      'HTTP tools/call, 2026-07-28, async handler',
      'HTTP tools/call answered as SSE with one progress event, 2026-07-28, async handler',
      'in process tools/call, 2025-11-25, async handler',
      'stdio tools/call, 128 in flight, async handler',
    ])
  })

  test('is not filled from a record without one of its rows', () => {
    const without = record().filter(({ work }) => work !== ASYNC)
    expect(() => pageWith('docs/benchmarks.md', PAGE, without, MACHINE)).toThrow(
      `the record lacks ${ASYNC} (req/s)`,
    )
    expect(() => pageWith('docs/benchmarks.md', '# Title', record(), MACHINE)).toThrow(
      'no <!-- bench --> markers',
    )
  })

  test('marks values that were measured on a busy machine', () => {
    const text = pageWith(
      'docs/benchmarks.md',
      PAGE,
      record(({ work, subject }) => work === ASYNC && subject === OURS.name),
      MACHINE,
    )
    expect(text).toContain('| 10 | **11** (1.10) † | 12 |')
    expect(text.match(/†/g)).toHaveLength(2)
    expect(text).toContain('† Other programs used the machine')
    expect(pageWith('docs/benchmarks.md', PAGE, record(), MACHINE)).not.toContain('†')
  })

  test('explains the mark only on the pages that have it', () => {
    // A row of the page of benchmarks that the README does not have, and one that no page has.
    const behind = README_ROWS.find(({ isFront }) => isFront !== true)
    const rows = record(({ work }) => work === behind?.work)
    expect(pageWith('README.md', PAGE, rows, MACHINE)).not.toContain('†')
    expect(pageWith('docs/benchmarks.md', PAGE, rows, MACHINE)).toContain('† Other programs used the machine')
    const elsewhere = { ...rows[0]!, work: 'of no page', busy: true } as Row
    expect(pageWith('docs/benchmarks.md', PAGE, [...record(), elsewhere], MACHINE)).not.toContain('†')
  })
})

test('both pages say when and with what their rows were measured', () => {
  const origin = 'Measured on 2026-01-01 with Node 20, 2 cores (CPU), official v1 1.2.3, zod 4.5.6'
  const added = { install: { date: '2026-01-03', loadBefore: 0 } }
  const text = pageWith('docs/benchmarks.md', PAGE, record(), { ...MACHINE, added })
  expect(text).toContain(`${origin}; on 2026-01-03: install, packages; install, MB.`)
  expect(pageWith('README.md', PAGE, record(), { ...MACHINE, added })).toContain(`${origin}.`)
})

test('the README has a picture and five rows, three of them async', () => {
  const text = pageWith('README.md', PAGE, record(), MACHINE)
  expect(text).toContain('(docs/bench.svg)')
  const lines = text.split('\n').filter((line) => line.includes('**11**'))
  expect(lines).toHaveLength(5)
  expect(lines.filter((line) => line.includes('async handler'))).toHaveLength(3)
})

test('the picture marks values that were measured on a busy machine', () => {
  const marks = (rows: readonly Row[]): number => picture(rows, MACHINE).split('(busy)').length - 1
  expect(marks(record())).toBe(0)
  expect(marks(record(({ work, subject }) => work === ASYNC && subject === LIMIT.name))).toBe(1)
})

test('the report marks rows and goals that were measured on a busy machine', () => {
  const [row] = record(() => true).filter(({ subject }) => subject === OURS.name)
  const judged = { ...row!, goals: [{ goal: '≥ 1', found: 1, met: true }] }
  expect(tableText([judged])).toContain('busy')
  expect(goalsText([judged])).toContain('busy')
  expect(tableText([{ ...judged, busy: undefined } as never])).not.toContain('busy')
})

test('the report names the rows in which we beat the limit by more than noise', () => {
  const rowOf = (work: string, better: Row['better'], ratioToLimit: number, subject = OURS.name): Row => ({
    work,
    subject,
    value: 1,
    unit: 'msg/s',
    better,
    ratioToLimit,
    ratioToBestPeer: null,
  })
  const rows = [
    rowOf('rate above', 'more', 1.2),
    rowOf('rate at the limit', 'more', 1.05),
    rowOf('time below', 'less', 0.8),
    rowOf('time at the limit', 'less', 0.95),
    rowOf('of a peer', 'more', 1.2, 'tmcp'),
    { ...rowOf('rate at its worst', 'more', 1.2), unit: 'µs p99' },
  ]
  expect(beatenText(rows).match(/(rate|time|of a) \w+/g)).toEqual(['rate above', 'time below'])
  expect(beatenText(rows.slice(1, 2))).toBe('')
})

/** A record with every row of the pages. */
function record(isBusy: (row: Row) => boolean = () => false): readonly Row[] {
  return README_ROWS.flatMap(({ work, unit, ours = OURS.name }) =>
    ALL.map((subject, place): Row => {
      const row = {
        work,
        unit,
        subject: subject === OURS ? ours : subject.name,
        value: 10 + place,
        better: 'more',
        ratioToLimit: (10 + place) / 10,
        ratioToBestPeer: null,
      } as const
      return isBusy(row) ? { ...row, busy: true } : row
    }),
  )
}
