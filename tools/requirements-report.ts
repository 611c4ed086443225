import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RESULTS, type TestResult } from './reporter.ts'

/** The parts whose requirements count as due: an id of theirs without a passing test is open. */
export const BEGUN: readonly string[] = ['foundation', 'client', 'speed', 'transports', 'dialects']

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
  /** The id that asks for the same, whose tests prove this one too. */
  readonly sameAs?: string
}

export interface Finding extends Requirement {
  readonly state: 'proved' | 'failing' | 'open'
  readonly tests: readonly TestResult[]
}

export interface Report {
  readonly findings: readonly Finding[]
  /** Ids in test titles that no requirement has, each with its test. */
  readonly unknown: readonly { readonly id: string; readonly test: TestResult }[]
  /** Whether a test run was recorded. */
  readonly tested: boolean
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
  const findings = rows.map((row) => toFinding(row, family(row, known), byId))
  return { findings, unknown, tested }
}

/** All requirements of a folder, in the order of its files and lines; throws when a line cannot be used. */
export function readRequirements(folder: string): readonly Requirement[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  const rows = files.toSorted().flatMap((name) => readLines(join(folder, name)))
  const ids = new Set<string>()
  for (const { id } of rows) {
    if (ids.has(id)) throw new Error(`the id ${id} stands in ${folder} twice; give each requirement its own`)
    ids.add(id)
  }
  for (const { id, sameAs } of rows) {
    if (sameAs !== undefined && (sameAs === id || !ids.has(sameAs)))
      throw new Error(`${id} is the same as ${sameAs}, which is no other requirement; correct sameAs`)
  }
  return rows
}

/** The exit code: 1 when a test names an unknown id, a due requirement has a failing test, or nothing was tested. */
export function exitCode({ findings, unknown, tested }: Report): 0 | 1 {
  const broken = findings.some(({ part, state }) => state === 'failing' && BEGUN.includes(part))
  return unknown.length > 0 || broken || !tested ? 1 : 0
}

const REQUIRED = ['id', 'statement', 'area', 'part', 'honoured']

function readLines(file: string): readonly Requirement[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (line === '') return []
    const row = JSON.parse(line) as Record<string, unknown>
    const absent = REQUIRED.find((key) => typeof row[key] !== 'string' || row[key] === '')
    if (absent) throw new Error(`${file}:${index + 1} has no "${absent}"; every requirement needs one`)
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

/** Everything in brackets that begins like an id, so that a mistyped one is found as well. */
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

function toFinding(
  row: Requirement,
  ids: ReadonlySet<string>,
  byId: ReadonlyMap<string, readonly TestResult[]>,
): Finding {
  const tests = [...new Set([...ids].flatMap((id) => byId.get(id) ?? []))]
  const has = (state: TestResult['state']): boolean => tests.some((test) => test.state === state)
  return { ...row, state: has('failed') ? 'failing' : has('passed') ? 'proved' : 'open', tests }
}
