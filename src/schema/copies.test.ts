import { expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'

const RECORDS = z.object({ rows: z.array(z.record(z.string(), z.number())) })
const rows = (count: number, row: object): object => ({ rows: Array.from({ length: count }, () => row) })

test('records with numbers as names, whose copies would take gigabytes, are rejected', () => {
  const checked = toChecker(RECORDS, 'input').check(rows(100_000, { 1023: 1, 2500: 1 }))
  expect(checked).toMatchObject({ ok: false, issue: expect.stringContaining('too long to check') as string })
})

test.each([
  ['years', { 2024: 1, 2025: 2 }],
  ['small numbers', { 0: 1, 1: 2, 2: 3 }],
  ['large ids', { 73_282_911: 1, 99_999_999: 2 }],
  ['names', { a: 1, b: 2 }],
])('records with %s are not', async (_, row) => {
  expect(await toChecker(RECORDS, 'input').check(rows(20_000, row))).toMatchObject({ ok: true })
})
