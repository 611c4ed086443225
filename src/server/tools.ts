import { isObject } from '../protocol/jsonrpc.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { CANCELLED } from '../errors/rpc.ts'
import {
  TOOL_ARGUMENTS,
  TOOL_FAILED,
  TOOL_INPUT,
  TOOL_OUTPUT,
  TOOL_TIMEOUT,
  UNKNOWN_TOOL,
} from '../errors/server.ts'
import { TASK_TIMEOUT } from '../errors/tasks.ts'
import { whereOf } from '../errors/where.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { VENDOR } from '../protocol/meta.ts'
import type { Peer } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { concealed, mask } from '../rpc/mask.ts'
import type { Checked, Unfit } from '../schema/checker.ts'
import { soon } from '../base/soon.ts'
import { callOf, partsOf, roundsOf, type Context } from './context.ts'
import type { ToolDefinition } from './definitions.ts'
import { drain, isGenerator } from './generators.ts'
import { holdChecked } from './hold-checked.ts'
import { issueExtras } from './argument-issue.ts'
import type { List } from './lists.ts'
import { oddityOf } from './odd-result.ts'
import {
  isWholeResult,
  kept,
  toContentResult,
  toDirectResult,
  toFailure,
  toStructuredResult,
} from './reply.ts'
import { isLaterRound } from './rounds.ts'
import { warnIfAsking } from './open-questions.ts'
import { inputRequired, openRounds } from './rounds-travel.ts'
import { withTimeout } from './timeout.ts'
import { unknownName } from './unknown-name.ts'
import { ToolError } from '../errors/tool-error.ts'

/** `tools/call`: finds the tool, checks its arguments, runs it and builds the result. */
export function callTool(
  tools: List<ToolDefinition>,
  asTask: TaskHook | undefined,
  context: Context,
): Result | Promise<Result> {
  const { params } = context
  const { name, requestId } = params
  if (typeof name !== 'string')
    throw mcpError(BAD_PARAMS, { method: 'tools/call', reason: 'name is not a string' })
  const tool = tools.find(name, context)
  if (tool === undefined) throw unknownName(UNKNOWN_TOOL, name, tools, context)
  if (tool.checkHeaders !== undefined) checkHeaders(tool, context)

  const input = params['arguments'] === undefined ? {} : params['arguments']
  if (!isObject(input)) throw mcpError(TOOL_ARGUMENTS, { name, issue: 'they are not an object' })
  const answer =
    asTask === undefined ? perform(tool, input, context) : asTask(new ToolCall(tool, input, context))
  return requestId === undefined ? answer : soon(answer, (result) => withRequestId(result, requestId))
}

/** Answers the calls of a server with tasks. */
export type TaskHook = (call: ToolCall) => Result | Promise<Result>

/** A call of a tool that the caller may use. */
export class ToolCall {
  readonly tool: ToolDefinition
  readonly context: Context
  readonly #input: object

  constructor(tool: ToolDefinition, input: object, context: Context) {
    this.tool = tool
    this.context = context
    this.#input = input
  }

  /** Answers it, as without tasks. */
  now(): Result | Promise<Result> {
    return perform(this.tool, this.#input, this.context)
  }

  /** Checks its arguments. */
  check(): Checked<unknown> | Promise<Checked<unknown>> {
    const { context, tool } = this
    return isLaterRound(callOf(context))
      ? openRounds(context).then(() => tool.input.check(this.#input))
      : tool.input.check(this.#input)
  }

  /** Runs the tool with checked arguments. */
  run(input: Checked<unknown>): Result | Promise<Result> {
    return run(this.tool, input, this.context)
  }
}

function perform(tool: ToolDefinition, input: object, context: Context): Result | Promise<Result> {
  if (isLaterRound(callOf(context)))
    return openRounds(context).then(async () => run(tool, await tool.input.check(input), context))
  const checked = tool.input.check(input)
  return checked instanceof Promise
    ? checked.then((late) => run(tool, late, context))
    : run(tool, checked, context)
}

/** Adds the client's own request id, which is separate from the JSON-RPC id, to the result. */
function withRequestId(result: Result, requestId: unknown): Result {
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return result
  return {
    ...result,
    _meta: { ...(result['_meta'] as Result | undefined), [`${VENDOR}/requestId`]: requestId },
  }
}

/** Only whoever sees a tool learns which headers it wants. */
function checkHeaders(tool: ToolDefinition, context: Context): void {
  const { source, params, peer } = callOf(context)
  if (source.header !== undefined && peer.dialect.paramHeaders)
    tool.checkHeaders?.(params['arguments'], (name) => source.header?.(name))
}

function run(tool: ToolDefinition, input: Checked<unknown>, context: Context): Result | Promise<Result> {
  if (!input.ok) return rejectInput(tool, input, context)
  const call = callOf(context)
  // The check may have taken a while.
  call.throwIfAborted()
  if (input.bytes !== undefined) holdChecked(input, context)
  call.hasRun = true
  const result = runHandler(tool, input.value, context)
  const ms = tool.timeoutMs
  return ms === undefined ? result : withTimeout(ms, result, () => timedOut(tool, ms, context))
}

/** Stops the handler; whatever it does from now on is ignored. */
function timedOut(tool: ToolDefinition, ms: number, context: Context): Result {
  const call = callOf(context)
  // A task may be tried again, so it must know.
  const isTask = call.task?.isTask() === true
  const error = mcpError(isTask ? TASK_TIMEOUT : TOOL_TIMEOUT, { name: tool.key, ms })
  call.abort(error)
  if (isTask) throw error
  return toModel(error, context)
}

function runHandler(tool: ToolDefinition, input: unknown, context: Context): Result | Promise<Result> {
  try {
    const value = tool.run(input, context)
    if (!(value instanceof Promise)) return conclude(tool, value, context)
    return value.then(
      (arrived) => conclude(tool, arrived, context),
      (thrown: unknown) => failed(tool, thrown, context),
    )
  } catch (thrown) {
    return failed(tool, thrown, context)
  }
}

/** The result of what a handler returned; whatever fails on the way is a failure of the tool. */
function conclude(tool: ToolDefinition, value: unknown, context: Context): Result | Promise<Result> {
  try {
    const result = isGenerator(value)
      ? drain(value, context).then((last) => resultOf(tool, last, context))
      : resultOf(tool, value, context)
    if (!(result instanceof Promise)) return result
    return result.catch((thrown: unknown) => failed(tool, endless(thrown), context))
  } catch (thrown) {
    return failed(tool, endless(thrown), context)
  }
}

/** A stack that overflows after the handler has returned means that its value has no end. */
function endless(thrown: unknown): unknown {
  return !(thrown instanceof RangeError && /stack/.test(thrown.message))
    ? thrown
    : new TypeError('the result contains itself, or is nested too deeply; leave out the reference', {
        cause: thrown,
      })
}

function resultOf(tool: ToolDefinition, value: unknown, context: Context): Result | Promise<Result> {
  const rounds = roundsOf(context)
  if (rounds !== undefined) {
    if (rounds.questions.size > 0) return inputRequired(context, rounds)
    warnIfAsking(context, `tool "${tool.key}"`)
  }
  if (tool.output === undefined) return toDirectResult(value) ?? otherResult(tool, value, context)
  if (isWholeResult(value)) {
    if (value['isError'] === true) return value
    return soon(tool.output.check(value['structuredContent']), (checked) => {
      if (!checked.ok) throw brokenOutput(tool, `structuredContent: ${checked.issue}`, context)
      return { isError: false, ...value, structuredContent: kept(checked.value) }
    })
  }
  return soon(tool.output.check(value), (checked) => {
    if (!checked.ok) throw brokenOutput(tool, checked.issue, context)
    return toStructuredResult(checked.value)
  })
}

/** The result from a value that is neither text nor a complete result. */
function otherResult(tool: ToolDefinition, value: unknown, context: Context): Result {
  const odd = oddityOf(value)
  if (odd !== undefined) partsOf(context).warnOnce('result', tool.key, `tool "${tool.key}" returned ${odd}`)
  return toContentResult(value)
}

/** Rethrows errors for the peer, shows errors thrown on purpose to the model, and masks all others. */
function failed(tool: ToolDefinition, thrown: unknown, context: Context): Result | Promise<Result> {
  if (callOf(context).aborted) throw mcpError(CANCELLED, { reason: '' }, { cause: thrown })
  const rounds = roundsOf(context)
  if (rounds !== undefined && rounds.questions.size > 0) return inputRequired(context, rounds)
  if (thrown instanceof ToolError)
    return callOf(context).peer.dialect.toolFailures === 'error' ? raised(thrown) : toFailure(thrown)
  if (thrown instanceof McpError) {
    const where = whereOf(thrown)
    if (where === undefined) throw thrown
    if (where === 'result') return toModel(thrown, context)
  }
  const failure = { what: `tool "${tool.key}"`, call: callOf(context), row: TOOL_FAILED, name: tool.key }
  const error = mask(partsOf(context), thrown, failure)
  const { task } = callOf(context)
  if (task === undefined) return toModel(error, context)
  return soon(task.isTask(), (isTask) => {
    if (isTask) throw error
    return toModel(error, context)
  })
}

/** Throws a handler's ToolError as an error for the peer. */
function raised(error: ToolError): never {
  const { message, data } = error
  throw new McpError('tool_failed', message, { cause: error, ...(data !== undefined && { data }) })
}

/** Turns an error into a result for the model and counts it; or throws it, if the dialect sends errors instead. */
function toModel(error: McpError, context: Context): Result {
  const result = failureFor(callOf(context).peer, error)
  if (result === undefined) throw error
  partsOf(context).observers.count(error.kind)
  return result
}

/** The result that shows an error to the model; undefined if the dialect sends errors instead. */
export function failureFor({ dialect }: Peer, error: McpError): Result | undefined {
  return dialect.toolFailures === 'error' ? undefined : toFailure(error)
}

function rejectInput(tool: ToolDefinition, { issue, first }: Unfit, context: Context): Result {
  const facts = { name: tool.key, issue }
  const { params, peer } = callOf(context)
  const extras = issueExtras(first, { value: params['arguments'], dialect: peer.dialect })
  if (peer.dialect.argumentErrors === 'error') throw mcpError(TOOL_ARGUMENTS, facts, extras)
  partsOf(context).observers.count('tool_input')
  return toFailure(mcpError(TOOL_INPUT, facts, extras))
}

function brokenOutput(tool: ToolDefinition, issue: string, context: Context): McpError {
  const message = `tool "${tool.key}" returned a value that does not match its output schema: ${issue}`
  const { reference } = callOf(context)
  const parts = partsOf(context)
  parts.report('error', message, { reference })
  return concealed(parts, message, TOOL_OUTPUT, { name: tool.key, reference })
}
