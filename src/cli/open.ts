import type { Client, ConnectOptions } from 'pierhead/client'
import { orAborted } from '../base/backoff.ts'
import type { Invocation, OpenOptions } from './command.ts'
import { wrongUsage } from './failure.ts'
import type { GivenAnswers } from './given-answers.ts'
import { hiddenInUrl, hiddenValues, hiddenVariables } from './redaction.ts'
import { headersOf } from './option-values.ts'
import { ProgramOutput, startFailure } from './program-output.ts'
import { safe } from './safe-text.ts'
import type { ResolvedTarget } from './target.ts'
import { trustVariables } from './trust.ts'
import { ownVersion } from './version.ts'

/** An open connection to a target. */
export interface Opened extends AsyncDisposable {
  readonly client: Client
  readonly target: ResolvedTarget
  /** What the program of the target prints. */
  readonly printed: ProgramOutput
  /** Answers from the command line, if there are any. */
  readonly answers: GivenAnswers | undefined
}

/** Connects to a target with the options of the command line. */
export async function open(
  resolved: ResolvedTarget,
  { flags, io, output }: Invocation,
  { asks = true, env = {}, onNote, revision, timeout }: OpenOptions,
): Promise<Opened> {
  const { createClient } = await import('pierhead/client')
  const { target } = resolved
  const given = flags.list('answer')
  const byOption = given.length > 0 ? (await import('./given-answers.ts')).givenAnswers(given, io) : undefined
  const answers = asks ? await answersFor(io, output, byOption) : undefined
  const options: ConnectOptions = {
    client: { name: 'pierhead-command', version: ownVersion() },
    ...optional('timeout', flags.text('timeout') ?? timeout),
    ...optional('total', flags.text('total')),
    ...optional('revision', (flags.text('revision') ?? revision) as ConnectOptions['revision']),
    ...optional('framing', flags.text('framing') as ConnectOptions['framing']),
    ...optional('inherit', flags.text('inherit') as ConnectOptions['inherit']),
    ...(flags.list('header').length > 0 && { headers: headersOf(flags.list('header')) }),
    ...(answers !== undefined && { answers }),
    ...('url' in target && (await authFor(resolved, flags, io, output))),
  }
  const more = flags.list('env')
  if (more.length > 0 && !('command' in target))
    throw wrongUsage('--env sets variables of a program, and the target is a URL', 'Remove --env.')
  output.hide(configuredSecrets(target))
  const complete =
    'command' in target
      ? { ...target, env: { ...trustOf(resolved, io), ...env, ...target.env, ...envOf(more, io.env) } }
      : target
  const client = createClient(complete, options)
  if (flags.is('verbose')) {
    client.on('stderr', (line) => output.note(output.noteColors.dim(`server: ${safe(line)}`)))
    client.on('warning', (text) => output.note(output.noteColors.dim(safe(text))))
  }
  if (onNote !== undefined)
    for (const kind of ['stderr', 'warning'] as const) client.on(kind, (text) => onNote(kind, text))
  const printed = new ProgramOutput()
  client.on('stderr', (line) => printed.add(line))
  const close = (): Promise<void> => client.close()
  // The signal may have aborted while the code was loaded.
  io.signal.throwIfAborted()
  io.signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true })
  try {
    await orAborted(client.open(), io.signal)
  } catch (error) {
    await close().catch(() => undefined)
    throw startFailure(error, resolved, printed)
  }
  return { client, target: resolved, printed, answers: byOption, [Symbol.asyncDispose]: close }
}

/** The variables for a file, which this program runs: it trusts the same users there. */
export function trustOf(
  { from }: ResolvedTarget,
  { env }: Invocation['io'],
): Readonly<Record<string, string>> {
  return from === 'file' || from === 'project' ? trustVariables(env) : {}
}

/** The values of a target that may be secrets. */
export function configuredSecrets(target: ResolvedTarget['target']): readonly string[] {
  if ('url' in target) return [...Object.values(target.headers ?? {}), ...hiddenInUrl(String(target.url))]
  const { command, args = [], env = {} } = target
  return [...hiddenValues({ command, args }), ...hiddenVariables(env)]
}

function optional<Name extends keyof ConnectOptions>(
  name: Name,
  value: ConnectOptions[Name],
): Pick<ConnectOptions, Name> | undefined {
  return value === undefined ? undefined : ({ [name]: value } as unknown as Pick<ConnectOptions, Name>)
}

/** The variables for a program: `NAME=value`, or `NAME` for one of ours. */
export function envOf(
  variables: readonly string[],
  env: Invocation['io']['env'],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    variables.map((variable) => {
      const at = variable.indexOf('=')
      const name = at < 0 ? variable : variable.slice(0, at)
      const value = at < 0 ? env[name] : variable.slice(at + 1)
      if (value === undefined)
        throw wrongUsage(`--env ${name}: ${name} is not set`, `Write --env ${name}=value.`)
      return [name, value]
    }),
  )
}

/** Answers to questions of the server: those of the command line, or else in the terminal, if a person is there. */
async function answersFor(
  io: Invocation['io'],
  output: Invocation['output'],
  byOption: GivenAnswers | undefined,
): Promise<ConnectOptions['answers']> {
  const forms = byOption && { elicit: byOption.elicit }
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return forms
  const { terminalAnswers } = await import('./answers.ts')
  return { ...terminalAnswers(io, output), ...forms }
}

async function authFor(
  resolved: ResolvedTarget,
  flags: Invocation['flags'],
  io: Invocation['io'],
  output: Invocation['output'],
): Promise<Pick<ConnectOptions, 'auth'>> {
  const { authOf } = await import('./stored-auth.ts')
  const auth = await authOf(resolved, flags, io, output)
  return auth === undefined ? {} : { auth }
}
