import { McpError, ToolError } from 'pierhead/client'
import { addressProblem, AS_OPTIONS } from './address-problem.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { wrongOption } from './wrong-option.ts'

/** What a failure is about: what the user typed, a configuration that cannot be used, or anything else. */
export type FailureKind = 'usage' | 'config' | 'other'

/** A failure that the user can act on: what is wrong, what to do about it, and the exit code. */
export class Failure extends Error {
  readonly hint: string | undefined
  readonly exit: ExitCode
  readonly kind: FailureKind

  constructor(message: string, { hint, exit = EXIT.failed, kind = 'other', cause }: FailureOptions = {}) {
    super(message, { cause })
    this.hint = hint
    this.exit = exit
    this.kind = kind
  }
}

export interface FailureOptions {
  /** What to do, usually a command to type. Default: nothing. */
  readonly hint?: string | undefined
  /** Default: 1. */
  readonly exit?: ExitCode | undefined
  /** Default: `other`. */
  readonly kind?: FailureKind | undefined
  readonly cause?: unknown
}

/** A failure because of what the user typed. */
export function wrongUsage(message: string, hint?: string): Failure {
  return new Failure(message, { hint, exit: EXIT.usage, kind: 'usage' })
}

/** A failure because of what a configuration says. */
export function wrongConfig(message: string, hint: string): Failure {
  return new Failure(message, { hint, exit: EXIT.usage, kind: 'config' })
}

/** A failure because of what a server sent. */
export function wrongAnswer(message: string, cause?: unknown): Failure {
  return new Failure(`the server sent a wrong answer: ${message}`, {
    hint: 'The server is at fault: look into its log, or update it.',
    exit: EXIT.server,
    cause,
  })
}

/** The exit codes of errors by kind; those of other errors of MCP are `server`. */
const BY_KIND: Readonly<Record<string, ExitCode>> = {
  bad_option: EXIT.usage,
  connect_failed: EXIT.unreachable,
  connection_closed: EXIT.unreachable,
  http_failed: EXIT.unreachable,
  no_revision: EXIT.server,
  timeout: EXIT.timeout,
  cancelled: EXIT.interrupted,
  insufficient_scope: EXIT.auth,
  keys_required: EXIT.auth,
  keys_rejected: EXIT.auth,
  keys_failed: EXIT.auth,
}

/** Any thrown value as a failure. Its texts may come from a server, so they are escaped when they are printed. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  if (thrown instanceof ToolError)
    return new Failure(thrown.message, {
      exit: EXIT.tool,
      hint: 'The tool reported this error itself.',
      cause: thrown,
    })
  if (thrown instanceof McpError) {
    const { kind, message, hint } = thrown
    if (kind === 'bad_option') {
      const known = addressProblem(message, AS_OPTIONS)
      return new Failure(known?.problem ?? wrongOption(message), {
        hint: known?.hint ?? 'Correct it; --help shows what is possible.',
        exit: EXIT.usage,
        kind: 'usage',
        cause: thrown,
      })
    }
    if (kind === 'missing_capability') return notAnswered(thrown)
    if (kind === 'not_offered')
      return new Failure(message, {
        hint: 'pierhead info shows what the server offers.',
        exit: EXIT.server,
        cause: thrown,
      })
    const exit = BY_KIND[kind] ?? (/^(?:auth|login)_/.test(kind) ? EXIT.auth : EXIT.server)
    return new Failure(message, { hint, exit, cause: thrown })
  }
  return new Failure(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown })
}

/** The failure that a server asks for what the command does not offer. */
function notAnswered(thrown: McpError): Failure {
  const { message } = thrown
  if (/\belicitation\b/.test(message))
    return new Failure('the server asks a question, and nobody can be asked here', {
      hint: 'Run it on a terminal, or answer with --answer name=value.',
      exit: EXIT.server,
      cause: thrown,
    })
  const [, what] = /client capability ([\w.-]{1,60})/.exec(message) ?? []
  return new Failure(what === undefined ? message : `the server asks its client for ${what}`, {
    hint: 'The command cannot do that: use an app with a model, or a program with pierhead/client.',
    exit: EXIT.server,
    cause: thrown,
  })
}
