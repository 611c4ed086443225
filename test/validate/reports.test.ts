import { expect, test } from 'vitest'
import { formatReport } from '../../src/validate/report-formats.ts'
import { htmlReport } from '../../src/validate/report-html.ts'
import { incompleteText, reportOf, summaryOf } from '../../src/validate/result.ts'
import { RULE_OVER, TIME_OVER, type Outcome } from '../../src/validate/run.ts'

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
  expect(REPORT.counts).toEqual({ passed: 1, failures: 1, warnings: 1, ignored: 0, absent: 0, unchecked: 1 })
  expect(REPORT.score).toBe(42)
  expect(reportOf('x', [GOOD], []).score).toBe(100)
  expect(reportOf('x', [], []).score).toBeUndefined()
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

test('there is no score if less than half of the rules were checked, in no format', () => {
  const absentOne: Outcome = { ...GOOD, id: 'R140', is: 'absent', found: 'there are no tools' }
  const half = reportOf('x', [GOOD, SKIPPED, absentOne], [])
  expect(half.score).toBe(100)
  const few = reportOf('x', [GOOD, SKIPPED, { ...SKIPPED, id: 'R052' }, absentOne], [])
  expect(few.score).toBeUndefined()
  const why = 'no score: 1 of 3 rules was checked'
  expect(summaryOf(few)).toContain(why)
  expect(formatReport(few, 'github')).toContain(why)
  expect(htmlReport(few)).toContain(why)
  expect(JSON.parse(formatReport(few, 'json'))).not.toHaveProperty('score')
})

test('a run in which the server held up a rule is incomplete', () => {
  const held = reportOf('x', [{ ...SKIPPED, id: 'R060', found: RULE_OVER }], [])
  expect(held.isComplete).toBe(false)
  expect(incompleteText(held)).toBe(
    'incomplete: the checks of R060 took too long; find out what the server waits for',
  )
})

test('a run whose time was over is incomplete in every format', () => {
  const late: Outcome = { ...SKIPPED, found: TIME_OVER }
  const report = reportOf('x', [GOOD, late], [])
  expect(REPORT.isComplete).toBe(true)
  expect(report.isComplete).toBe(false)
  expect(formatReport(report, 'github')).toMatch(
    /^::warning title=pierhead validate::incomplete: .*--total 5m/m,
  )
  for (const text of [htmlReport(report), formatReport(report, 'junit'), formatReport(report, 'sarif')])
    expect(text).toMatch(/incomplete: the time was over before 1 rule .*--total 5m/)
  const cut = reportOf('x', [GOOD], [{ transport: 'http', revisions: ['2025-11-25'], left: ['2026-07-28'] }])
  expect(cut.isComplete).toBe(false)
  expect(incompleteText(cut)).toContain('2026-07-28 on http')
})

test('a failure that is ignored is listed and counted, and costs nothing', () => {
  const report = reportOf('x', [GOOD, BAD, WARNED], [], { ignored: ['R005'] })
  expect(report.counts).toMatchObject({ passed: 1, failures: 0, warnings: 1, ignored: 1 })
  expect(report.score).toBe(75)
  expect(summaryOf(report)).toContain('1 passed, 0 failed, 1 warning, 1 ignored')
  const text = formatReport(report, 'junit')
  expect(text).toContain('failures="0" skipped="1"')
  expect(text).toMatch(/<skipped message="ignored: /)
  const { runs } = JSON.parse(formatReport(report, 'sarif')) as {
    runs: [{ results: { ruleId: string; suppressions?: { kind: string }[] }[] }]
  }
  expect(runs[0].results.map(({ ruleId, suppressions }) => [ruleId, suppressions?.[0]?.kind])).toEqual([
    ['R005', 'external'],
    ['R033', undefined],
  ])
  expect(formatReport(report, 'github')).not.toContain('::error')
  expect(htmlReport(report)).toContain('Ignored: 1 rule')
})

test('a target that could not be checked is one error in every format', () => {
  const report = reportOf('x', [], [{ transport: 'stdio', revisions: [], problem: EVIL }], {
    problem: `x could not be checked: ${EVIL}`,
  })
  const text = formatReport(report, 'junit')
  expect(text).toContain('tests="1" failures="0" errors="1" skipped="0"')
  expect(text.match(/<error message="x could not be checked/g)).toHaveLength(1)
  const { runs } = JSON.parse(formatReport(report, 'sarif')) as {
    runs: [
      {
        results: unknown[]
        invocations: [
          { executionSuccessful: boolean; toolExecutionNotifications: { message: { text: string } }[] },
        ]
      },
    ]
  }
  expect(runs[0].results).toEqual([])
  expect(runs[0].invocations[0].executionSuccessful).toBe(false)
  expect(runs[0].invocations[0].toolExecutionNotifications[0]?.message.text).toMatch(/^x could not/)
  expect(formatReport(report, 'github').trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^::error title=pierhead validate::x could not be checked/),
  ])
  const page = htmlReport(report)
  expect(page).toContain('x could not be checked')
  expect(page).not.toContain('<script>')
})

test('one of something is not called several', () => {
  expect(summaryOf(REPORT)).toBe(
    '1 passed, 1 failed, 1 warning, 1 not checked, 0 do not apply; score 42 of 100 for the 3 of 4 rules that were checked',
  )
  expect(summaryOf(reportOf('x', [GOOD], []))).toMatch(/; score 100 of 100$/)
  expect(summaryOf(reportOf('x', [GOOD, SKIPPED], []))).toMatch(/for the 1 of 2 rules that were checked$/)
  expect(htmlReport(REPORT)).toContain('42<small> of 100 for the 3 of 4 rules that were checked</small>')
  const twice = [GOOD, { ...GOOD, revision: '2026-07-28' as const }]
  expect(summaryOf(reportOf('x', twice, []))).toMatch(
    /\(a rule counts once for each revision and transport\)$/,
  )
})

test('secrets are hidden in what a peer said, and words of the validator stay', () => {
  const values = ['schema', 'hunter-2-secret']
  const found = 'no tool with an output schema returned "the schema hunter-2-secret": schema'
  const [one] = reportOf('x', [{ ...SKIPPED, found }], [], { secrets: { values, headers: [] } }).outcomes
  expect(one?.found).toBe('no tool with an output schema returned "the *** ***": ***')
})

test('with --strict, every format counts warnings as failures, and the score stays the same', () => {
  const places = [{ transport: 'http', revisions: ['2025-11-25'] }] as const
  const strict = reportOf('server.ts', [GOOD, WARNED], places, { isStrict: true })
  const usual = reportOf('server.ts', [GOOD, WARNED], places)
  expect(strict.counts).toMatchObject({ failures: 1, warnings: 0 })
  expect(usual.counts).toMatchObject({ failures: 0, warnings: 1 })
  expect(strict.score).toBe(usual.score)
  expect(summaryOf(strict)).toContain('1 failed, 0 warnings')
  expect(formatReport(strict, 'junit')).toContain('failures="1"')
  expect(formatReport(strict, 'github')).toMatch(/^::error title=R033/)
  expect(formatReport(usual, 'github')).toMatch(/^::warning title=R033/)
  expect(formatReport(strict, 'sarif')).toContain('"ruleId": "R033",\n          "level": "error"')
  expect(htmlReport(strict)).toContain('<section class="failure">')
})

test('SARIF places findings in a file, as code scanning wants it, and names the target beside it', () => {
  const placesOf = (target: string): unknown => {
    const text = formatReport(reportOf(target, [BAD], []), 'sarif')
    const { runs } = JSON.parse(text) as { runs: { results: { locations: unknown }[] }[] }
    return runs[0]?.results[0]?.locations
  }
  const at = (uri: string, target: string): unknown => [
    {
      physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } },
      logicalLocations: [{ name: target, fullyQualifiedName: `${target} 2025-11-25 http` }],
    },
  ]
  const url = 'http://127.0.0.1:1/mcp'
  expect(placesOf(url)).toEqual(at('mcp-server', url))
  expect(placesOf('./src/server.ts')).toEqual(at('src/server.ts', './src/server.ts'))
  for (const target of ['node server.js', '/srv/server.js', '../server.js', 'http://x/a.js'])
    expect(placesOf(target)).toEqual(at('mcp-server', target))
})

test('a page names hidden characters beyond the first plane as a whole', () => {
  expect(htmlReport(reportOf('x', [{ ...BAD, found: 'a\u{E0041}b' }], []))).toContain('a\\u{e0041}b')
})
