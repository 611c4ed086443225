import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TRANSPORTS } from '../test/harness/connection.ts'
import { notOver, unnamed, type Case } from './cases.ts'

const one: Case = { id: 'H.one', level: 'must', statement: 'one' }

test('a title names a case by its id, its alias, or a group', () => {
  expect(unnamed([one], ['H.one-more is another', 'H.on'])).toEqual([one])
  expect(unnamed([one], ['M.x H.one is rejected [R001]'])).toEqual([])
  expect(unnamed([{ ...one, alias: 'H.uno' }], ['Host > H.uno is rejected'])).toEqual([])
  expect(unnamed([{ ...one, id: 'H.verb-put' }], ['H.verb-* all are refused'])).toEqual([])
})

test('cases of messages and lines must be tested over the transports that carry them, by title or folder', () => {
  const message: Case = { ...one, id: 'M.one' }
  const line: Case = { ...one, id: 'L.one' }
  const odd: Case = { ...one, id: 'L.odd', over: ['stdio'] }
  const missing = (...tests: readonly (readonly [string, string])[]): object =>
    Object.fromEntries(
      [
        ...notOver(
          [one, message, line, odd],
          tests.map(([file, title]) => ({ file, title })),
        ),
      ].map(([transport, cases]) => [transport, cases.map(({ id }) => id)]),
    )
  expect(missing(['test/x.test.ts', 'M.one L.one L.odd over pigeons'])).toEqual({
    tcp: ['M.one', 'L.one'],
    ws: ['M.one'],
    stdio: ['L.odd'],
  })
  expect(
    missing(
      ['test/x.test.ts', 'M.one over tcp'],
      ['test/x.test.ts', 'M.one · ws 2025-11-25'],
      ['test/tcp/x.test.ts', 'L.one'],
      ['test/stdio/x.test.ts', 'L.o*'],
    ),
  ).toEqual({ tcp: [], ws: [], stdio: [] })
})

test('every case is listed once, with a level and a statement', () => {
  const cases = JSON.parse(readFileSync('test/security/cases.json', 'utf8')) as readonly Case[]
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  for (const { id, level, statement, over = [] } of cases) {
    expect([id, level]).toMatchObject([
      expect.stringMatching(/^[MHSNLWCAP]\.[a-z0-9][\w.-]*$/),
      expect.stringMatching(/^(must|should)$/),
    ])
    expect(over.filter((name) => !(TRANSPORTS as readonly string[]).includes(name))).toEqual([])
    expect(statement).toMatch(/^\S.{10,}[^.]$/)
  }
})
