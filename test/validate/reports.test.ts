import { expect, test } from 'vitest'
import { formatReport } from '../../src/validate/report-formats.ts'
import { htmlReport } from '../../src/validate/report-html.ts'
import { reportOf } from '../../src/validate/result.ts'
import type { Outcome } from '../../src/validate/run.ts'

const EVIL = '</pre><script>alert(1)</script>\n::error::injected\u001b]0;x\u0007\u202e"&%'

const GOOD: Outcome = {
  id: 'R001',
  level: 'must',
  role: 'server',
  revision: '2025-11-25',
  transport: 'http',
  rule: 'Every message has "jsonrpc": "2.0".',
  how: 'Looks at every message.',
  fix: 'Send it.',
  is: 'passed',
  ms: 12,
}
const BAD: Outcome = {
  ...GOOD,
  id: 'R005',
  is: 'failed',
  found: EVIL,
  entries: [
    { at: 1, from: 'peer', stream: 'POST 1', text: EVIL, http: { status: 200, headers: { 'x-evil': EVIL } } },
  ],
}
const WARNED: Outcome = {
  ...GOOD,
  id: 'R033',
  level: 'should',
  is: 'failed',
  found: 'it offers an old version',
}
const SKIPPED: Outcome = { ...GOOD, id: 'R051', is: 'unchecked', found: 'it needs a call of a tool' }
const REPORT = reportOf(
  'http://127.0.0.1:1/mcp',
  [GOOD, BAD, WARNED, SKIPPED],
  [{ transport: 'http', revisions: ['2025-11-25'] }],
)

test('a report counts outcomes, and a failure costs three times as much as a warning', () => {
  expect(REPORT.counts).toEqual({ passed: 1, failures: 1, warnings: 1, absent: 0, unchecked: 1 })
  expect(REPORT.score).toBe(42)
  expect(reportOf('x', [GOOD], []).score).toBe(100)
  expect(reportOf('x', [], []).score).toBe(0)
})

test('JSON holds everything', () => {
  expect(JSON.parse(formatReport(REPORT, 'json'))).toEqual(JSON.parse(JSON.stringify(REPORT)))
})

test('JUnit counts failures and skipped rules, and escapes what a peer sent', () => {
  const text = formatReport(REPORT, 'junit')
  expect(text).toContain('tests="4" failures="1" skipped="1"')
  expect(text).not.toContain('<script>')
  expect(text).not.toContain('\u001b')
  expect(text.match(/<failure /g)).toHaveLength(1)
  expect(text).toContain('warning: it offers an old version')
})

test('SARIF names each broken rule once, with its level', () => {
  const { runs } = JSON.parse(formatReport(REPORT, 'sarif')) as {
    runs: [{ tool: { driver: { rules: { id: string }[] } }; results: { ruleId: string; level: string }[] }]
  }
  expect(runs[0].tool.driver.rules.map(({ id }) => id)).toEqual(['R005', 'R033'])
  expect(runs[0].results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
    ['R005', 'error'],
    ['R033', 'warning'],
  ])
})

test('annotations are one line each, so that a peer cannot add its own', () => {
  const lines = formatReport(REPORT, 'github').trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  expect(lines.every((line) => /^::(?:error|warning|notice) title=/.test(line))).toBe(true)
  expect(lines.join('')).not.toContain('\u001b')
})

test('the page runs nothing, and shows control characters as text', () => {
  const page = htmlReport(REPORT)
  expect(page).toContain("default-src 'none'")
  expect(page).not.toContain('<script>')
  expect(page).toContain('&lt;script&gt;')
  expect(page).not.toContain('\u202e')
  expect(page).toContain('\\u202e')
})
