import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Revision } from '../protocol/revisions.ts'
import type { Door } from './door.ts'
import { isObject, parsed, type Message } from './message.ts'
import type { Outcome } from './run.ts'
import { ServerSubject } from './server-subject.ts'
import { SUITE, SUITE_ID, SUITE_VERSION } from './suite.ts'
import { Trace } from './trace.ts'

/** The revisions for which it says what must pass. */
const REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28']

export interface OfficialOptions {
  /** The way to the server over HTTP. */
  readonly door: Door
  /** The revisions that the server supports, or that were asked for. */
  readonly revisions: readonly Revision[]
  readonly ms: number
  /** Runs the program of the suite. Throws if it cannot be run. */
  run(args: readonly string[]): Promise<string>
  onRevision?(revision: Revision): void
  /** Is told each outcome, also if a later revision cannot be run. */
  onOutcome?(outcome: Outcome): void
}

/** Runs the scenarios of the official suite against a server, and returns what they came to. */
export async function officialOutcomes(options: OfficialOptions): Promise<readonly Outcome[]> {
  const { door, revisions, run } = options
  const outcomes: Outcome[] = []
  for (const revision of REVISIONS.filter((one) => revisions.includes(one))) {
    options.onRevision?.(revision)
    const offered = await offeredBy(options, revision)
    const scenarios = scenariosIn(await run(['list', '--requirements', revision]))
    if (scenarios.length === 0) throw new Error('the suite lists no scenarios')
    const folder = mkdtempSync(join(tmpdir(), 'pierhead-conformance-'))
    try {
      await run(['server', '--url', String(door.url), '--requirements', revision, '-o', folder])
      for (const scenario of scenarios) {
        const outcome = outcomeOf(scenario, { revision, folder, offered })
        outcomes.push(outcome)
        options.onOutcome?.(outcome)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return outcomes
}

/** The outcome for a suite that could not be run at a revision. */
export function suiteNotRun(revision: Revision, why: string): Outcome {
  return {
    id: SUITE_ID,
    level: 'must',
    role: 'server',
    revision,
    transport: 'http',
    rule: 'The server passes the official conformance suite.',
    how: `Runs ${SUITE} ${SUITE_VERSION}.`,
    fix: 'Make the suite run, and check again.',
    is: 'unchecked',
    found: why,
    ms: 0,
  }
}

/** A scenario; those that a revision does not require are reported, and do not fail a server. */
interface Scenario {
  readonly name: string
  readonly isRequired: boolean
}

/** The scenarios for servers in a list of the suite: a section, and further ones that are marked. */
function scenariosIn(listing: string): readonly Scenario[] {
  const section = /^server scenarios.*\n((?: {2}- .*\n)*)/im.exec(listing)?.[1] ?? ''
  const names = (text: string, pattern: RegExp): readonly string[] =>
    [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])
  return [
    ...names(section, /- (\S+)/g).map((name) => ({ name, isRequired: true })),
    ...names(listing, /- (\S+) \[server\]/g).map((name) => ({ name, isRequired: false })),
  ]
}

/** A tool of the server that the suite expects; most scenarios call tools of it. */
const FIXTURE = 'test_simple_text'
/** The other scenarios, and what a server needs for each. */
const NEEDED: Readonly<{ [scenario: string]: readonly string[] }> = {
  'server-initialize': [],
  'server-session-lifecycle': [],
  'server-stateless': [],
  ping: [],
  'logging-set-level': ['logging'],
  'dns-rebinding-protection': [],
  'input-required-result-unsupported-methods': [],
  'tools-list': ['tools'],
  'server-sse-multiple-streams': ['tools'],
  'http-header-validation': ['tools'],
  'resources-list': ['resources'],
  'sep-2164-resource-not-found': ['resources'],
  'prompts-list': ['prompts'],
  caching: ['tools', 'resources', 'prompts'],
}
/** Checks of these scenarios that call tools of that server all the same. */
const FIXTURE_CHECKS =
  /^sep-2575-(?:server-rejects-undeclared-capability|missing-capability-http-400|http-server-no-independent-requests-on-stream|server-no-log-without-loglevel|server-sends-(?:tools|prompts)-list-changed-on-subscription)$/
/** A check of every message; it says nothing about a scenario. */
const COMMON = 'wire-schema-valid'

/** What a server offers: its capabilities, and whether it is the server that the suite expects. */
interface Offered {
  readonly capabilities: Message
  readonly isFixture: boolean
}

async function offeredBy({ door, ms }: OfficialOptions, revision: Revision): Promise<Offered> {
  const subject = new ServerSubject({ door, revision, trace: new Trace(), mayCall: false, ms })
  try {
    const tools = await subject.list('tools')
    return {
      capabilities: await subject.capabilities(),
      isFixture: tools.some(({ name }) => name === FIXTURE),
    }
  } finally {
    await subject.close()
  }
}

function outcomeOf(
  { name, isRequired }: Scenario,
  { revision, folder, offered }: { revision: Revision; folder: string; offered: Offered },
): Outcome {
  const base = {
    id: `official:${name}`,
    level: isRequired ? 'must' : 'convention',
    role: 'server',
    revision,
    transport: 'http',
    rule: `The server passes the scenario ${name} of the official conformance suite.`,
    how: `Runs the scenario with ${SUITE} ${SUITE_VERSION}.`,
    fix: `See what the suite does: npx ${SUITE}@${SUITE_VERSION} server --url <url> --scenario ${name} --verbose`,
    ms: 0,
  } as const
  const needed = Object.hasOwn(NEEDED, name) ? NEEDED[name] : undefined
  if (!offered.isFixture && needed === undefined)
    return { ...base, is: 'absent', found: 'it needs tools that only the server of the suite has' }
  const missing = needed?.find((one) => !Object.hasOwn(offered.capabilities, one))
  if (missing !== undefined) return { ...base, is: 'absent', found: `the server does not declare ${missing}` }
  const checks = checksOf(folder, name)?.filter(
    ({ id }) => offered.isFixture || !FIXTURE_CHECKS.test(String(id)),
  )
  return { ...base, ...verdictOf(checks) }
}

/** What the checks of a scenario come to. A scenario that checked nothing did not pass. */
function verdictOf(checks: readonly Message[] | undefined): Pick<Outcome, 'is' | 'found'> {
  if (checks === undefined) return { is: 'failed', found: 'the scenario ended before it wrote its checks' }
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  if (bad.length > 0)
    return {
      is: 'failed',
      found: bad
        .map(({ id, errorMessage, description }) => `${String(id)}: ${String(errorMessage ?? description)}`)
        .join('; ')
        .slice(0, 500),
    }
  const isProven = checks.some(({ id, status }) => status === 'SUCCESS' && id !== COMMON)
  return isProven ? { is: 'passed' } : { is: 'unchecked', found: 'the suite skipped the scenario' }
}

/** The checks that the suite wrote for a scenario. */
function checksOf(folder: string, scenario: string): readonly Message[] | undefined {
  const path = join(folder, `server-${scenario}`)
  const name = basename(path)
  const parent = dirname(path)
  const found = existsSync(parent)
    ? readdirSync(parent).find(
        (one) => one.startsWith(name) && /^-\d{4}-\d\d-\d\dT/.test(one.slice(name.length)),
      )
    : undefined
  const file = join(parent, found ?? '', 'checks.json')
  const checks = found !== undefined && existsSync(file) ? parsed(readFileSync(file, 'utf8')) : undefined
  return Array.isArray(checks) ? checks.filter(isObject) : undefined
}
