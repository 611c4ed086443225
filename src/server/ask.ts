import { copyOf } from '../base/copy-of.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { ASK_INVALID, CANNOT_ASK, INPUT_REQUIRED } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { ContentBlock } from '../protocol/content.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Root } from '../protocol/spec/2026-07-28.ts'
import { STOP_REASONS } from '../protocol/stop-reasons.ts'
import { toChecker } from '../schema/checker.ts'
import { toFormSchema } from '../schema/form.ts'
import type { AnySchema, OutputOf } from '../schema/schema.ts'
import type { Duration } from '../base/duration.ts'
import type { Call, CallTask, Channel } from '../rpc/call.ts'
import { beginRounds, callOf, partsOf, type Context } from './context.ts'
import { wasAnother } from './rounds-travel.ts'
import { answerTo } from './rounds.ts'
import { checkSampling } from './sampling.ts'
import { requireFeature, supports } from './supports.ts'
import { isUrl } from '../protocol/url.ts'

/** The options of questions to the client. */
export interface AskOptions {
  /**
   * Identifies the question, so that its answer counts even if the order or the text of questions changes when the handler runs
   * again, as it does at 2026-07-28. Default: the kind and number of the question, such as `elicit-1`; if its text or schema
   * changes, it is asked again.
   */
  readonly key?: string | undefined
  /**
   * Asks as a task of the client, which it may answer much later, if the client supports that, as some do at 2025-11-25. Default: an
   * ordinary question, which clients have `limits.questionMs` to answer.
   *
   * @example
   * await ctx.elicit('Approve the budget?', z.object({ ok: z.boolean() }), { task: { ttl: '1d' } })
   */
  readonly task?: TaskAsk | undefined
}

/** How a question is asked as a task. */
export interface TaskAsk {
  /** How long the client should keep the task, and has to answer. Default: the client decides, and has `limits.questionMs` to answer. */
  readonly ttl?: Duration | undefined
}

/** The answer to a form. `content` is present if the user accepted. */
export type Elicited<Content> =
  | {
      /** The user filled in the form. */
      readonly action: 'accept'
      /** The values of the form, checked and converted by the schema. */
      readonly content: Content
    }
  | {
      /** The user said no (`decline`), or closed the form without a decision (`cancel`). */
      readonly action: 'decline' | 'cancel'
      /** Absent, because the user did not accept. */
      readonly content?: undefined
    }

/** The answer to a URL: accepting is consent, not completion. */
export interface ElicitedUrl {
  /** Whether the user agreed to visit the URL (`accept`), refused (`decline`), or decided nothing (`cancel`). */
  readonly action: 'accept' | 'decline' | 'cancel'
  /** Notifies the client, if the revision has a message for it, that the interaction at the URL is complete. */
  complete(): void
}

/** A message to the client's model. */
export interface SampleMessage {
  /** The speaker. `system` only if the server's profile allows it; use `systemPrompt` instead. */
  readonly role: 'user' | 'assistant' | 'system'
  /** Text, or content such as `image(bytes, 'image/png')`. A message with tool results contains nothing else. */
  readonly content: string | SampleBlock | readonly SampleBlock[]
}

/** The content of a message to or from the client's model. */
export type SampleBlock =
  | ContentBlock
  | (JsonObject & {
      /** A tool that the model wants to use, with `id`, `name` and `input`; or its result, with `toolUseId` and `content`. */
      readonly type: 'tool_use' | 'tool_result'
    })

/** A request of `ctx.sample` to the client's model. The client may ask its user first, and may change or ignore all but the messages. */
export interface SampleParams {
  /** The conversation so far, oldest message first. */
  readonly messages: readonly SampleMessage[]
  /** The most tokens that the answer may have. Default: 1024. */
  readonly maxTokens?: number | undefined
  /** Instructions for the model. Default: none. */
  readonly systemPrompt?: string | undefined
  /** How random the answer may be; models differ in their range. Default: that of the client. */
  readonly temperature?: number | undefined
  /** Texts at which the model stops. Default: none. */
  readonly stopSequences?: readonly string[] | undefined
  /**
   * Which model to use: `hints` with parts of names, and `costPriority`, `speedPriority` and `intelligencePriority` from 0
   * to 1. Default: the client decides.
   *
   * @example
   * modelPreferences: { hints: [{ name: 'sonnet' }], speedPriority: 0.8 }
   */
  readonly modelPreferences?: JsonObject | undefined
  /** Whose context the client adds. Sent only to clients that support it. Default: `none`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers' | undefined
  /** Settings for the provider of the model. Default: none. */
  readonly metadata?: JsonObject | undefined
  /** Tools that the model may use, each `{ name, description, inputSchema }`; the client must support it. Default: none. */
  readonly tools?: readonly JsonObject[] | undefined
  /** Whether the model may (`mode` is `auto`), must (`required`) or must not (`none`) use a tool. Default: `auto`. */
  readonly toolChoice?: { readonly mode: 'auto' | 'required' | 'none' } | undefined
}

/** The answer of the client's model. */
export interface Sampled {
  /** The speaker, usually `assistant`. */
  readonly role: 'user' | 'assistant'
  /** One block, or several; `tool_use` blocks ask for tools that the params offered. */
  readonly content: SampleBlock | readonly SampleBlock[]
  /** The name of the model that answered. */
  readonly model: string
  /** Why the model stopped, such as `endTurn`, `stopSequence`, `maxTokens` or `toolUse`; absent if the client does not say. */
  readonly stopReason?: string | undefined
}

/** Asks the user to fill in a form and checks the answer. */
export async function elicit<Schema extends AnySchema>(
  context: Context,
  message: string,
  schema: Schema,
  options: AskOptions = {},
): Promise<Elicited<OutputOf<Schema>>> {
  requireFeature(callOf(context).peer, 'elicitation.form')
  const checker = toChecker(schema, 'input')
  const params = { mode: 'form', message, requestedSchema: toFormSchema(schema) }
  return ask(
    context,
    { kind: 'elicit', method: 'elicitation/create', params, ...options },
    async (answer) => {
      const action = readAction(answer)
      if (action !== 'accept') return { action }
      const checked = await checker.check(answer['content'] ?? {})
      if (!checked.ok) throw new Invalid(checked.issue)
      return { action, content: checked.value as OutputOf<Schema> }
    },
  )
}

/** Asks the user to visit a URL. */
export async function elicitUrl(
  context: Context,
  message: string,
  url: string,
  options: AskOptions = {},
): Promise<ElicitedUrl> {
  const { peer } = callOf(context)
  requireFeature(peer, 'elicitation.url')
  if (!isUrl(url))
    throw mcpError(BAD_OPTION, { where: 'ctx.elicitUrl', reason: `"${url}" is not a URL; write https://…` })
  const elicitationId = crypto.randomUUID()
  const live = peer.dialect.questions === 'live'
  const params = { mode: 'url', message, url, ...(live ? { elicitationId } : {}) }
  return ask(context, { kind: 'elicit', method: 'elicitation/create', params, ...options }, (answer) => ({
    action: readAction(answer),
    complete: () => peer.session?.notify('notifications/elicitation/complete', { elicitationId }),
  }))
}

/** Asks the client's model for a message. */
export async function sample(
  context: Context,
  params: SampleParams,
  options: AskOptions = {},
): Promise<Sampled> {
  const { peer } = callOf(context)
  requireFeature(peer, params.tools === undefined ? 'sampling' : 'sampling.tools')
  const { includeContext, ...rest } = checkSampling(params, peer.dialect)
  const included =
    includeContext !== undefined && supports(peer, 'sampling.context') ? { includeContext } : {}
  const question = {
    kind: 'sample',
    method: 'sampling/createMessage',
    params: { ...rest, ...included },
    ...options,
  }
  return ask(context, question, (answer) => {
    if (
      typeof answer['model'] !== 'string' ||
      typeof answer['content'] !== 'object' ||
      answer['content'] === null
    ) {
      throw new Malformed('role, content and model are required')
    }
    const { stopReason } = answer
    const known = STOP_REASONS.get(stopReason as string)
    return (known === undefined
      ? answer
      : Object.assign(copyOf(answer), { stopReason: known })) as unknown as Sampled
  })
}

/** The roots of the client. */
export async function listRoots(context: Context, options: AskOptions = {}): Promise<readonly Root[]> {
  requireFeature(callOf(context).peer, 'roots')
  return ask(context, { kind: 'roots', method: 'roots/list', params: {}, ...options }, (answer) => {
    const roots = answer['roots']
    if (!Array.isArray(roots) || !roots.every(isRoot))
      throw new Malformed('roots must be a list of file:// URIs')
    return roots as Root[]
  })
}

interface Asking extends AskOptions {
  readonly kind: string
  readonly method: string
  readonly params: JsonObject
}

/** An answer that does not match what was asked for. */
class Invalid extends Error {}

/** An answer that violates the protocol. */
class Malformed extends Invalid {}

/** Asks the client a question: as a live request, or in a further round of the same request. */
async function ask<Value>(
  context: Context,
  question: Asking,
  read: (answer: JsonObject) => Value | Promise<Value>,
): Promise<Value> {
  const call = callOf(context)
  if (call.task !== undefined && (await call.task.isTask()))
    return askInTask(context, call.task, question, read)
  if (call.peer.dialect.questions === 'rounds') return askInRounds(context, question, read)
  if (call.channel.ask === undefined) {
    throw mcpError(CANNOT_ASK, {
      capability: question.method,
      reason: 'it has no stream that could carry the question',
    })
  }
  const asked = askLive(call.channel.ask.bind(call.channel), question, call, partsOf(context).limits)
  const answer = await (call.aside?.(asked) ?? asked)
  try {
    return await read(answer)
  } catch (error) {
    throw explained(question, error)
  }
}

async function askLive(
  ask: NonNullable<Channel['ask']>,
  question: Asking,
  call: Call,
  { questionMs }: Pick<Limits, 'questionMs'>,
): Promise<JsonObject> {
  if (question.task === undefined) return ask(question.method, question.params, call)
  const { askAsTask } = await import('./task-questions.ts')
  return askAsTask(ask, question, question.task, call, questionMs)
}

async function askInRounds<Value>(
  context: Context,
  question: Asking,
  read: (answer: JsonObject) => Value | Promise<Value>,
): Promise<Value> {
  const rounds = beginRounds(context)
  const key = question.key ?? `${question.kind}-${++rounds.asked}`
  const { method, params } = question
  const asked = { method, params }
  let answer = answerTo(rounds, key)
  if (question.key === undefined) {
    if (answer === undefined || !rounds.digests.has(key)) rounds.first.set(key, asked)
    else if (await wasAnother(context, key, asked)) {
      warnOfChange(context, method)
      rounds.answers.delete(key)
      rounds.first.set(key, asked)
      answer = undefined
    }
  }
  if (answer === undefined) {
    rounds.questions.set(key, asked)
    throw mcpError(INPUT_REQUIRED, {})
  }
  try {
    if (!isObject(answer)) throw new Malformed('it is not an object')
    const value = await read(answer)
    callOf(context).task?.keepAnswer(key, asked, answer)
    return value
  } catch (error) {
    // If the handler catches the error and asks again, it must not get the same answer.
    rounds.answers.delete(key)
    if (!(error instanceof Malformed)) throw explained(question, error)
    const reason = `the answer to "${key}" cannot be read: ${error.message}`
    throw mcpError(BAD_PARAMS, { method: context.method, reason })
  }
}

/** Asks in a task: the handler waits, and answers are kept for further attempts. */
async function askInTask<Value>(
  context: Context,
  task: CallTask,
  question: Asking,
  read: (answer: JsonObject) => Value | Promise<Value>,
): Promise<Value> {
  const rounds = beginRounds(context)
  const key = question.key ?? `${question.kind}-${++rounds.asked}`
  const { method, params } = question
  const asked = { method, params }
  const isNamed = question.key !== undefined
  let answer = task.answerTo(key, asked, !isNamed)
  if (answer === undefined) {
    // The round before the task may have answered it.
    const early = answerTo(rounds, key)
    if (early !== undefined && (isNamed || !(await wasAnother(context, key, asked)))) answer = early
    rounds.answers.delete(key)
    if (answer !== undefined) task.keepAnswer(key, asked, answer)
  }
  answer ??= await task.question(key, asked)
  try {
    return await read(answer)
  } catch (error) {
    task.keepAnswer(key, asked, undefined)
    throw explained(question, error)
  }
}

/** A handler whose question never stays the same would ask until the client gives up, without a reason that anybody sees. */
function warnOfChange(context: Context, question: string): void {
  const item = `${context.method} ${JSON.stringify(context.params['name'] ?? context.params['uri'])}`
  const problem = `${item} asks again, because its question (${question}) changed between two rounds`
  const advice =
    'keep what the text depends on with ctx.once, or give the question a key if its text does not matter'
  partsOf(context).warnOnce('question', item, `${problem}; ${advice}`)
}

function explained({ method }: Asking, error: unknown): unknown {
  return error instanceof Invalid ? mcpError(ASK_INVALID, { method, issue: error.message }) : error
}

function readAction(answer: JsonObject): 'accept' | 'decline' | 'cancel' {
  const { action } = answer
  if (action === 'accept' || action === 'decline' || action === 'cancel') return action
  if (action === 'reject') return 'decline'
  throw new Malformed('action must be accept, decline or cancel')
}

function isRoot(root: unknown): root is Root {
  const { uri } = (root ?? {}) as { readonly uri?: unknown }
  return typeof uri === 'string' && uri.startsWith('file://')
}
