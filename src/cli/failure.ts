import { McpError, ToolError } from 'pierhead/client'
import { EXIT, type ExitCode } from './exit.ts'

/** A failure that the user can act on: what is wrong, what to do about it, and the exit code. */
export class Failure extends Error {
  readonly hint: string | undefined
  readonly exit: ExitCode

  constructor(message: string, { hint, exit = EXIT.failed, cause }: FailureOptions = {}) {
    super(message, { cause })
    this.hint = hint
    this.exit = exit
  }
}

export interface FailureOptions {
  /** What to do, usually a command to type. Default: nothing. */
  readonly hint?: string | undefined
  /** Default: 1. */
  readonly exit?: ExitCode | undefined
  readonly cause?: unknown
}

/** A failure because of what the user typed. */
export function wrongUsage(message: string, hint?: string): Failure {
  return new Failure(message, { hint, exit: EXIT.usage })
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
    const exit = BY_KIND[kind] ?? (/^(?:auth|login)_/.test(kind) ? EXIT.auth : EXIT.server)
    return new Failure(message, { hint, exit, cause: thrown })
  }
  return new Failure(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown })
}
