import type { Invocation } from './command.ts'
import { EXIT } from './exit.ts'
import { Failure, wrongUsage } from './failure.ts'
import { runProgram } from './run-program.ts'
import { safeLine } from './safe-text.ts'
import type { Door } from '../validate/door.ts'
import { officialOutcomes, SUITE, SUITE_VERSION } from '../validate/official.ts'
import type { Outcome } from '../validate/run.ts'
import type { ServerRunOptions } from '../validate/server-run.ts'

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

/** Runs the official suite against a server, with npm, which installs it if it is missing. */
export function runOfficial(
  door: Door,
  {
    revisions = [],
    ms,
    until,
  }: Pick<ServerRunOptions, 'revisions' | 'ms'> & { readonly until?: number | undefined },
  { io, output }: Pick<Invocation, 'io' | 'output'>,
): Promise<readonly Outcome[]> {
  const late =
    until === undefined ? undefined : AbortSignal.timeout(Math.max(0, Math.ceil(until - performance.now())))
  const signal = late === undefined ? io.signal : AbortSignal.any([io.signal, late])
  return officialOutcomes({
    door,
    revisions,
    ms,
    onRevision: (revision) => output.status(`the official suite at ${revision}`),
    async run(args) {
      const call = ['exec', '--yes', `--package=${SUITE}@${SUITE_VERSION}`, '--', 'conformance', ...args]
      const { code, text } = await runProgram('npm', call, { cwd: io.cwd, signal })
      if (late?.aborted === true && !io.signal.aborted)
        throw new Failure('the official suite was not done in the time of --total', {
          hint: 'Give it more time with a larger --total.',
          exit: EXIT.timeout,
        })
      // It ends with 1 if a scenario fails; that it can be started is known from its list.
      if (code === 0 || (code !== undefined && args[0] === 'server') || io.signal.aborted) return text
      throw notRun(text)
    },
  })
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
