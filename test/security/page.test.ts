import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Case } from '../../tools/cases.ts'

test('the security page is linked, and each of its promises names attacks that are tested [S4-1-5]', () => {
  const page = readFileSync('docs/guides/security.md', 'utf8')
  for (const file of [
    'README.md',
    'docs/guides/authorization.md',
    'docs/guides/login.md',
    'docs/guides/deploying.md',
  ])
    expect(readFileSync(file, 'utf8')).toContain('security.md')
  const cases = JSON.parse(readFileSync('test/security/cases.json', 'utf8')) as readonly Case[]
  const known = new Set(cases.map(({ id }) => id))
  const promises = page.split('\n').filter((line) => /^\| (?!promise|---)/.test(line))
  expect(promises.length).toBeGreaterThan(10)
  const attacks = promises.map((promise) =>
    Array.from(promise.matchAll(/`([A-Z]\.[a-z][\w-]*)`/g), ([, id]) => id as string),
  )
  expect(promises.filter((_, at) => attacks[at]?.length === 0)).toEqual([])
  expect(attacks.flat().filter((id) => !known.has(id))).toEqual([])
})
