import type { Invocation } from './command.ts'
import { EXIT } from './exit.ts'
import { Failure, wrongUsage } from './failure.ts'
import { runProgram } from './run-program.ts'
import { safeLine } from './safe-text.ts'
import type { Door } from '../validate/door.ts'
import type { Revision } from '../protocol/revisions.ts'
import { officialOutcomes, suiteNotRun } from '../validate/official.ts'
import type { Outcome } from '../validate/run.ts'
import type { ServerRunOptions } from '../validate/server-run.ts'
import { SUITE, SUITE_VERSION } from '../validate/suite.ts'

/** The first version of Node that runs the suite. */
const OLDEST_NODE = 22

/** Throws unless the suite may call tools, and this version of Node can run it. */
export function checkSuite(mayCall: boolean, version: string): void {
  if (!mayCall)
    throw wrongUsage(
      'the official suite calls tools of the server, also the first one that it lists',
      'Add --allow-calls if that does no harm; pierhead validate calls none.',
    )
  if (Number(/\d+/.exec(version)?.[0]) >= OLDEST_NODE) return
  throw new Failure(`the official suite needs Node ${OLDEST_NODE} or later; this is ${version}`, {
    hint: 'Use a later Node, or pierhead validate, which also runs on this one.',
    exit: EXIT.failed,
  })
}

/** The way to a server over HTTP. Throws if there is none, because the official suite knows no other. */
export function httpDoor(doors: readonly Door[]): Door {
  const door = doors.find(({ transport }) => transport === 'http')
  if (door !== undefined) return door
  throw wrongUsage(
    'the official suite only tests servers over HTTP',
    'Start the server, and name its URL: pierhead conformance http://localhost:3000/mcp --allow-calls',
  )
}

/** The most time for the suite, unless --total says otherwise. It may have to be installed first. */
const SUITE_MS = 300_000

/** What came of the suite: the outcomes that there are, and why there are no more. */
export interface SuiteRun {
  readonly outcomes: readonly Outcome[]
  readonly failure?: Failure | undefined
}

/** Runs the official suite against a server, with npm, which installs it if it is missing. A suite that cannot be run is not checked. */
export async function runOfficial(
  door: Door,
  {
    revisions = [],
    ms,
    until,
  }: Pick<ServerRunOptions, 'revisions' | 'ms'> & { readonly until?: number | undefined },
  { io, output }: Pick<Invocation, 'io' | 'output'>,
): Promise<SuiteRun> {
  const left = until === undefined ? SUITE_MS : Math.max(0, Math.ceil(until - performance.now()))
  const late = AbortSignal.timeout(left)
  const signal = AbortSignal.any([io.signal, late])
  const outcomes: Outcome[] = []
  let place: Revision = '2025-11-25'
  const run = officialOutcomes({
    door,
    revisions,
    ms,
    onRevision: (revision) => {
      place = revision
      output.status(`the official suite at ${revision}`)
    },
    onOutcome: (outcome) => outcomes.push(outcome),
    async run(args) {
      const call = ['exec', '--yes', `--package=${SUITE}@${SUITE_VERSION}`, '--', 'conformance', ...args]
      const { code, text } = await runProgram('npm', call, { cwd: io.cwd, signal })
      if (late.aborted && !io.signal.aborted)
        throw new Failure(
          `the official suite was not done in ${until === undefined ? `${SUITE_MS / 60_000} minutes` : 'the time of --total'}`,
          { hint: 'Give it more time with a larger --total.', exit: EXIT.timeout },
        )
      // It ends with 1 if a scenario fails; that it can be started is known from its list.
      if (code === 0 || (code !== undefined && args[0] === 'server') || io.signal.aborted) return text
      throw notRun(text)
    },
  })
  try {
    await run
    return { outcomes }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const failure = cause instanceof Failure ? cause : notRun(why)
    return { outcomes: [...outcomes, suiteNotRun(place, failure.message)], failure }
  }
}

/** Why the suite did not run, and what to do. */
function notRun(text: string): Failure {
  const hint = `It is installed with npm when it is first used. Without a network, install it in your project before: npm install --save-dev ${SUITE}@${SUITE_VERSION}. pierhead validate needs no suite.`
  const last = text.trim().split('\n').slice(-3).join(' ')
  return new Failure(`the official suite could not be run: ${safeLine(last, 300)}`, {
    hint,
    exit: EXIT.failed,
  })
}
