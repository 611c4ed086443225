import { existsSync, readFileSync } from 'node:fs'
import { compare, recordProven, type Counts } from './proven.ts'
import { RESULTS, type TestResult } from './reporter.ts'
import { main } from './run.ts'

/** An attack that some test must name in its title. */
export interface Case {
  readonly id: string
  readonly level: 'must' | 'should'
  readonly statement: string
  /** Another id of the same case. */
  readonly alias?: string
  /** The transports that must be tested, if they differ from those of its kind. */
  readonly over?: readonly string[]
}

const CASES = 'test/security/cases.json'

/** The newer transports over which cases of messages and of lines must be tested too. */
const OVER: Readonly<Record<string, readonly string[]>> = { M: ['tcp', 'ws'], L: ['tcp'] }

/** The missing cases by transport: no test of that transport names them. The title or folder of a test determines its transport. */
export function notOver(
  cases: readonly Case[],
  tests: readonly Pick<TestResult, 'file' | 'title'>[],
): ReadonlyMap<string, readonly Case[]> {
  const transports = [...new Set(cases.flatMap(overOf))]
  return new Map(
    transports.map((transport) => {
      const titles = tests.filter((test) => isOver(test, transport)).map(({ title }) => title)
      const wanted = cases.filter((one) => overOf(one).includes(transport))
      return [transport, unnamed(wanted, titles)]
    }),
  )
}

function overOf({ id, over }: Case): readonly string[] {
  return over ?? OVER[id.slice(0, 1)] ?? []
}

function isOver({ file, title }: Pick<TestResult, 'file' | 'title'>, transport: string): boolean {
  return file.split('/').includes(transport) || new RegExp(`\\b${transport}\\b`).test(title)
}

/** The cases that no title names. */
export function unnamed(cases: readonly Case[], titles: readonly string[]): readonly Case[] {
  const counts = countTitles(cases, titles)
  return cases.filter(({ id }) => counts[id] === 0)
}

/** The number of titles that name each case, by its id, its alias or a group such as `H.verb-*`. */
function countTitles(cases: readonly Case[], titles: readonly string[]): Counts {
  const naming = titles
    .map((title) => title.match(/\b[A-Z]\.[a-z0-9][\w.*-]*/g) ?? [])
    .filter((names) => names.length > 0)
  const isNamed = (id: string | undefined, names: readonly string[]): boolean =>
    id !== undefined &&
    names.some((name) => name === id || (name.endsWith('*') && id.startsWith(name.slice(0, -1))))
  return Object.fromEntries(
    cases.map(({ id, alias }) => [
      id,
      naming.filter((names) => isNamed(id, names) || isNamed(alias, names)).length,
    ]),
  )
}

function print(): void {
  const [flag, ...more] = process.argv.slice(2)
  if (more.length > 0 || (flag !== undefined && flag !== '--check' && flag !== '--record'))
    throw new Error(`unknown flag ${[flag, ...more].join(' ')}; use --check or --record`)
  const cases = JSON.parse(readFileSync(CASES, 'utf8')) as readonly Case[]
  if (!existsSync(RESULTS)) throw new Error(`no test run is recorded in ${RESULTS}; run npm test first`)
  const results = JSON.parse(readFileSync(RESULTS, 'utf8')) as readonly TestResult[]
  const passed = results.filter(({ state }) => state === 'passed')
  const missing = missingOf(cases, passed)
  for (const { id, level, statement } of missing) console.log(`${id}  ${level}  ${statement}`)
  const covered = countTitles(
    cases.filter(({ id }) => missing.every((one) => one.id !== id)),
    passed.map(({ title }) => title),
  )
  console.log(`${Object.keys(covered).length} of ${cases.length} cases are covered by a passing test`)
  if (missing.some(({ level }) => level === 'must')) process.exitCode = 1
  if (flag === '--record') {
    if (process.exitCode === 1 || passed.length < results.length)
      throw new Error('nothing was recorded; fix the failing tests and the missing cases first')
    for (const id of recordProven(process.cwd(), { cases: covered })) console.log(`${id} is no longer listed`)
  }
  if (flag !== '--check') return
  const { kept, text } = compare(process.cwd(), { cases: covered }, 'npm run cases -- --record')
  if (!kept) process.exitCode = 1
  process.stdout.write(text)
}

/** The cases that no passing test covers, or not over every required transport. */
function missingOf(cases: readonly Case[], passed: readonly TestResult[]): readonly Case[] {
  const open = unnamed(
    cases,
    passed.map(({ title }) => title),
  )
  const partly = [...notOver(cases, passed)].flatMap(([transport, missing]) =>
    missing
      .filter((one) => !open.includes(one))
      .map((one) => ({ ...one, statement: `not over ${transport}: ${one.statement}` })),
  )
  return [...open, ...partly]
}

if (import.meta.filename === process.argv[1]) await main(print)
