import type { Client } from 'pierhead/client'
import { VENDOR } from '../protocol/meta.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { Failure, failureOf } from './failure.ts'

/** What a server did with a call of a tool. */
export type Answer =
  | { readonly kind: 'output'; readonly output: unknown }
  | {
      /**
       * The input was rejected, the tool reported an error of its own, the server sent an error with a code of its own, or the
       * call is broken: nobody wanted this error.
       */
      readonly kind: 'rejected' | 'failed' | 'refused' | 'broken'
      readonly error: string
    }

/** Errors after which no further call makes sense. */
const ENDINGS: ReadonlySet<ExitCode> = new Set([EXIT.auth, EXIT.unreachable, EXIT.timeout, EXIT.interrupted])

/** The refusals of our servers for arguments that do not fit the schema. */
const INVALID: ReadonlySet<unknown> = new Set([
  'INVALID_PARAMS',
  'MISSING_REQUIRED_FIELD',
  'FIELD_TYPE_MISMATCH',
])

/**
 * How servers that others wrote say in the result of a call that its arguments do not fit the schema: the official SDKs for TypeScript
 * and Python, FastMCP and tmcp.
 */
const REJECTIONS = [
  /^MCP error -32602\b/,
  /^Input validation error\b/,
  /^Invalid arguments for tool /,
  /^Tool '[^']*' parameter validation failed\b/,
  /^(?:Error (?:calling|executing) tool '?[^:]*: )?\d+ validation errors? for /,
]

/** Calls a tool. Throws if the connection is lost, or the server wants a login: then there is nothing to judge. */
export async function answerOf(
  client: Client,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Answer> {
  const { McpError, ToolError } = await import('pierhead/client')
  try {
    return { kind: 'output', output: await client.call(tool, input, { signal }) }
  } catch (thrown) {
    if (thrown instanceof ToolError) return { kind: kindOf(thrown), error: thrown.message }
    if (!(thrown instanceof McpError)) throw thrown
    const { kind, code, message: error } = thrown
    // A status such as 500 is an answer to one call.
    if (kind !== 'http_failed' && ENDINGS.has(failureOf(thrown).exit)) throw thrown
    if (thrown.refusal === 'TRANSPORT_ERROR' && kind !== 'node_lost')
      throw new Failure(error, {
        hint: 'The server closed the connection during a call of a tool: look into its log.',
        exit: EXIT.unreachable,
        cause: thrown,
      })
    if (code === -32_602 && kind !== 'unknown_tool') return { kind: 'rejected', error }
    return { kind: kind === 'custom' ? 'refused' : 'broken', error }
  }
}

/** Tells errors of the tool itself from rejected inputs and masked errors. The cause of a tool error is the whole result. */
function kindOf({ message, cause }: Error): 'rejected' | 'failed' | 'broken' {
  const { _meta: meta } = cause as { readonly _meta?: Readonly<Record<string, unknown>> }
  const refusal = meta?.[`${VENDOR}/refusal`] as { readonly name?: unknown } | null | undefined
  if (refusal !== undefined && refusal !== null) return INVALID.has(refusal.name) ? 'rejected' : 'broken'
  return REJECTIONS.some((form) => form.test(message)) ? 'rejected' : 'failed'
}
