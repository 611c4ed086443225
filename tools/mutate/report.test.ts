import { expect, test } from 'vitest'
import { equivalentOf } from './equivalents.ts'
import type { Mutant } from './mutants.ts'
import type { Verdict } from './mutate.ts'
import { report, tooFew, toRows } from './report.ts'

const MUTANT: Mutant = {
  file: 'src/a.ts',
  line: 2,
  start: 12,
  end: 16,
  kind: 'flip',
  original: 'true',
  mutated: 'false',
}
const KILLED: Verdict = { mutant: MUTANT, killed: true, by: 'src/a.test.ts › a test', seconds: 1 }
const SURVIVED: Verdict = { mutant: MUTANT, killed: false, by: '2 test files pass', seconds: 1 }
const ROW = { file: 'src/a.ts', line: 'const b = true', original: 'true', mutated: 'false', reason: 'unused' }
const EQUIVALENT: Verdict = { ...SURVIVED, equivalent: ROW }

test('the report lists each survivor with both texts, and the counts', () => {
  const text = report([KILLED, SURVIVED, EQUIVALENT])
  expect(text).toContain('src/a.ts:2  flip (2 test files pass)\n  - true\n  + false\n')
  expect(text.match(/src\/a\.ts:2/g)).toHaveLength(1)
  expect(text).toContain('1 killed, 2 survived, 1 of them judged equivalent\n50.0 % of the mutants')
  expect(report([KILLED, { ...SURVIVED, refused: true }])).toBe(
    '\n1 killed, 0 survived, 0 of them judged equivalent\n1 more that no test detected do not compile\n' +
      '100.0 % of the mutants that change behaviour were killed; the goal is 95 %',
  )
  expect(toRows([EQUIVALENT])).toMatchObject([{ state: 'equivalent', file: 'src/a.ts', reason: 'unused' }])
})

test('less than 95 % killed is too few; equivalent mutants do not count', () => {
  const killed = Array.from({ length: 19 }, () => KILLED)
  expect(tooFew([...killed, SURVIVED])).toBe(false)
  expect(tooFew([...killed.slice(1), SURVIVED])).toBe(true)
  expect(tooFew([...killed.slice(1), EQUIVALENT, EQUIVALENT])).toBe(false)
})

test('a known equivalent is found by its text, even if its line has moved', () => {
  const text = 'const a = 1\nconst b = true\n'
  expect(equivalentOf([ROW], MUTANT, text)).toBe(ROW)
  expect(equivalentOf([ROW], { ...MUTANT, line: 3 }, `// more\n${text}`)).toBe(ROW)
  expect(equivalentOf([ROW], { ...MUTANT, mutated: 'undefined' }, text)).toBeUndefined()
  expect(equivalentOf([ROW], { ...MUTANT, file: 'src/b.ts' }, text)).toBeUndefined()
  expect(equivalentOf([ROW], MUTANT, 'const a = 1\nconst c = true\n')).toBeUndefined()
})
