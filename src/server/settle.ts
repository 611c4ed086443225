import { McpError, rowOf, mcpError } from '../errors/error.ts'
import { INTERNAL } from '../errors/wire.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'
import { inputRequired, isLaterRound, openRounds } from './rounds.ts'
import { ToolError } from '../errors/tool-error.ts'

/** Runs a handler that may ask the client, and ends the request with its open questions, if any. */
export async function settled(context: Context, run: () => Promise<Result>): Promise<Result> {
  if (isLaterRound(context.call)) await openRounds(context)
  try {
    const result = await run()
    return asking(context) ? await inputRequired(context, context.rounds!) : result
  } catch (thrown) {
    if (asking(context)) return inputRequired(context, context.rounds!)
    throw thrown
  }
}

/** Runs user code whose failure is an error for the peer: sent if thrown on purpose, masked otherwise. */
export async function rethrown<Value>(
  context: Context,
  what: string,
  run: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await run()
  } catch (thrown) {
    if (thrown instanceof McpError && rowOf(thrown.kind).where === 'wire') throw thrown
    if (thrown instanceof ToolError || thrown instanceof McpError) {
      throw new McpError('internal', thrown.message, { cause: thrown })
    }
    const reference = crypto.randomUUID()
    context.parts.report('error', `${what} failed`, { reference, error: thrown })
    throw mcpError(INTERNAL, { reference }, { cause: thrown })
  }
}

function asking(context: Context): boolean {
  return context.rounds !== undefined && context.rounds.questions.size > 0
}
