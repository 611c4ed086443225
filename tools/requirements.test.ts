import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { OURS } from '../bench/subjects.ts'
import { compare, readProven, recordProven } from './proven.ts'
import type { TestResult } from './reporter.ts'
import { exitCode, readRequirements, toProven, toReport } from './requirements-report.ts'
import { toJson, toMissing, toText } from './requirements-text.ts'

const ROWS = [
  row('S0-1', 'foundation'),
  { ...row('S0-2', 'foundation'), sameAs: 'S1-1' },
  { ...row('S1-1', 'foundation'), sameAs: 'S0-1' },
  row('S1-2', 'later'),
  row('R001', 'foundation'),
]

test('a requirement is proved by a passing test that names it in brackets', () => {
  const { findings } = toReport(plant([ran('one', 'S1-2'), ran('two', 'R001')]))
  expect(states(findings)).toEqual({
    'S0-1': 'open',
    'S0-2': 'open',
    'S1-1': 'open',
    'S1-2': 'proved',
    R001: 'proved',
  })
})

test('a failing test outweighs a passing one, and a skipped one proves nothing', () => {
  const { findings } = toReport(
    plant([ran('one', 'S0-1'), ran('two', 'S0-1', 'failed'), ran('three', 'R001', 'skipped')]),
  )
  expect(states(findings)).toMatchObject({ 'S0-1': 'failing', R001: 'open' })
})

test('tests prove every requirement that repeats theirs, over several steps, but not the reverse', () => {
  const first = toReport(plant([ran('one', 'S0-1')])).findings
  expect(states(first)).toMatchObject({ 'S0-1': 'proved', 'S1-1': 'proved', 'S0-2': 'proved' })
  const last = toReport(plant([ran('one', 'S0-2')])).findings
  expect(states(last)).toMatchObject({ 'S0-1': 'open', 'S1-1': 'open', 'S0-2': 'proved' })
})

test('one title may name several ids, and other text in brackets is ignored', () => {
  const report = toReport(
    plant([{ ...ran('', 'S0-1'), title: `x ${mark('S0-1')} ${mark('R001')} [1, 2] [C.3]` }]),
  )
  expect(states(report.findings)).toMatchObject({ 'S0-1': 'proved', R001: 'proved' })
  expect(report.unknown).toEqual([])
})

test.each(['R1', 'R999', 'S9-1', 'S0_1', 'S0-1, R001'])('the mistyped id %s is an error', (id) => {
  const report = toReport(plant([ran('one', id)]))
  expect(report.unknown.map((one) => one.id)).toEqual([id])
  expect(exitCode(report)).toBe(1)
})

test('only a failing requirement of a part that has begun fails the report', () => {
  expect(exitCode(toReport(plant([ran('one', 'S0-1')])))).toBe(0)
  expect(exitCode(toReport(plant([ran('one', 'S1-2', 'failed')])))).toBe(0)
  expect(exitCode(toReport(plant([ran('one', 'S0-1', 'failed')])))).toBe(1)
})

test('the JSON form lists every id with statement, part, state and tests', () => {
  const { tested, requirements } = JSON.parse(toJson(toReport(plant([ran('one', 'S0-1')]))))
  expect(tested).toBe(true)
  expect(requirements).toHaveLength(ROWS.length)
  expect(requirements.find((one: { id: string }) => one.id === 'S0-1')).toEqual({
    ...row('S0-1', 'foundation'),
    state: 'proved',
    begun: true,
    tests: [ran('one', 'S0-1')],
    misses: [],
  })
})

test('the text form counts by document and part, and lists the open ids of the parts begun', () => {
  const lines = toText(toReport(plant([ran('one', 'R001')])), { colour: false }).split('\n')
  expect(lines).toContain('                all   proved   partly   missed  failing     open')
  expect(lines).toContain('  protocol        1        1        0        0        0        0')
  expect(lines).toContain('  S1              2        0        0        0        0        2')
  expect(lines).toContain('  foundation *        4        1        0        0        0        3')
  expect(lines).toContain('  all                 5        1        0        0        0        4')
  expect(lines).toContain('  S0-1       says S0-1')
  expect(lines).toContain('  later        1 open')
  expect(lines.join('')).not.toContain('\u001B')
})

test('the missing ids are those of begun parts that no test names', () => {
  expect(toMissing(toReport(plant([ran('one', 'S0-1')])))).toBe('R001\tsays R001\n')
})

test('a requirement that lacks something is at best partly proved, and the text says what it lacks', () => {
  const rows = [
    { ...row('S0-1', 'foundation'), lacks: 'nobody tries it at night' },
    row('S0-2', 'foundation'),
  ]
  const report = toReport(plant([ran('one', 'S0-1')], rows))
  expect(states(report.findings)).toEqual({ 'S0-1': 'partly', 'S0-2': 'open' })
  expect(toText(report, { colour: false })).toContain('lacks: nobody tries it at night')
  expect(states(toReport(plant([ran('one', 'S0-1', 'failed')], rows)).findings)['S0-1']).toBe('failing')
  expect(states(toReport(plant([], rows)).findings)['S0-1']).toBe('open')
})

describe('a required number', () => {
  const least = { work: 'calls', unit: 'req/s', least: 100 }
  const most = { work: 'calls', unit: 'ms', most: 5 }
  const asked = (more: object): readonly object[] => [
    { ...row('S0-1', 'foundation'), measured: [least, most], ...more },
    { ...row('S0-2', 'foundation'), sameAs: 'S0-1' },
  ]
  const measured = (rows: readonly object[], calls: number, ms: number): ReturnType<typeof toReport> => {
    const root = plant([ran('one', 'S0-1')], rows)
    mkdirSync(join(root, 'reports'))
    const record = [
      { work: 'calls', unit: 'req/s', subject: 'bare', value: 1e9 },
      { work: 'calls', unit: 'req/s', subject: OURS.name, value: calls },
      { work: 'calls', unit: 'ms', subject: OURS.name, value: ms },
    ]
    writeFileSync(join(root, 'reports/reference.json'), JSON.stringify(record))
    return toReport(root)
  }

  test('is proved when the record reaches it', () => {
    expect(states(measured(asked({}), 100, 5).findings)).toEqual({ 'S0-1': 'proved', 'S0-2': 'proved' })
  })

  test('is missed when the record does not, with the reason, and does not fail the report', () => {
    const report = measured(asked({ missed: 'The machine is small.' }), 99, 5.1)
    expect(states(report.findings)).toEqual({ 'S0-1': 'missed', 'S0-2': 'missed' })
    const text = toText(report, { colour: false })
    expect(text).toContain('99 req/s instead of at least 100 (calls)')
    expect(text).toContain('5.1 ms instead of at most 5 (calls)')
    expect(text).toContain('The machine is small.')
    expect(exitCode(report)).toBe(0)
    expect(toProven(report)).toEqual({ proved: {}, partly: {}, missed: { 'S0-1': 1, 'S0-2': 1 } })
  })

  test('must say why it is missed, and only while it is', () => {
    expect(() => measured(asked({}), 99, 5)).toThrow('99 req/s instead of at least 100 (calls). Say why')
    expect(() => measured(asked({ missed: 'Why not.' }), 100, 5)).toThrow('Remove "missed"')
  })

  test('must be in the record', () => {
    const rows = asked({ measured: [{ work: 'other', unit: 'ms', most: 1 }] })
    expect(() => measured(rows, 100, 5)).toThrow('has no ms for "other"')
  })
})

test(
  'the comparison of the last run with the committed list fails for lost ids and for new ones',
  { timeout: 60_000 },
  () => {
    const root = plant([ran('one', 'S0-1'), ran('two', 'R001')])
    expect(command(root, '--check').status).toBe(1)
    expect(command(root, '--record').status).toBe(0)
    expect(command(root, '--check')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('\n4 passed, 0 failed\n'),
    })
    record(root, [ran('one', 'S0-1'), ran('two', 'S1-2')])
    const { status, stdout } = command(root, '--check')
    expect(status).toBe(1)
    expect(stdout).toContain('LOST   R001: it was proved, and is in no passing test')
    expect(stdout).toContain('NEW    S1-2')
    expect(stdout).toContain('\n3 passed, 2 failed\n')
    expect(command(root, '--record').stdout).toContain('R001 is no longer listed')
  },
)

test('the comparison fails for an id that fewer tests name, or that is now only partly proved', () => {
  const root = plant([ran('one', 'S0-1'), ran('two', 'S0-1'), ran('three', 'R001')])
  recordProven(root, toProven(toReport(root)))
  record(root, [ran('one', 'S0-1'), ran('three', 'R001')])
  const fewer = compare(root, toProven(toReport(root)), 'it again')
  expect(fewer.kept).toBe(false)
  expect(fewer.text).toContain('FEWER  S0-1: 1 passing tests name it instead of 2')
  record(root, [ran('one', 'S0-1'), ran('two', 'S0-1'), ran('three', 'R001'), ran('four', 'R001')])
  expect(compare(root, toProven(toReport(root)), 'it again').kept).toBe(true)
  const rows = ROWS.map((one) => (one['id'] === 'R001' ? { ...one, lacks: 'Half of it.' } : one))
  writeFileSync(join(root, 'requirements/s.jsonl'), rows.map((one) => `${JSON.stringify(one)}\n`).join(''))
  expect(compare(root, toProven(toReport(root)), 'it again').text).toContain(
    'LOST   R001: it was proved, and is partly',
  )
})

test('a requirement lacks what the one it repeats lacks', () => {
  const rows = ROWS.map((one) => (one['id'] === 'S0-1' ? { ...one, lacks: 'Half of it.' } : one))
  const { findings } = toReport(plant([ran('one', 'S0-1')], rows))
  expect(states(findings)).toMatchObject({ 'S0-1': 'partly', 'S1-1': 'partly', 'S0-2': 'partly' })
})

test('nothing is recorded while any test fails', { timeout: 60_000 }, () => {
  const root = plant([ran('one', 'S0-1'), { file: 'b.test.ts', title: 'outside any test', state: 'failed' }])
  expect(command(root, '--record')).toMatchObject({ status: 1 })
  expect(readProven(root).proved).toEqual({})
})

test('the committed list names only requirements and cases that exist', () => {
  const { cases, ...ids } = readProven('.')
  const known = readRequirements('requirements').map(({ id }) => id)
  const listed = Object.values(ids).flatMap((counts) => Object.keys(counts))
  expect(listed.length).toBeGreaterThan(500)
  expect(listed.filter((id) => !known.includes(id))).toEqual([])
  const attacks = JSON.parse(readFileSync('test/security/cases.json', 'utf8')) as { readonly id: string }[]
  expect(Object.keys(cases).length).toBeGreaterThan(200)
  expect(Object.keys(cases).filter((id) => attacks.every((one) => one.id !== id))).toEqual([])
})

test('nothing is recorded from a run with a failing requirement', { timeout: 60_000 }, () => {
  const root = plant([ran('one', 'S0-1', 'failed')])
  expect(command(root, '--record')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('nothing was recorded'),
  })
})

test.each([
  ['a duplicate id', [row('S0-1', 'client'), row('S0-1', 'client')], /S0-1 appears twice in /],
  ['a repeat of an unknown id', [{ ...row('S0-1', 'client'), sameAs: 'S0-9' }], /S0-1 is the same as S0-9/],
  ['a row without a part', [{ ...row('S0-1', 'client'), part: '' }], /s\.jsonl:1 has no "part"/],
  [
    'a misspelt member',
    [{ ...row('S0-1', 'client'), lack: 'x' }],
    /s\.jsonl:1 has "lack"; the optional members/,
  ],
  [
    'a number without a bound',
    [{ ...row('S0-1', 'client'), measured: [{ work: 'calls', unit: 'ms', min: 1 }] }],
    /measures "calls" without "least" or "most"/,
  ],
])('%s is rejected', (_kind, rows, message) => {
  expect(() => toReport(plant([], rows))).toThrow(message)
})

test(
  'the command prints JSON into a pipe, and asks for a test run if there was none',
  { timeout: 60_000 },
  () => {
    const root = plant(undefined)
    const before = command(root)
    expect(before.status).toBe(1)
    expect(before.stderr).toContain('run npm test first')
    expect(JSON.parse(before.stdout)).toMatchObject({ tested: false, requirements: { length: ROWS.length } })
    record(root, [ran('one', 'R001')])
    const after = command(root, '--missing')
    expect([after.status, after.stderr]).toEqual([0, ''])
    expect(after.stdout).toContain('S0-1\tsays S0-1\n')
    expect(command(root, '--wrong').stderr).toContain('unknown flag --wrong')
  },
)

test('the committed requirements are valid, and each states in one line how it is honoured', () => {
  const rows = readRequirements('requirements')
  expect(rows.filter(({ id }) => /^S[0-4]-/.test(id))).toHaveLength(532)
  expect(rows.filter(({ id }) => /^R\d{3}$/.test(id))).toHaveLength(230)
  const multiline = rows.filter(({ statement, honoured }) => /\n| {2}/.test(statement + honoured))
  expect(multiline).toEqual([])
})

test('a committed requirement repeats only one of the same part, so that it is not proved before its part', () => {
  const parts = new Map(readRequirements('requirements').map(({ id, part }) => [id, part]))
  const early = readRequirements('requirements').filter(
    ({ part, sameAs }) => sameAs !== undefined && parts.get(sameAs) !== part,
  )
  expect(early).toEqual([])
})

function row(id: string, part: string): Record<string, string> {
  return { id, statement: `says ${id}`, area: 'server', part, honoured: 'It is.' }
}

/** Ids get their brackets here, so that the titles of this file name no ids. */
function mark(id: string): string {
  return `[${id}]`
}

function ran(name: string, id: string, state: TestResult['state'] = 'passed'): TestResult {
  return { file: 'a.test.ts', title: `${name} ${mark(id)}`, state }
}

function states(findings: ReturnType<typeof toReport>['findings']): Record<string, string> {
  return Object.fromEntries(findings.map(({ id, state }) => [id, state]))
}

function plant(results: readonly TestResult[] | undefined, rows: readonly object[] = ROWS): string {
  const root = mkdtempSync(join(tmpdir(), 'pierhead-requirements-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'requirements'))
  writeFileSync(join(root, 'requirements/s.jsonl'), rows.map((one) => `${JSON.stringify(one)}\n`).join(''))
  if (results) record(root, results)
  return root
}

function record(root: string, results: readonly TestResult[]): void {
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(join(root, '.cache/test-results.json'), JSON.stringify(results))
}

function command(
  cwd: string,
  ...flags: readonly string[]
): ReturnType<typeof spawnSync> & { stdout: string; stderr: string } {
  const tsx = import.meta.resolve('tsx')
  const args = ['--import', tsx, resolve('tools/requirements.ts'), ...flags]
  return spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
}
