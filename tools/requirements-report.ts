import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from '../bench/measure.ts'
import { OURS } from '../bench/subjects.ts'
import type { Counts, Proven } from './proven.ts'
import { RESULTS, type TestResult } from './reporter.ts'

/** The parts whose requirements count as due: an id of theirs without a passing test is open. */
export const BEGUN: readonly string[] = [
  'foundation',
  'client',
  'speed',
  'transports',
  'dialects',
  'auth',
  'cluster',
  'tasks',
  'cli',
]

/** One line of requirements/*.jsonl. */
interface Requirement {
  readonly id: string
  /** For rules of the protocol: the revisions that have the rule. */
  readonly revisions?: string
  readonly statement: string
  readonly area: string
  /** The part of the product that delivers it. */
  readonly part: string
  readonly honoured: string
  /** Another id with the same requirement, whose tests prove this one too. */
  readonly sameAs?: string
  /** The part of the statement that no test proves yet; the id is then proved only partly. */
  readonly lacks?: string
  /** The numbers that the record of the bench must reach. */
  readonly measured?: readonly Bound[]
  /** Why the record misses one of them. */
  readonly missed?: string
}

/** A required number for our row of a workload in the record of the bench. */
interface Bound {
  readonly work: string
  readonly unit: string
  readonly least?: number
  readonly most?: number
}

/** The states of a requirement, from the best to the worst. */
export const STATES = ['proved', 'partly', 'missed', 'failing', 'open'] as const
export type State = (typeof STATES)[number]

export interface Finding extends Requirement {
  readonly state: State
  readonly tests: readonly TestResult[]
  /** Each bound that the record does not reach, in words. */
  readonly misses: readonly string[]
}

export interface Report {
  readonly findings: readonly Finding[]
  /** Ids in test titles that no requirement has, each with its test. */
  readonly unknown: readonly { readonly id: string; readonly test: TestResult }[]
  /** Whether a test run was recorded. */
  readonly tested: boolean
  /** The number of its tests that failed. */
  readonly failed: number
}

/** The state of every requirement under `root`, from its data and the last recorded test run. */
export function toReport(root: string): Report {
  const rows = readRequirements(join(root, 'requirements'))
  const file = join(root, RESULTS)
  const tested = existsSync(file)
  const results = tested ? (JSON.parse(readFileSync(file, 'utf8')) as readonly TestResult[]) : []
  const byId = testsById(results)
  const known = new Map(rows.map((row) => [row.id, row]))
  const unknown = [...byId].flatMap(([id, tests]) =>
    known.has(id) ? [] : tests.map((test) => ({ id, test })),
  )
  const record = rows.some(({ measured }) => measured) ? readRecord(join(root, RECORD)) : []
  const findings = rows.map((row) => toFinding(row, family(row, known), { byId, known, record }))
  const failed = results.filter(({ state }) => state === 'failed').length
  return { findings, unknown, tested, failed }
}

/** The last complete run of the bench. */
const RECORD = 'reports/reference.json'

function readRecord(file: string): readonly Row[] {
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
}

/** All requirements of a folder, in the order of its files and lines; throws if a line is invalid. */
export function readRequirements(folder: string): readonly Requirement[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  const rows = files.toSorted().flatMap((name) => readLines(join(folder, name)))
  const ids = new Set<string>()
  for (const { id } of rows) {
    if (ids.has(id))
      throw new Error(`the id ${id} appears twice in ${folder}; give each requirement its own id`)
    ids.add(id)
  }
  for (const { id, sameAs } of rows) {
    if (sameAs !== undefined && (sameAs === id || !ids.has(sameAs)))
      throw new Error(`${id} is the same as ${sameAs}, which is not another requirement; correct sameAs`)
  }
  return rows
}

/** The exit code: 1 when a test names an unknown id, a due requirement has a failing test, or nothing was tested. */
export function exitCode({ findings, unknown, tested }: Report): 0 | 1 {
  const broken = findings.some(({ part, state }) => state === 'failing' && BEGUN.includes(part))
  return unknown.length > 0 || broken || !tested ? 1 : 0
}

/** The ids that the committed list must have. */
export function toProven({ findings }: Report): Omit<Proven, 'cases'> {
  const inState = (wanted: State): Counts =>
    Object.fromEntries(
      findings.filter(({ state }) => state === wanted).map(({ id, tests }) => [id, tests.length]),
    )
  return { proved: inState('proved'), partly: inState('partly'), missed: inState('missed') }
}

const REQUIRED = ['id', 'statement', 'area', 'part', 'honoured']
const OPTIONAL = ['revisions', 'sameAs', 'lacks', 'measured', 'missed']

function readLines(file: string): readonly Requirement[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (line === '') return []
    const row = JSON.parse(line) as Record<string, unknown>
    const absent = REQUIRED.find((key) => typeof row[key] !== 'string' || row[key] === '')
    if (absent) throw new Error(`${file}:${index + 1} has no "${absent}"; every requirement needs one`)
    const unknown = Object.keys(row).find((key) => !REQUIRED.includes(key) && !OPTIONAL.includes(key))
    if (unknown)
      throw new Error(
        `${file}:${index + 1} has "${unknown}"; the optional members are ${OPTIONAL.join(', ')}`,
      )
    for (const bound of (row['measured'] ?? []) as readonly Bound[])
      if (typeof (bound.least ?? bound.most) !== 'number')
        throw new Error(`${file}:${index + 1} measures "${bound.work}" without "least" or "most"`)
    return [row as unknown as Requirement]
  })
}

function testsById(results: readonly TestResult[]): ReadonlyMap<string, readonly TestResult[]> {
  const byId = new Map<string, TestResult[]>()
  for (const result of results) {
    for (const id of idsIn(result.title)) {
      const tests = byId.get(id) ?? []
      byId.set(id, tests)
      tests.push(result)
    }
  }
  return byId
}

/** Everything in brackets that begins like an id, so that mistyped ids are found too. */
function idsIn(title: string): ReadonlySet<string> {
  return new Set(Array.from(title.matchAll(/\[([RS]\d[^\]]*)\]/g), ([, id]) => id as string))
}

/** The id itself and every id that it repeats. */
function family(row: Requirement, known: ReadonlyMap<string, Requirement>): ReadonlySet<string> {
  const ids = new Set<string>()
  for (let next: Requirement | undefined = row; next && !ids.has(next.id);) {
    ids.add(next.id)
    next = next.sameAs === undefined ? undefined : known.get(next.sameAs)
  }
  return ids
}

interface Evidence {
  readonly byId: ReadonlyMap<string, readonly TestResult[]>
  readonly known: ReadonlyMap<string, Requirement>
  readonly record: readonly Row[]
}

function toFinding(row: Requirement, ids: ReadonlySet<string>, evidence: Evidence): Finding {
  const { byId, known, record } = evidence
  const tests = [...new Set([...ids].flatMap((id) => byId.get(id) ?? []))]
  const bounds = [...ids].flatMap((id) => known.get(id)?.measured ?? [])
  const misses = bounds.flatMap((bound) => missOf(bound, record) ?? [])
  const reasons = [...ids].flatMap((id) => known.get(id)?.missed ?? [])
  if (misses.length > 0 && reasons.length === 0)
    throw new Error(`${row.id}: the record has ${misses.join('; ')}. Say why in "missed".`)
  if (misses.length === 0 && row.missed !== undefined)
    throw new Error(`${row.id}: the record reaches every number. Remove "missed".`)
  const lacking = [...ids].some((id) => known.get(id)?.lacks !== undefined)
  return { ...row, state: stateOf(lacking, tests, misses), tests, misses }
}

function stateOf(lacking: boolean, tests: readonly TestResult[], misses: readonly string[]): State {
  const has = (state: TestResult['state']): boolean => tests.some((test) => test.state === state)
  if (has('failed')) return 'failing'
  if (!has('passed')) return 'open'
  if (misses.length > 0) return 'missed'
  return lacking ? 'partly' : 'proved'
}

/** Describes the recorded value if it misses a bound; throws if the record has no such row. */
function missOf({ work, unit, least, most }: Bound, record: readonly Row[]): string | undefined {
  const row = record.find((one) => one.work === work && one.unit === unit && one.subject === OURS.name)
  if (row === undefined) throw new Error(`${RECORD} has no ${unit} for "${work}"; correct "measured"`)
  if (row.value >= (least ?? -Infinity) && row.value <= (most ?? Infinity)) return undefined
  const bound = least === undefined ? `at most ${most}` : `at least ${least}`
  return `${row.value} ${unit} instead of ${bound} (${work})`
}
