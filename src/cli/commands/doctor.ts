import { resolve } from 'node:path'
import { checkConfig, foundConfigs } from '../check-config.ts'
import { checkNode, checkProject } from '../check-project.ts'
import type { Command, Invocation } from '../command.ts'
import { TARGET_OPTIONS } from '../common-options.ts'
import { environmentToken, heldToken } from '../environment-token.ts'
import { EXIT } from '../exit.ts'
import { Failure } from '../failure.ts'
import { Findings, type Finding } from '../finding.ts'
import { configuredSecrets } from '../open.ts'
import { headersOf } from '../option-values.ts'
import type { Output } from '../output.ts'
import { foreignFiles } from '../project-files.ts'
import { projectServer, serverObstacle } from '../project-server.ts'
import { safeLine } from '../safe-text.ts'
import { sendsCredentials } from '../stored-auth.ts'
import { onlyTarget, type ResolvedTarget } from '../target.ts'
import { shellWord } from '../shell-word.ts'
import { ownedText, trustHint } from '../trust.ts'

export const doctor: Command = {
  name: 'doctor',
  group: 'Check a server',
  summary: 'find out what is wrong with a server or a configuration',
  details:
    'Checks a server from the outside in, and says how to correct what it finds. Without a target it checks this machine, the server of the project, ' +
    'and the configurations of the project and of the clients on this machine; it starts nothing that these name. It ends with code 8 if something is wrong.',
  arguments: [
    {
      name: 'target',
      summary: 'a URL, a file, a name of an mcp.json file, or a program after --',
      isOptional: true,
    },
  ],
  options: TARGET_OPTIONS,
  examples: [
    ['doctor', 'checks this machine, the project and the configurations'],
    ['doctor server.ts', 'starts server.ts and checks it'],
    ['doctor https://mcp.example/mcp', 'checks the way to a server, its login and its tools'],
    ['doctor --config .cursor/mcp.json', 'checks a configuration'],
  ],
  async run(invocation) {
    const { output } = invocation
    const findings = new Findings(
      (text) => output.redacted(text),
      (text) => output.status(text),
    )
    checkNode(findings)
    const target = await findTarget(invocation, findings)
    const end = target === undefined ? undefined : await timeoutOf(target, invocation, findings)
    output.status('')
    const { list } = findings
    const problems = list.filter(({ level }) => level === 'problem').length
    const more = moreText(target, invocation)
    const isOk = problems === 0 && end === undefined
    const error = end && { message: end.message, hint: end.hint, exit: end.exit }
    await output.data({ isOk, target: target?.label, findings: list, error }, () =>
      [...list.map((finding) => textOf(finding, output)), '', `${summaryOf(list)}${more}`].join('\n'),
    )
    if (end === undefined) return isOk ? EXIT.ok : EXIT.checks
    output.error(end.message, end.hint)
    return end.exit
  },
}

/** Checks a target. If the time of `--total` is over before, this resolves with the failure, and what was found so far counts. */
async function timeoutOf(
  target: ResolvedTarget,
  invocation: Invocation,
  findings: Findings,
): Promise<Failure | undefined> {
  const { signal } = invocation.io
  try {
    await checkTarget(target, invocation, findings)
    signal.throwIfAborted()
    return undefined
  } catch (error) {
    const reason: unknown = signal.reason
    if (!signal.aborted || !(reason instanceof Failure)) throw error
    return reason
  }
}

/** What else may be checked. */
function moreText(target: ResolvedTarget | undefined, { flags }: Invocation): string {
  if (target !== undefined) return ''
  const config = flags.text('config')
  return config === undefined
    ? ' Name a server to check it too: pierhead doctor <target>'
    : ` Name one of its servers to start and check it: pierhead doctor <name> --config ${shellWord(config)}`
}

/** The target to check. Without one, the configurations are checked, and the server of the project if there is one. */
async function findTarget(
  { words, rest, flags, io }: Invocation,
  findings: Findings,
): Promise<ResolvedTarget | undefined> {
  const config = flags.text('config')
  const isNamed =
    words.length > 0 || rest.length > 0 || (flags.text('server') ?? flags.text('server-url')) !== undefined
  if (!isNamed) {
    const files = config === undefined ? foundConfigs(io) : [resolve(io.cwd, config)]
    for (const file of files) checkConfig(file, io, findings)
    for (const { file, part } of config === undefined ? foreignFiles(io) : [])
      findings.advise(
        `the servers of ${file} are not used, because ${ownedText(file, part)}`,
        `If you trust it, name it: --config ${shellWord(file)}, or set ${trustHint(part)}`,
      )
    if (config !== undefined) return undefined
    const obstacle = serverObstacle(io)
    if (obstacle !== undefined) findings.problem(obstacle, 'Replace the file, or name the server to check.')
    if (projectServer(io) === undefined) return undefined
  }
  try {
    return onlyTarget({ words, program: rest }, flags, io)
  } catch (error) {
    // A wrong word is an error of the command line; a configuration that cannot be used is what was asked for.
    if (!(error instanceof Failure) || error.kind !== 'config') throw error
    findings.problem(error.message, error.hint ?? '')
    return undefined
  }
}

async function checkTarget(
  resolved: ResolvedTarget,
  invocation: Invocation,
  findings: Findings,
): Promise<void> {
  const { io, output, flags } = invocation
  const { target, from, file } = resolved
  // A server may repeat them in its first answer.
  output.hide(configuredSecrets(target))
  output.status(`checking ${safeLine(resolved.label)} …`)
  if (from === 'configuration' && file !== undefined) checkConfig(file, io, findings, resolved.label)
  if ((from === 'file' || from === 'project') && file !== undefined && !checkProject(file, io.env, findings))
    return
  if ('url' in target) {
    const { checkUrl } = await import('../check-url.ts')
    const token = environmentToken(resolved, io.env)
    const held = heldToken(resolved, io.env)
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...target.headers,
      ...headersOf(flags.list('header')),
    }
    if (held !== undefined && !sendsCredentials([], headers)) findings.advise(held.text, held.fix)
    if (!(await checkUrl(String(target.url), headers, io, findings))) return
  } else if (from === 'program' || from === 'configuration') {
    const { checkProgram } = await import('../check-program.ts')
    if (!checkProgram(target, io, findings)) return
  }
  io.signal.throwIfAborted()
  const { checkServer } = await import('../check-server.ts')
  await checkServer(resolved, invocation, findings)
}

function textOf({ level, text, fix }: Finding, { colors }: Output): string {
  const mark = { ok: colors.green('✓'), advice: colors.yellow('!'), problem: colors.red('✗') }[level]
  const lines = text.replaceAll('\n', '\n  ')
  return fix === undefined || fix === ''
    ? `${mark} ${lines}`
    : `${mark} ${lines}\n  ${colors.cyan('fix:')} ${fix.replaceAll('\n', '\n       ')}`
}

function summaryOf(list: readonly Finding[]): string {
  const count = (level: Finding['level']): number => list.filter((one) => one.level === level).length
  const [problems, advice] = [count('problem'), count('advice')]
  if (problems > 0) return `${problems} wrong, ${advice} to improve.`
  return `Nothing is wrong${advice > 0 ? `, ${advice} to improve` : ''}.`
}
