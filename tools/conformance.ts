import { startFixture } from './conformance-fixture.ts'
import { judge, readChecks, type Verdict } from './conformance-results.ts'
import { installSuite, type Suite } from './conformance-suite.ts'
import { nodeBinary } from './nodes.ts'
import { main } from './run.ts'

const REVISIONS: readonly string[] = ['2025-11-25', '2026-07-28']

/** Runs the official suite against the fixture server, at the revisions named or at all of them. */
async function conformance(): Promise<void> {
  const revisions = process.argv.length > 2 ? process.argv.slice(2) : REVISIONS
  const suite = installSuite(await nodeBinary(22))
  const fixture = await startFixture()
  const tally = { passed: 0, failed: 0 }
  try {
    for (const revision of revisions) await measure(suite, revision, fixture.url, tally)
  } finally {
    await fixture.close()
  }
  console.log(`${tally.passed} passed, ${tally.failed} failed`)
  if (tally.failed > 0) process.exitCode = 1
}

/** Runs what one revision asks of a server and prints a line for each scenario. */
async function measure(suite: Suite, revision: string, url: string, tally: Tally): Promise<void> {
  const scenarios = suite.serverScenarios(revision)
  const { folder, log } = await suite.testServer(revision, url)
  console.log(`${revision}: ${scenarios.length} scenarios, log in ${log}`)
  for (const scenario of scenarios) {
    if (isLater(scenario)) {
      console.log(`  not counted yet  ${scenario}`)
      continue
    }
    const verdict = judge(readChecks(folder, scenario))
    tally[verdict.passed ? 'passed' : 'failed'] += 1
    print(scenario, verdict)
  }
}

interface Tally {
  passed: number
  failed: number
}

/** The extensions that the fixture does not have yet. */
function isLater(scenario: string): boolean {
  return scenario.startsWith('tasks-') || scenario.includes('-skills-')
}

function print(scenario: string, { passed, notes }: Verdict): void {
  console.log(`  ${passed ? 'passed' : 'FAILED'}  ${scenario}`)
  for (const note of notes) console.log(`          ${note.replaceAll('\n', '\n          ')}`)
}

if (import.meta.filename === process.argv[1]) await main(conformance)
