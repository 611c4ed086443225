import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { UNKNOWN_METHOD } from '../errors/rpc.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Root } from '../protocol/spec/2026-07-28.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { checkRoots } from './declared.ts'

/** A form to fill in. `schema` is a flat object of simple properties; defaults are filled in for what is left out. */
export interface FormQuestion {
  readonly message: string
  readonly schema: JsonObject
}

/** A URL to visit, after the user has seen it whole and agreed. */
export interface UrlQuestion {
  readonly message: string
  readonly url: string
  /** The id under which the server tells of the end, as an `elicited` event, where it does. */
  readonly elicitationId?: string
}

export interface FormAnswer {
  /** `reject` means `decline`. */
  readonly action: 'accept' | 'decline' | 'reject' | 'cancel'
  readonly content?: JsonObject
}

type Soon<Value> = Value | Promise<Value>

/** How the client answers what servers ask. What is not here is neither declared nor answered. */
export interface Answers {
  readonly elicit?: (question: FormQuestion, signal: AbortSignal) => Soon<FormAnswer>
  readonly elicitUrl?: (
    question: UrlQuestion,
    signal: AbortSignal,
  ) => Soon<{ readonly action: FormAnswer['action'] }>
  /** Writes `reject` for `decline`, for servers that know only that word. */
  readonly rejects?: boolean
  /** Asks a model; shows the user first what is sent and what comes back. */
  readonly sample?: (params: JsonObject, signal: AbortSignal) => Soon<JsonObject>
  /** Whether `sample` can give tools to the model. */
  readonly sampleTools?: boolean
  readonly roots?: readonly Root[] | (() => Soon<readonly Root[]>)
}

/** Answers one question; throws the error that goes back when it cannot be answered. */
export async function answerQuestion(
  answers: Answers,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  switch (method) {
    case 'ping':
      return {}
    case 'roots/list':
      return { roots: await rootsOf(answers) }
    case 'sampling/createMessage':
      return sampled(answers, params, signal)
    case 'elicitation/create':
      return elicited(answers, params, signal)
    default:
      throw mcpError(UNKNOWN_METHOD, { method: method.slice(0, 128), revision: 'this client' })
  }
}

async function rootsOf({ roots }: Answers): Promise<readonly Root[]> {
  if (roots === undefined) throw unsupported('roots/list')
  return checkRoots(typeof roots === 'function' ? await roots() : roots)
}

async function sampled(
  { sample, sampleTools }: Answers,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (sample === undefined) throw unsupported('sampling/createMessage')
  if (params['tools'] !== undefined && sampleTools !== true) {
    throw mcpError(BAD_PARAMS, { method: 'sampling/createMessage', reason: 'tools were not declared' })
  }
  const { system, ...rest } = params
  const isShort = system !== undefined && params['systemPrompt'] === undefined
  return sample(isShort ? { ...rest, systemPrompt: system } : params, signal)
}

async function elicited(answers: Answers, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const message = typeof params['message'] === 'string' ? params['message'] : ''
  if ((params['mode'] ?? 'form') === 'form') {
    if (answers.elicit === undefined) throw unsupportedMode('form', answers)
    const schema = (params['requestedSchema'] ?? { type: 'object', properties: {} }) as JsonObject
    const { action, content } = await answers.elicit({ message, schema }, signal)
    return action === 'accept'
      ? { action, content: withDefaults(schema, content ?? {}) }
      : { action: wordFor(action, answers) }
  }
  if (params['mode'] !== 'url' || answers.elicitUrl === undefined)
    throw unsupportedMode(params['mode'], answers)
  const url = untrustedText(params['url'])
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw mcpError(BAD_PARAMS, {
      method: 'elicitation/create',
      reason: 'the URL is not an http or https URL',
    })
  }
  const { elicitationId } = params
  const known = typeof elicitationId === 'string' ? { elicitationId } : {}
  const { action } = await answers.elicitUrl({ message, url, ...known }, signal)
  return { action: wordFor(action, answers) }
}

function wordFor(action: FormAnswer['action'], { rejects }: Answers): string {
  if (!ACTIONS.has(action))
    throw mcpError(BAD_OPTION, { where: 'answers', reason: `"${String(action)}" is no action` })
  if (action !== 'decline' && action !== 'reject') return action
  return rejects === true ? 'reject' : 'decline'
}

const ACTIONS: ReadonlySet<string> = new Set(['accept', 'decline', 'reject', 'cancel'])

/** What the user filled in, with the default of every property that was left out. */
function withDefaults(schema: JsonObject, content: JsonObject): JsonObject {
  const filled = new Map(Object.entries(content))
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject | null>)
  for (const [name, property] of properties) {
    if (!filled.has(name) && property?.['default'] !== undefined) filled.set(name, property['default'])
  }
  return Object.fromEntries(filled)
}

function unsupported(method: string): McpError {
  return mcpError(UNKNOWN_METHOD, { method, revision: 'this client' })
}

function unsupportedMode(mode: unknown, answers: Answers): McpError {
  if (answers.elicit === undefined && answers.elicitUrl === undefined)
    return unsupported('elicitation/create')
  const reason = `the mode "${untrustedText(mode).slice(0, 32)}" was not declared`
  return mcpError(BAD_PARAMS, { method: 'elicitation/create', reason })
}
