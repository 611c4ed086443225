import { bundleClient } from './conformance-client.ts'
import { startFixture } from './conformance-fixture.ts'
import { judgeRun, type Verdict } from './conformance-results.ts'
import { installSuite, type Side, type Suite } from './conformance-suite.ts'
import { nodeBinary } from './nodes.ts'
import { main } from './run.ts'

const REVISIONS: readonly string[] = ['2025-11-25', '2026-07-28']
const SIDES: readonly Side[] = ['server', 'client']

/** Runs the official suite against our server and our client, or against those of the sides and revisions named. */
async function conformance(): Promise<void> {
  const named = process.argv.slice(2)
  const stranger = named.find((name) => !REVISIONS.includes(name) && !SIDES.some((side) => side === name))
  if (stranger !== undefined)
    throw new Error(`"${stranger}" is none of ${[...SIDES, ...REVISIONS].join(', ')}`)
  const suite = installSuite(await nodeBinary(22))
  const tally = { passed: 0, failed: 0 }
  const revisions = chosen(REVISIONS, named)
  const sides = chosen(SIDES, named)
  if (sides.includes('server')) await measureServer(suite, revisions, tally)
  if (sides.includes('client')) await measureClient(suite, revisions, tally)
  console.log(`${tally.passed} passed, ${tally.failed} failed`)
  if (tally.failed > 0) process.exitCode = 1
}

interface Tally {
  passed: number
  failed: number
}

/** Those that are named, or all when none is. */
function chosen<Name extends string>(all: readonly Name[], named: readonly string[]): readonly Name[] {
  const some = all.filter((name) => named.includes(name))
  return some.length === 0 ? all : some
}

async function measureServer(suite: Suite, revisions: readonly string[], tally: Tally): Promise<void> {
  const fixture = await startFixture()
  try {
    for (const revision of revisions) await measure(suite, 'server', revision, fixture.url, tally)
  } finally {
    await fixture.close()
  }
}

async function measureClient(suite: Suite, revisions: readonly string[], tally: Tally): Promise<void> {
  const command = await bundleClient()
  for (const revision of revisions) await measure(suite, 'client', revision, command, tally)
}

/** Runs what one revision asks of a server or a client and prints a line for each scenario. */
async function measure(
  suite: Suite,
  side: Side,
  revision: string,
  subject: string,
  tally: Tally,
): Promise<void> {
  const scenarios = suite.scenarios(side, revision)
  const { folder, log } = await suite.test(side, revision, subject)
  console.log(`${side} at ${revision}: ${scenarios.length} scenarios, log in ${log}`)
  for (const scenario of scenarios) {
    if (isLater(scenario)) {
      console.log(`  not counted yet  ${scenario}`)
      continue
    }
    const verdict = judgeRun(folder, side, scenario)
    tally[verdict.passed ? 'passed' : 'failed'] += 1
    print(scenario, verdict)
  }
}

/** What our server and our client do not have yet. */
function isLater(scenario: string): boolean {
  return scenario.startsWith('tasks-') || scenario.startsWith('auth/') || scenario.startsWith('sep-2640-')
}

function print(scenario: string, { passed, notes }: Verdict): void {
  console.log(`  ${passed ? 'passed' : 'FAILED'}  ${scenario}`)
  for (const note of notes) console.log(`          ${note.replaceAll('\n', '\n          ')}`)
}

if (import.meta.filename === process.argv[1]) await main(conformance)
