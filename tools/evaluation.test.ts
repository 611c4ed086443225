import { expect, test } from 'vitest'
import { sectionsOf, updated, type Outcome } from './evaluation.ts'

const OUTCOME: Outcome = {
  id: 'R010',
  level: 'must',
  revision: '2025-06-18',
  transport: 'http',
  rule: 'A rule.',
  fix: 'A fix.',
  is: 'failed',
  found: '{"id":1} gets no error',
}
const COUNTS = { passed: 5, failures: 2, warnings: 1, absent: 0, unchecked: 1 }

test('a page has a row for each transport and each rule that failed', () => {
  const outcomes: readonly Outcome[] = [
    OUTCOME,
    { ...OUTCOME, revision: '2025-11-25' },
    { ...OUTCOME, id: 'R009', revision: '2025-11-25', level: 'should', found: 'a | b' },
    { ...OUTCOME, id: 'R200', is: 'unchecked', found: 'nothing was seen' },
    { ...OUTCOME, id: 'R001', is: 'passed' },
  ]
  const rows = sectionsOf([{ score: 84, counts: COUNTS, outcomes }]).split('\n')
  expect(rows).toContain('| HTTP | 2025-06-18, 2025-11-25 | 84 | 5 | 2 | 1 | 0 | 1 |')
  expect(rows).toContain('| R010 | HTTP: all | `{"id":1}` gets no error | A rule. | A fix. |')
  expect(rows).toContain('| R009 | advice | HTTP: 2025-11-25 | a \\| b | A rule. | A fix. |')
  expect(rows).toContain('| R200 | HTTP: 2025-06-18 | nothing was seen |')
  expect(rows.filter((row) => row.includes('R001'))).toEqual([])
})

test('what people wrote about a server stays', () => {
  expect(updated('# Title\n\n## Result\n\nold\n\n## Notes\n\nmine\n', '## Result\n\nnew')).toBe(
    '# Title\n\n## Result\n\nnew\n\n## Notes\n\nmine\n',
  )
  expect(updated('# Title\n\n## Result\n\nold\n', '## Result\n\nnew')).toBe('# Title\n\n## Result\n\nnew\n')
})
