import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { judgeRun, type Verdict } from './conformance-results.ts'
import type { Suite } from './conformance-suite.ts'
import { readInventory, type ExampleServer } from './inventory.ts'

/** The results of the last complete run, with all examples. */
export const EXAMPLES_RECORD = 'reports/conformance-examples.json'

const LOG = '.cache/conformance-host.log'
const LIMIT_MS = 60_000

/** A server that the host process has started. */
export interface HostedServer {
  readonly url: string
  readonly tools: number
  /** The names of the capabilities that it declares. */
  readonly capabilities: readonly string[]
}

/** What the suite says about a server of an example. */
export interface ExampleResult {
  readonly server: string
  /** How many scenarios apply; each counts once for each revision. */
  readonly applies: number
  readonly passed: number
}

/** What scenarios need that call the first tool of a list, without tasks. */
export const A_TOOL = 'a listed tool'

/** The scenarios that call no tools of their own, and the capabilities that a server needs for each. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'server-initialize': [],
  'server-session-lifecycle': [],
  'server-stateless': [],
  ping: [],
  'logging-set-level': ['logging'],
  'dns-rebinding-protection': [],
  'input-required-result-unsupported-methods': [],
  'tools-list': ['tools'],
  'server-sse-multiple-streams': ['tools'],
  'http-header-validation': [A_TOOL],
  'resources-list': ['resources'],
  'sep-2164-resource-not-found': ['resources'],
  'prompts-list': ['prompts'],
  caching: ['tools', 'resources', 'prompts'],
}

/** The checks of these scenarios that do call tools of their own: `test_missing_capability` and others. */
const FIXTURE_CHECKS: ReadonlySet<string> = new Set([
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-sends-tools-list-changed-on-subscription',
  'sep-2575-server-sends-prompts-list-changed-on-subscription',
])

/** Those of some scenarios that apply to a server with these capabilities. */
export function applicable(scenarios: readonly string[], capabilities: readonly string[]): readonly string[] {
  return scenarios.filter((scenario) => {
    const needed = Object.hasOwn(NEEDED, scenario) ? NEEDED[scenario] : undefined
    return needed?.every((capability) => capabilities.includes(capability)) ?? false
  })
}

/** How many servers are measured at the same time; the suite mostly waits. */
const AT_ONCE = 3

/** Runs the scenarios that apply against every example server that starts by itself; prints and returns a line for each. */
export async function measureExamples(
  suite: Suite,
  sets: readonly string[],
  only: readonly string[] = [],
): Promise<readonly ExampleResult[]> {
  const host = await startHost()
  try {
    const queue: (() => Promise<ExampleResult>)[] = []
    for (const { folder, servers } of readInventory().examples) {
      for (const server of servers) {
        const name = `${folder}/${server.file}`
        if (only.length > 0 && !only.includes(folder)) continue
        if (server.needs !== undefined) {
          console.log(`  left out  ${name}: it needs ${server.needs}`)
          continue
        }
        const hosted = await host.start(folder, server).catch((error: unknown) => String(error))
        queue.push(() => measureOne(suite, sets, { ...server, name, hosted }))
      }
    }
    return await inTurns(queue, AT_ONCE)
  } finally {
    await host.close()
  }
}

/** Runs functions, so many at the same time; returns what they return, in their order. */
async function inTurns<Value>(
  queue: readonly (() => Promise<Value>)[],
  atOnce: number,
): Promise<readonly Value[]> {
  const values: Value[] = []
  const waiting = queue.entries()
  const work = async (): Promise<void> => {
    for (const [i, run] of waiting) values[i] = await run()
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return values
}

async function measureOne(
  suite: Suite,
  sets: readonly string[],
  subject: ExampleServer & { readonly name: string; readonly hosted: HostedServer | string },
): Promise<ExampleResult> {
  const { name, hosted } = subject
  if (typeof hosted === 'string') {
    console.log(`  FAILED  ${name}\n          ${hosted}`)
    return { server: name, applies: 1, passed: 0 }
  }
  const { url, tools, capabilities } = hosted
  const place = join('examples', name.replaceAll(/\W/g, '-'))
  const verdicts = await Promise.all(
    sets.map(async (set) => {
      const offered = tools > 0 && subject.onlyTasks !== true ? [...capabilities, A_TOOL] : capabilities
      const scenarios = applicable(suite.scenarios('server', set), offered)
      const outcome = await suite.test('server', set, url, place)
      return scenarios.map((scenario) => {
        const verdict = judgeRun(outcome.folder, 'server', scenario, FIXTURE_CHECKS)
        return { scenario: `${set} ${scenario}`, ...verdict }
      })
    }),
  )
  return report(name, tools === subject.tools ? [] : [wrongCount(subject.tools, tools)], verdicts.flat())
}

const wrongCount = (expected: number, found: number): string =>
  `it lists ${found} tools, and ${expected} in examples/inventory.json`

function report(
  server: string,
  problems: readonly string[],
  verdicts: readonly (Verdict & { readonly scenario: string })[],
): ExampleResult {
  const failed = verdicts.filter(({ passed }) => !passed)
  const isGood = failed.length === 0 && problems.length === 0
  const passed = verdicts.length - failed.length
  console.log(
    `  ${isGood ? 'passed' : 'FAILED'}  ${server}: ${passed} of ${verdicts.length} scenarios that apply`,
  )
  for (const problem of problems) console.log(`          ${problem}`)
  for (const { scenario, notes } of failed) console.log(`          ${scenario}: ${notes.join('; ')}`)
  return { server, applies: verdicts.length, passed: problems.length === 0 ? passed : 0 }
}

/** Records a run with all examples. */
export function recordExamples(results: readonly ExampleResult[]): void {
  writeFileSync(EXAMPLES_RECORD, `${JSON.stringify(results, undefined, 2)}\n`)
}

/** A process that runs the servers of examples, under the Node version of the project. */
export interface Host {
  start(folder: string, server: ExampleServer): Promise<HostedServer>
  close(): Promise<void>
}

/** Starts the host in an empty folder, where the examples may write their files. */
export async function startHost(): Promise<Host> {
  const cwd = mkdtempSync(join(tmpdir(), 'examples-'))
  mkdirSync('.cache', { recursive: true })
  const log = openSync(LOG, 'w')
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const args = ['--conditions=pierhead-source', '--import', tsx, resolve('tools/conformance-host.ts')]
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', log, log, 'ipc'] })
  return {
    start: (folder, server) => ask(child, { folder, server }),
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        await exited
      }
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}

async function ask(
  child: ChildProcess,
  request: { readonly folder: string; readonly server: ExampleServer },
): Promise<HostedServer> {
  const name = `${request.folder}/${request.server.file}`
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(), LIMIT_MS)
  try {
    const answered = once(child, 'message', { signal: waiting.signal })
    const exited = once(child, 'exit', { signal: waiting.signal }).then(() => [{ problem: 'the host ended' }])
    exited.catch(() => {})
    child.send(request)
    const [answer] = (await Promise.race([answered, exited])) as [HostedServer | { readonly problem: string }]
    if ('problem' in answer) throw new Error(`${name} did not start: ${answer.problem}; see ${LOG}`)
    return answer
  } finally {
    clearTimeout(timer)
    waiting.abort()
  }
}
