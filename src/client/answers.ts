import { copyOf, put } from '../base/copy-of.ts'
import { badOption } from '../base/options.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { UNKNOWN_METHOD } from '../errors/rpc.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, isWide, MAX_MEMBERS, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Root } from '../protocol/spec/2026-07-28.ts'
import { MAX_URL, toWebUrl } from '../protocol/web-url.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { checkRoots } from './declared.ts'

/** A form that the server asks the user to fill in. */
export interface FormQuestion {
  /** The question, to be shown to the user. It comes from the server, so do not run it or render it as markup. */
  readonly message: string
  /**
   * The fields: a JSON Schema of an object whose properties are strings, numbers, booleans or choices. It always has type `object`
   * and, if the server has nothing to fill in, no properties.
   */
  readonly schema: JsonObject
}

/** A URL to open. Show it to the user in full and ask for consent first. */
export interface UrlQuestion {
  /** Why the server wants the user to open the URL. */
  readonly message: string
  /**
   * An http or https URL without credentials, as a browser would show it, in ASCII; the client rejects others. It need not belong
   * to the server.
   */
  readonly url: string
  /** The id in the `elicited` event, if the server reports when the user has finished; undefined at 2026-07-28. */
  readonly elicitationId?: string | undefined
}

/** The answer to a form. */
export interface FormAnswer {
  /** `accept` sends the content, `decline` says no, and `cancel` means that the user closed the form without a choice. `reject` means `decline`. */
  readonly action: 'accept' | 'decline' | 'reject' | 'cancel'
  /** The values by field, if the user accepted. Default: `{}`. Fields that are missing get the defaults in the schema. */
  readonly content?: JsonObject | undefined
}

type Soon<Value> = Value | Promise<Value>

/**
 * The functions that answer the server's questions. The client declares only those that are given, so servers do not ask the
 * others. Default: none. `signal` aborts when the server withdraws the question, the call times out or the connection closes. If a
 * function throws, the server gets an error.
 *
 * @example
 * const client = await connect(target, {
 *   answers: {
 *     elicit: async ({ message, schema }, signal) => {
 *       const content = await showForm(message, schema, signal)
 *       return content === undefined ? { action: 'decline' } : { action: 'accept', content }
 *     },
 *     sample: async ({ messages, maxTokens }) => ({
 *       role: 'assistant',
 *       content: { type: 'text', text: await model(messages, maxTokens) },
 *       model: 'my-model',
 *     }),
 *     roots: [{ uri: 'file:///home/ada/project', name: 'project' }],
 *   },
 * })
 */
export interface Answers {
  /** Shows a form to the user. Default: the server cannot ask for input. Since 2025-06-18. */
  readonly elicit?: ((question: FormQuestion, signal: AbortSignal) => Soon<FormAnswer>) | undefined
  /**
   * Asks the user to open a URL, for example to sign in. The `action` `accept` means that the user agreed to open it, not that
   * they have finished there. Default: the server cannot ask for that. Since 2025-11-25.
   */
  readonly elicitUrl?:
    | ((question: UrlQuestion, signal: AbortSignal) => Soon<{ readonly action: FormAnswer['action'] }>)
    | undefined
  /** Whether to send `reject` instead of `decline`, for servers that know only `reject`. Default: `false`. */
  readonly rejects?: boolean | undefined
  /**
   * Asks a model. It gets the params of `sampling/createMessage` (`messages`, `maxTokens`, `systemPrompt` …) and returns its
   * result (`role`, `content`, `model`, `stopReason`). Show both to the user for approval. Default: the server cannot ask.
   */
  readonly sample?: ((params: JsonObject, signal: AbortSignal) => Soon<JsonObject>) | undefined
  /** Whether `sample` supports `tools` and `toolChoice`. Default: `false`, and requests with tools are rejected. Since 2025-11-25. */
  readonly sampleTools?: boolean | undefined
  /**
   * The folders that the server may work in, or a function that returns the current ones. Default: the server cannot ask.
   * Each `uri` begins with `file://`. After a change, call `client.rootsChanged()`.
   */
  readonly roots?: readonly Root[] | (() => Soon<readonly Root[]>) | undefined
}

export { QuestionRate } from './question-rate.ts'

/** Answers a question, or throws the error to send back. */
export async function answerQuestion(
  answers: Answers,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (isWide(params)) throw mcpError(BAD_PARAMS, { method, reason: `there are more than ${MAX_MEMBERS}` })
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
  const { system, systemPrompt } = params
  // `system` is an alias of `systemPrompt`.
  const isAlias = system !== undefined && systemPrompt === undefined
  return run(isAlias ? Object.assign(copyOf(params, 'system'), { systemPrompt: system }) : params, signal)
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
  const url = toWebUrl(params['url'])
  if (url === undefined) {
    const reason = `the URL is not an http or https URL of at most ${MAX_URL} characters without credentials`
    throw mcpError(BAD_PARAMS, { method: 'elicitation/create', reason })
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
    Object.keys(properties).every((name) => isObject(properties[name])) &&
    Array.isArray(required) &&
    required.every((name) => typeof name === 'string')
  if (isForm) return schema as JsonObject
  const reason = 'requestedSchema is not the schema of an object'
  throw mcpError(BAD_PARAMS, { method: 'elicitation/create', reason })
}

function wireAction(action: FormAnswer['action'], { rejects }: Answers): string {
  if (!ACTIONS.has(action))
    throw badOption('answers', `"${String(action)}" is not an action; use ${[...ACTIONS].join(', ')}`)
  if (action !== 'decline' && action !== 'reject') return action
  return rejects === true ? 'reject' : 'decline'
}

const ACTIONS: ReadonlySet<string> = new Set(['accept', 'decline', 'reject', 'cancel'])

/** Adds the default of every property that is missing from the content. */
function withDefaults(schema: JsonObject, content: JsonObject): JsonObject {
  const filled = copyOf(content)
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>
  for (const name of Object.keys(properties)) {
    const usual = properties[name]!['default']
    if (usual !== undefined && !Object.hasOwn(filled, name)) put(filled, name, usual)
  }
  return filled
}

/** The functions that answer questions, by method. */
const FUNCTIONS = {
  'roots/list': 'roots',
  'sampling/createMessage': 'sample',
  'elicitation/create': 'elicit',
} as const

function unsupported(method: keyof typeof FUNCTIONS): McpError {
  const name = FUNCTIONS[method]
  const hint = `Pass answers: { ${name} } to connect, or to client.answer. A task that asked waits: resume it with such a client.`
  return new McpError('unknown_method', `this client cannot answer ${method}: it has no answers.${name}`, {
    hint,
  })
}

function unsupportedMode(mode: unknown, answers: Answers): McpError {
  if (answers.elicit === undefined && answers.elicitUrl === undefined)
    return unsupported('elicitation/create')
  const reason = `the client did not declare the mode "${untrustedText(mode).slice(0, 32)}"`
  return mcpError(BAD_PARAMS, { method: 'elicitation/create', reason })
}
