import { existsSync, readFileSync } from 'node:fs'
import { RESULTS, type TestResult } from './reporter.ts'
import { main } from './run.ts'

/** A way to attack a server that some test must name in its title. */
export interface Case {
  readonly id: string
  readonly level: 'must' | 'should'
  readonly statement: string
  /** Another name of the same case. */
  readonly alias?: string
}

const CASES = 'test/security/cases.json'

/** The cases that no title names. A title may name several at once: `H.verb-*`. */
export function unnamed(cases: readonly Case[], titles: readonly string[]): readonly Case[] {
  const names = new Set(titles.flatMap((title) => title.match(/\b[A-Z]\.[a-z0-9][\w.*-]*/g) ?? []))
  const prefixes = [...names].flatMap((name) => (name.endsWith('*') ? [name.slice(0, -1)] : []))
  const isNamed = (id: string): boolean => names.has(id) || prefixes.some((prefix) => id.startsWith(prefix))
  return cases.filter(({ id, alias }) => !isNamed(id) && (alias === undefined || !isNamed(alias)))
}

function print(): void {
  const cases = JSON.parse(readFileSync(CASES, 'utf8')) as readonly Case[]
  if (!existsSync(RESULTS)) throw new Error(`no test run is recorded in ${RESULTS}; run npm test first`)
  const results = JSON.parse(readFileSync(RESULTS, 'utf8')) as readonly TestResult[]
  const passed = results.filter(({ state }) => state === 'passed').map(({ title }) => title)
  const open = unnamed(cases, passed)
  for (const { id, level, statement } of open) process.stdout.write(`${id}  ${level}  ${statement}\n`)
  process.stdout.write(
    `${cases.length - open.length} of ${cases.length} cases are shown by a test that passes\n`,
  )
  if (open.some(({ level }) => level === 'must')) process.exitCode = 1
}

if (import.meta.filename === process.argv[1]) await main(print)
