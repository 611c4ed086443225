import { bundleClient } from './conformance-client.ts'
import { startFixture } from './conformance-fixture.ts'
import { EXAMPLES_RECORD, measureExamples, recordExamples } from './conformance-examples.ts'
import { judgeRun, type Verdict } from './conformance-results.ts'
import { ALL, installSuite, type Side, type Suite } from './conformance-suite.ts'
import { readInventory } from './inventory.ts'
import { nodeBinary } from './nodes.ts'
import { main } from './run.ts'

const SETS: readonly string[] = ['2025-11-25', '2026-07-28', ALL]
const SIDES: readonly Side[] = ['server', 'client']

/** The word for the servers of the examples. */
const EXAMPLES = 'examples'
/** The word that records their results. */
const RECORD = 'record'

/** Runs the official suite against our server and client and the examples, or only for the named sides and sets of scenarios. */
async function conformance(): Promise<void> {
  const named = process.argv.slice(2)
  const words = [...SIDES, EXAMPLES, ...SETS]
  const folders = readInventory().examples.map(({ folder }) => folder)
  const known = named.includes(EXAMPLES) ? [...words, RECORD, ...folders] : words
  const unknown = named.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`unknown argument "${unknown}"; use ${known.join(', ')}`)
  const suite = installSuite(await nodeBinary(22))
  const tally: Tally = { passed: 0, failed: 0, leftOut: [] }
  const sets = selected(SETS, named)
  const subjects = selected([...SIDES, EXAMPLES], named)
  if (subjects.includes('server')) await measureServer(suite, sets, tally)
  if (subjects.includes('client')) await measureClient(suite, sets, tally)
  if (subjects.includes(EXAMPLES)) await measureAll(suite, sets, named, tally)
  console.log(`${leftOutText(tally.leftOut)}\n${tally.passed} passed, ${tally.failed} failed`)
  if (tally.failed > 0) process.exitCode = 1
}

/** The servers of the examples, or of the named ones: of the scenarios that no revision requires, none applies to them. */
async function measureAll(
  suite: Suite,
  sets: readonly string[],
  named: readonly string[],
  tally: Tally,
): Promise<void> {
  const required = sets.filter((set) => set !== ALL)
  const only = readInventory()
    .examples.map(({ folder }) => folder)
    .filter((folder) => named.includes(folder))
  console.log(`examples, ${required.join(' and ')}:`)
  const results = await measureExamples(suite, required, only)
  for (const { applies, passed } of results) {
    tally.passed += passed
    tally.failed += applies - passed
  }
  if (!named.includes(RECORD)) return
  if (only.length > 0 || required.length < SETS.length - 1)
    throw new Error('record needs all examples and sets')
  recordExamples(results)
  console.log(`recorded in ${EXAMPLES_RECORD}`)
}

interface Tally {
  passed: number
  failed: number
  /** The scenarios that were not counted, each with its side and set. */
  readonly leftOut: string[]
}

/** The named ones, or all if none is named. */
function selected<Name extends string>(all: readonly Name[], named: readonly string[]): readonly Name[] {
  const some = all.filter((name) => named.includes(name))
  return some.length === 0 ? all : some
}

async function measureServer(suite: Suite, sets: readonly string[], tally: Tally): Promise<void> {
  const fixture = await startFixture()
  try {
    for (const set of sets) await measure(suite, 'server', set, fixture.url, tally)
  } finally {
    await fixture.close()
  }
}

async function measureClient(suite: Suite, sets: readonly string[], tally: Tally): Promise<void> {
  const command = await bundleClient()
  for (const set of sets) await measure(suite, 'client', set, command, tally)
}

/** Runs the scenarios of one set for a server or client and prints a line for each. */
async function measure(suite: Suite, side: Side, set: string, subject: string, tally: Tally): Promise<void> {
  const scenarios = suite.scenarios(side, set)
  const { folder, log } = await suite.test(side, set, subject)
  console.log(`${side}, ${set}: ${scenarios.length} scenarios, log in ${log}`)
  for (const scenario of scenarios) {
    if (isLeftOut(scenario)) {
      console.log(`  left out  ${scenario}`)
      tally.leftOut.push(`${side}, ${set}: ${scenario}`)
      continue
    }
    const verdict = judgeRun(folder, side, scenario)
    tally[verdict.passed ? 'passed' : 'failed'] += 1
    print(scenario, verdict)
  }
}

/** The scenarios that cannot pass, by their prefix: of features that we do not have yet, and those that the suite always skips. */
const LEFT_OUT = {
  'sep-2640-': 'about skills',
  'tasks-status-notifications': 'skipped by the suite',
} as const

function isLeftOut(scenario: string): boolean {
  return Object.keys(LEFT_OUT).some((prefix) => scenario.startsWith(prefix))
}

/** The scenarios that are not scored, counted by reason. */
export function leftOutText(leftOut: readonly string[]): string {
  const counts = Object.entries(LEFT_OUT).map(([prefix, why]) => {
    const count = leftOut.filter((scenario) => scenario.includes(`: ${prefix}`)).length
    return `${count} ${why}`
  })
  return `${leftOut.length} scenarios of the suite are left out: ${counts.join(', ')}`
}

function print(scenario: string, { passed, notes }: Verdict): void {
  console.log(`  ${passed ? 'passed' : 'FAILED'}  ${scenario}`)
  for (const note of notes) console.log(`          ${note.replaceAll('\n', '\n          ')}`)
}

if (import.meta.filename === process.argv[1]) await main(conformance)
