import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Row } from './measure.ts'
import { OURS } from './subjects.ts'

const rows = JSON.parse(readFileSync('reports/bench.json', 'utf8')) as readonly Row[]

function recorded(work: string, unit: string): number {
  const row = rows.find((one) => one.work === work && one.unit === unit && one.subject === OURS.name)
  if (row === undefined) throw new Error(`the record has no ${unit} of ${work}`)
  return row.value
}

describe('the record', () => {
  test('has more than 20,000 answered requests a second over HTTP, from one process, with every check on [S2-11.1-3] [S2-11.3-3]', () => {
    expect(recorded('HTTP tools/call, 2025-11-25 session', 'req/s')).toBeGreaterThan(20_000)
    expect(recorded('HTTP tools/call, 2026-07-28', 'req/s')).toBeGreaterThan(20_000)
  })

  test('has more than 372,000 calls a second in process, answered for 30 seconds without a pause [S2-11.1-4]', () => {
    expect(recorded('in process tools/call, 30 s without a pause', 'msg/s')).toBeGreaterThan(372_000)
  })

  test('has more than 269,000 messages a second in batches of ten [S2-11.1-5]', () => {
    expect(recorded('in process tools/call in batches of ten, 2025-03-26', 'msg/s')).toBeGreaterThan(269_000)
  })

  test('shows where the time of a message goes, each rung of the way in microseconds [S2-11.2-5]', () => {
    const ladder = rows.filter(({ work, subject }) => work.startsWith('in memory') && subject === OURS.name)
    expect(ladder.length).toBeGreaterThan(3)
    for (const { value } of ladder) expect(1e6 / value).toBeLessThan(100)
  })

  test('has 99 of 100 calls answered within a millisecond one at a time, and within five beside many others [S2-11.2-6] [S2-15-8]', () => {
    expect(recorded('stdio tools/call, one in flight', 'µs p99')).toBeLessThan(1000)
    expect(recorded('HTTP tools/call, 2025-11-25 session', 'µs p99')).toBeLessThan(5000)
    expect(recorded('stdio tools/call, 128 in flight', 'msg/s')).toBeGreaterThan(1000)
  })
})
