import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { unnamed, type Case } from './cases.ts'

const one: Case = { id: 'H.one', level: 'must', statement: 'one' }

test('a case is named by its id, its other name, or a group', () => {
  expect(unnamed([one], ['H.one-more is another', 'H.on'])).toEqual([one])
  expect(unnamed([one], ['M.x H.one is shown [R001]'])).toEqual([])
  expect(unnamed([{ ...one, alias: 'H.uno' }], ['Host > H.uno is shown'])).toEqual([])
  expect(unnamed([{ ...one, id: 'H.verb-put' }], ['H.verb-* all are refused'])).toEqual([])
})

test('every case is listed once, with a level and a statement', () => {
  const cases = JSON.parse(readFileSync('test/security/cases.json', 'utf8')) as readonly Case[]
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  for (const { id, level, statement } of cases) {
    expect([id, level]).toMatchObject([
      expect.stringMatching(/^[MHSNLC]\.[a-z0-9][\w.-]*$/),
      expect.stringMatching(/^(must|should)$/),
    ])
    expect(statement).toMatch(/^\S.{10,}[^.]$/)
  }
})
