import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { UNKNOWN_METHOD } from '../errors/rpc.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Root } from '../protocol/spec/2026-07-28.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { checkRoots } from './declared.ts'

/** A form to fill in. `schema` is a flat object of simple properties; properties missing from the answer get their defaults. */
export interface FormQuestion {
  readonly message: string
  readonly schema: JsonObject
}

/** A URL to open. Show it to the user in full and ask for consent first. */
export interface UrlQuestion {
  readonly message: string
  readonly url: string
  /** The id in the `elicited` event, if the server reports when the user has finished. */
  readonly elicitationId?: string | undefined
}

export interface FormAnswer {
  /** `reject` means `decline`. */
  readonly action: 'accept' | 'decline' | 'reject' | 'cancel'
  readonly content?: JsonObject | undefined
}

type Soon<Value> = Value | Promise<Value>

/** The functions that answer the server's questions. The client declares only those that are given. */
export interface Answers {
  readonly elicit?: ((question: FormQuestion, signal: AbortSignal) => Soon<FormAnswer>) | undefined
  readonly elicitUrl?:
    | ((question: UrlQuestion, signal: AbortSignal) => Soon<{ readonly action: FormAnswer['action'] }>)
    | undefined
  /** Sends `reject` instead of `decline`, for servers that know only `reject`. */
  readonly rejects?: boolean | undefined
  /** Asks a model. Show the request and the result to the user for approval. */
  readonly sample?: ((params: JsonObject, signal: AbortSignal) => Soon<JsonObject>) | undefined
  /** Whether `sample` supports tools. */
  readonly sampleTools?: boolean | undefined
  readonly roots?: readonly Root[] | (() => Soon<readonly Root[]>) | undefined
}

/** Answers a question, or throws the error to send back. */
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
      return sample(answers, params, signal)
    case 'elicitation/create':
      return elicit(answers, params, signal)
    default:
      throw mcpError(UNKNOWN_METHOD, { method: method.slice(0, 128), revision: 'this client' })
  }
}

async function rootsOf({ roots }: Answers): Promise<readonly Root[]> {
  if (roots === undefined) throw unsupported('roots/list')
  return checkRoots(typeof roots === 'function' ? await roots() : roots)
}

async function sample(
  { sample: run, sampleTools }: Answers,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (run === undefined) throw unsupported('sampling/createMessage')
  if (params['tools'] !== undefined && sampleTools !== true) {
    throw mcpError(BAD_PARAMS, {
      method: 'sampling/createMessage',
      reason: 'the client did not declare tools',
    })
  }
  const { system, ...rest } = params
  // `system` is an alias of `systemPrompt`.
  const isAlias = system !== undefined && params['systemPrompt'] === undefined
  return run(isAlias ? { ...rest, systemPrompt: system } : params, signal)
}

async function elicit(answers: Answers, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const message = typeof params['message'] === 'string' ? params['message'] : ''
  if ((params['mode'] ?? 'form') === 'form') {
    if (answers.elicit === undefined) throw unsupportedMode('form', answers)
    const schema = readForm(params)
    const { action, content } = await answers.elicit({ message, schema }, signal)
    return action === 'accept'
      ? { action, content: withDefaults(schema, content ?? {}) }
      : { action: wireAction(action, answers) }
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
  return { action: wireAction(action, answers) }
}

/** The schema of a form, which must describe an object. Some servers omit it when there is nothing to fill in. */
function readForm({ requestedSchema: schema = { type: 'object', properties: {} } }: JsonObject): JsonObject {
  const { type, properties = {}, required = [] } = isObject(schema) ? schema : {}
  const isForm =
    type === 'object' &&
    isObject(properties) &&
    Object.values(properties).every(isObject) &&
    Array.isArray(required) &&
    required.every((name) => typeof name === 'string')
  if (isForm) return schema as JsonObject
  const reason = 'requestedSchema is not the schema of an object'
  throw mcpError(BAD_PARAMS, { method: 'elicitation/create', reason })
}

function wireAction(action: FormAnswer['action'], { rejects }: Answers): string {
  if (!ACTIONS.has(action))
    throw mcpError(BAD_OPTION, {
      where: 'answers',
      reason: `"${String(action)}" is not an action; use ${[...ACTIONS].join(', ')}`,
    })
  if (action !== 'decline' && action !== 'reject') return action
  return rejects === true ? 'reject' : 'decline'
}

const ACTIONS: ReadonlySet<string> = new Set(['accept', 'decline', 'reject', 'cancel'])

/** Adds the default of every property that is missing from the content. */
function withDefaults(schema: JsonObject, content: JsonObject): JsonObject {
  const filled = new Map(Object.entries(content))
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)
  for (const [name, property] of properties) {
    if (!filled.has(name) && property['default'] !== undefined) filled.set(name, property['default'])
  }
  return Object.fromEntries(filled)
}

function unsupported(method: string): McpError {
  return mcpError(UNKNOWN_METHOD, { method, revision: 'this client' })
}

function unsupportedMode(mode: unknown, answers: Answers): McpError {
  if (answers.elicit === undefined && answers.elicitUrl === undefined)
    return unsupported('elicitation/create')
  const reason = `the client did not declare the mode "${untrustedText(mode).slice(0, 32)}"`
  return mcpError(BAD_PARAMS, { method: 'elicitation/create', reason })
}
