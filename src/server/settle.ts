import { McpError } from '../errors/error.ts'
import { whereOf } from '../errors/where.ts'
import type { Result } from '../rpc/dispatch.ts'
import { mask } from '../rpc/mask.ts'
import { callOf, partsOf, roundsOf, type Context } from './context.ts'
import { warnIfAsking } from './open-questions.ts'
import { isLaterRound, type Rounds } from './rounds.ts'
import { inputRequired, openRounds } from './rounds-travel.ts'
import { ToolError } from '../errors/tool-error.ts'

/** Runs a handler that may ask the client, and ends the request with its open questions, if any. */
export async function settled(context: Context, run: () => Promise<Result>): Promise<Result> {
  if (isLaterRound(callOf(context))) await openRounds(context)
  try {
    const result = await run()
    const rounds = openQuestions(context)
    return rounds === undefined ? result : await inputRequired(context, rounds)
  } catch (thrown) {
    const rounds = openQuestions(context)
    if (rounds !== undefined) return inputRequired(context, rounds)
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
    const value = await run()
    warnIfAsking(context, what)
    return value
  } catch (thrown) {
    // The request ends with the questions that its handler has left open.
    if (openQuestions(context) !== undefined) throw thrown
    const where = thrown instanceof McpError ? whereOf(thrown) : 'local'
    if (where === undefined || thrown instanceof ToolError || callOf(context).cancelled) throw thrown
    if (where === 'result') throw new McpError('internal', (thrown as Error).message, { cause: thrown })
    throw mask(partsOf(context), thrown, { what, call: callOf(context) })
  }
}

/** The rounds of a request that has questions for the client. */
function openQuestions(context: Context): Rounds | undefined {
  const rounds = roundsOf(context)
  return rounds !== undefined && rounds.questions.size > 0 ? rounds : undefined
}
