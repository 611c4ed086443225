import { FRAMINGS } from '../../validate/framing.ts'
import type { Command, Flags, Invocation, Option } from '../command.ts'
import { TARGET_OPTIONS } from '../common-options.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { Failure, wrongUsage } from '../failure.ts'
import { timeOf } from '../option-values.ts'
import { safeLine } from '../safe-text.ts'
import { onlyTarget } from '../target.ts'
import { tokenNeeded } from '../validate-login.ts'
import { doorsOf, type Asked, type Checked } from '../validate-doors.ts'
import { checkOptions, checkTargetOptions, latencyOf, revisionsOf } from '../validate-options.ts'
import { checkPage, writePage } from '../validate-page.ts'
import { RunProgress, textOf } from '../validate-text.ts'
import { FORMATS, formatReport, type Format } from '../../validate/report-formats.ts'
import { reportOf } from '../../validate/result.ts'
import { TRANSPORTS as TRANSPORT_NAMES } from '../../validate/rule.ts'
import { TIME_OVER } from '../../validate/run.ts'
import { SUITE_ID } from '../../validate/suite.ts'
import type { ServerRun } from '../../validate/server-run.ts'

/** The most time for checking a server. With closing what is open, a run takes at most a minute. */
const RUN_MS = 54_000
/** The same for a client, which is started up to a hundred times. */
const CLIENT_RUN_MS = 114_000
/** How long to wait for one answer, unless --timeout says otherwise. */
const ANSWER_MS = 5_000

const OWN_SUMMARIES: Readonly<Record<string, string>> = {
  '--timeout': 'how long to wait for an answer, such as 20s or 2m (5s)',
  '--total': 'how long the run may take (54s, or 114s for a client); rules that are left are not checked',
}

export const validate: Command = {
  name: 'validate',
  group: 'Check a server',
  summary: 'check that a server or a client follows the protocol, at every revision',
  details:
    'Speaks to the server as a client that also makes mistakes, and compares what it does with the rules of the specification. It only reads: ' +
    'rules that need a call of a tool are not checked, unless --allow-calls permits calls. It ends with code 8 if a rule that must hold is broken, and with 7 if the time was over before all rules were checked. With --client it starts the client after ' +
    '-- several times, each time with a server of its own, and watches what the client does: {url} in an argument is the address of the server, and {command} the words ' +
    'that start it over stdio; without them, the address is the last argument. A server that requires authorization gets the stored login of pierhead auth login, the token in PIERHEAD_TOKEN, or ' +
    'a header; without any of them only the rules about authorization are checked, and the command ends with code 3.',
  arguments: [
    {
      name: 'target',
      summary: 'a URL, a file, a name of an mcp.json file, or a program after --',
      isOptional: true,
    },
  ],
  options: [
    { flags: '--target <revision>', summary: 'only this revision: 2025-11-25, or 2025-11 for short' },
    {
      flags: '--allow-calls',
      summary: 'call tools too, with arguments made from their schemas, except those with destructiveHint',
    },
    { flags: '--all', summary: 'with --allow-calls: also call tools that say that they are destructive' },
    {
      flags: '--latency <target>',
      summary: 'fail if pings take longer: p99=50ms, or p50=10ms,p95=30ms',
      isMany: true,
    },
    { flags: '--client', summary: 'check the client after --, with servers that the validator starts' },
    {
      flags: '--transport <name>',
      summary: 'with --client: what the servers speak (http, or stdio for {command})',
      choices: TRANSPORT_NAMES,
      isMany: true,
    },
    { flags: '--rule <id>', summary: 'only this rule, such as R005', isMany: true },
    { flags: '--ignore <id>', summary: 'report failures of this rule, and do not count them', isMany: true },
    { flags: '--strict', summary: 'count warnings as failures' },
    { flags: '--format <format>', summary: 'print the result for other programs', choices: FORMATS },
    { flags: '--report <file>', summary: 'also write an HTML page with the exchanges' },
    ...TARGET_OPTIONS.filter(({ flags }) => !flags.startsWith('--revision')).map(ownOption),
  ],
  hasOwnTotal: true,
  examples: [
    ['validate http://localhost:3000/mcp', 'checks all revisions that the server supports'],
    ['validate --target 2025-11 --server-url http://localhost:3000/mcp', 'checks one revision'],
    ['validate server.ts --report report.html', 'also writes a page with all exchanges'],
    ['validate http://localhost:3000/mcp --latency p99=50ms', 'also fails if answers are slow'],
    ['validate server.ts --allow-calls', 'starts server.ts, and also calls its tools'],
    ['validate server.ts --total 5m', 'gives a server that starts slowly more time'],
    ['validate --client -- node client.js', 'starts client.js with the URL of a server, several times'],
    ['validate --client -- node client.js --stdio {command}', 'starts it with a command to start'],
  ],
  run: (invocation) => runValidation(invocation, false),
}

/** The options for targets, where they mean something else here. */
function ownOption(option: Option): Option {
  const name = /--[a-z-]+/.exec(option.flags)?.[0] ?? ''
  return {
    ...option,
    summary: OWN_SUMMARIES[name] ?? option.summary,
    ...(name === '--framing' && { choices: FRAMINGS }),
  }
}

export const conformance: Command = {
  ...validate,
  name: 'conformance',
  summary: 'validate a server, and run the official conformance suite against it',
  details:
    'Does what validate does, and then runs the official suite with npm, which installs it when it is first used and needs Node 22. Both results are in one report. The suite calls tools, so --allow-calls is needed. ' +
    'Most scenarios of the suite call tools that only its own server has; they do not apply to other servers.',
  options: (validate.options ?? []).filter(({ flags }) => !/^--(?:client|transport)\b/.test(flags)),
  examples: [
    [
      'conformance http://localhost:3000/mcp --allow-calls',
      'checks a server with our rules and the official suite',
    ],
    ['conformance http://localhost:3000/mcp --allow-calls --report report.html', 'also writes a page'],
  ],
  run: (invocation) => runValidation(invocation, true),
}

/** Validates a server or a client, a server also with the official suite if that was asked for. */
async function runValidation(invocation: Invocation, isOfficial: boolean): Promise<ExitCode> {
  const { flags, io, output } = invocation
  if (isOfficial) (await import('../official-suite.ts')).checkSuite(flags.is('allow-calls'), process.version)
  checkOptions(flags)
  checkPage(flags.text('report'), io)
  const only = flags.list('rule')
  const isClient = !isOfficial && flags.is('client')
  using progress = new RunProgress(output)
  const asked: Asked = {
    revisions: revisionsOf(flags.text('target')),
    only: only.length > 0 ? only : undefined,
    until: performance.now() + (timeOf(flags, 'total') ?? (isClient ? CLIENT_RUN_MS : RUN_MS)),
    progress,
  }
  const checked = isClient
    ? await (await import('../validate-client.ts')).checkClientProgram(invocation, asked)
    : await checkServerTarget(invocation, asked, isOfficial)
  if (io.signal.aborted) return EXIT.interrupted
  const { label, outcomes, places, headers = [] } = checked
  const refused = isClient ? undefined : tokenNeeded(checked)
  const failure = outcomes.length === 0 ? (refused ?? nothingChecked(label, places, flags)) : undefined
  if (failure?.exit === EXIT.usage) throw failure
  const ignored = flags.list('ignore')
  for (const id of ignored.filter((one) => !outcomes.some((outcome) => outcome.id === one)))
    output.warn(`--ignore ${safeLine(id)} does nothing: no rule with this id applies`)
  const isWhole = failure === undefined && checked.failure === undefined
  for (const id of only.filter((one) => isWhole && !outcomes.some((outcome) => outcome.id === one)))
    output.warn(`--rule ${safeLine(id)} does nothing: no rule with this id applies`)
  const report = reportOf(label, outcomes, places, {
    secrets: { values: output.secrets, headers },
    ignored,
    isStrict: flags.is('strict'),
    problem: failure?.message,
  })
  const unwritten = await writePage(report, flags.text('report'), invocation)
  const format = flags.text('format')
  if (format !== undefined) await output.raw(formatReport(report, format as Format))
  else if (failure === undefined) await output.data(report, () => textOf(report, output))
  else throw failure
  const ending = failure ?? refused ?? checked.failure
  if (ending !== undefined) output.error(ending.message, ending.hint)
  if (unwritten !== undefined) throw unwritten
  if (report.counts.failures > 0) return EXIT.checks
  return ending?.exit ?? (report.isComplete ? EXIT.ok : EXIT.timeout)
}

/** Checks the server that the line names; with the official suite too if that was asked for. */
async function checkServerTarget(
  invocation: Invocation,
  asked: Asked,
  isOfficial: boolean,
): Promise<Checked> {
  const { words, rest, flags, io } = invocation
  if (!isOfficial && flags.list('transport').length > 0)
    throw wrongUsage('--transport is for clients', 'Leave it out: the target says how a server is reached.')
  const latency = latencyOf(flags.list('latency'))
  const target = onlyTarget({ words, program: rest }, flags, io)
  checkTargetOptions(target, flags)
  const { validateServer } = await import('../../validate/server-run.ts')
  const ms = timeOf(flags, 'timeout') ?? ANSWER_MS
  const { progress } = asked
  const doors = await doorsOf(target, invocation)
  const official = isOfficial ? await import('../official-suite.ts') : undefined
  const door = official?.httpDoor(doors)
  const { outcomes, places } = await validateServer({
    ...asked,
    doors,
    mayCall: flags.is('allow-calls'),
    mayDestroy: flags.is('all'),
    ms,
    latency,
    // The month is the name that the developer specification has for itself.
    hasGist: flags.text('target') === '2025-11',
    signal: io.signal,
    onOutcome: ({ revision, transport }, done, all) =>
      progress.at(`${revision} on ${transport}: rule ${done} of ${all}`),
  })
  const { label } = target
  const address = 'url' in target.target ? String(target.target.url) : undefined
  const headers = doors.flatMap((one) => Object.keys(one.headers ?? {}))
  const isAnswered = places.some(({ problem }) => problem === undefined)
  const isWanted = asked.only?.some((id) => id.startsWith('official:')) ?? true
  if (official === undefined || door === undefined || !isAnswered || !isWanted || io.signal.aborted)
    return { outcomes, places, label, address, headers }
  const revisions = asked.revisions ?? places.find(({ transport }) => transport === 'http')?.revisions
  const until = flags.text('total') === undefined ? undefined : asked.until
  const suite = await official.runOfficial(door, { revisions, ms, until }, invocation)
  const wanted = suite.outcomes.filter(({ id }) => id === SUITE_ID || (asked.only?.includes(id) ?? true))
  return { outcomes: [...outcomes, ...wanted], places, label, address, headers, failure: suite.failure }
}

/** The error for a target at which no rule was checked. */
function nothingChecked(label: string, places: ServerRun['places'], flags: Flags): Failure {
  const isRule = flags.list('rule').length > 0 && places.some(({ problem }) => problem === undefined)
  if (isRule)
    return new Failure('no rule with this id applies', {
      exit: EXIT.usage,
      hint: 'Ids are written as in the report, such as R005 or V010. Leave out --rule to see those that apply to this revision and transport.',
    })
  const { problem = 'no rule applies', transport } = places[0] ?? {}
  if (revisionsOf(flags.text('target'))?.[0] === '2024-11-05' && places.every(isStreamable))
    return new Failure(
      `${label} could not be checked at 2024-11-05: it has no HTTP+SSE, and Streamable HTTP begins with 2025-03-26`,
      {
        exit: EXIT.unreachable,
        hint: 'Name the address of its stream of events, such as http://localhost:3000/sse, or check a later revision.',
      },
    )
  const isLate = problem === TIME_OVER
  // What a program or the system advises says more than we know.
  const [what = '', advice] = problem.split(/[\s;]*\bfix: /)
  return new Failure(`${label} could not be checked: ${safeLine(what, 500)}`, {
    exit: isLate ? EXIT.timeout : EXIT.unreachable,
    hint: isLate
      ? 'Give it more time: --total 5m.'
      : advice !== undefined
        ? safeLine(advice, 500)
        : flags.is('client')
          ? clientHint(what)
          : transport === 'stdio' && /error/i.test(what)
            ? 'Correct that; the program must start without it.'
            : 'pierhead doctor finds out what is wrong with the way to it.',
  })
}

function isStreamable({ transport, problem }: ServerRun['places'][number]): boolean {
  return transport === 'http' && problem === undefined
}

/** The hint for a client that never connected. */
function clientHint(problem: string): string {
  return /cannot find module|not found|could not be started|ENOENT|exit(?:ed)? with code|ended with/i.test(
    problem,
  )
    ? 'The client ended before it connected: correct the command after --, or what the client says. The URL is its last argument, or in place of {url}.'
    : 'The client must connect to the URL in its last argument, or in place of {url}.'
}
