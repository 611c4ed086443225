import { isNotification, isObject, isRequest, isResponse, member, type Message } from '../message.ts'
import { ALL, TRANSPORTS, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { furtherAnswers, requestFinder } from './exchanges.ts'
import { firstWrong } from './json-rpc.ts'

/** The type of a member: a JSON type, the name of a shape, a list of either in brackets, one or a list of them with `+`, or several with `|` between them. `!` follows if it must be there. */
type Types = Readonly<Record<string, string>>

const ID = 'string|integer'
const DESCRIBED = {
  name: 'string!',
  title: 'string',
  description: 'string',
  icons: '[Icon]',
  _meta: 'object',
}

/** The members that the specification gives a type, at every revision that has them. */
const SHAPES: Readonly<Record<string, Types>> = {
  Implementation: { ...DESCRIBED, version: 'string!', websiteUrl: 'string' },
  Capabilities: {
    tools: 'Announced',
    resources: 'Watched',
    prompts: 'Announced',
    logging: 'object',
    completions: 'object',
    experimental: 'object',
    extensions: 'object',
  },
  Announced: { listChanged: 'boolean' },
  Watched: { listChanged: 'boolean', subscribe: 'boolean' },
  Icon: { src: 'string!', mimeType: 'string', sizes: '[string]', theme: 'string' },
  Tool: {
    ...DESCRIBED,
    inputSchema: 'object!',
    outputSchema: 'object',
    annotations: 'ToolHints',
    execution: 'Execution',
  },
  Execution: { taskSupport: 'TaskSupport' },
  ToolHints: {
    title: 'string',
    readOnlyHint: 'boolean',
    destructiveHint: 'boolean',
    idempotentHint: 'boolean',
    openWorldHint: 'boolean',
  },
  Resource: { ...DESCRIBED, uri: 'string!', mimeType: 'string', size: 'integer', annotations: 'Annotations' },
  Template: { ...DESCRIBED, uriTemplate: 'string!', mimeType: 'string', annotations: 'Annotations' },
  Annotations: { audience: '[Role]', priority: 'share', lastModified: 'string' },
  Prompt: { ...DESCRIBED, arguments: '[Argument]' },
  Argument: { ...DESCRIBED, required: 'boolean' },
  PromptMessage: { role: 'Role!', content: 'Block!' },
  Block: { type: 'BlockType!', annotations: 'Annotations', _meta: 'object' },
  'Block text': { text: 'string!' },
  'Block image': { data: 'base64!', mimeType: 'string!' },
  'Block audio': { data: 'base64!', mimeType: 'string!' },
  'Block resource': { resource: 'Contents!' },
  'Block resource_link': { ...DESCRIBED, uri: 'string!', mimeType: 'string', size: 'integer' },
  Contents: { uri: 'string!', mimeType: 'string', text: 'string', blob: 'base64', _meta: 'object' },
  SamplingMessage: { role: 'Role!', content: 'Sample+!', _meta: 'object' },
  Sample: { type: 'SampleType!', _meta: 'object' },
  'Sample text': { text: 'string!' },
  'Sample image': { data: 'base64!', mimeType: 'string!' },
  'Sample audio': { data: 'base64!', mimeType: 'string!' },
  'Sample tool_use': { id: 'string!', name: 'string!', input: 'object!' },
  'Sample tool_result': { toolUseId: 'string!', content: '[Block]!', isError: 'boolean' },
  Preferences: {
    hints: '[Hint]',
    costPriority: 'share',
    speedPriority: 'share',
    intelligencePriority: 'share',
  },
  Hint: { name: 'string' },
  Task: {
    taskId: 'string!',
    status: 'TaskStatus!',
    statusMessage: 'string',
    createdAt: 'string',
    lastUpdatedAt: 'string',
  },
  Completion: { values: '[string]!', total: 'integer', hasMore: 'boolean' },
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  Role: ['user', 'assistant'],
  BlockType: ['text', 'image', 'audio', 'resource', 'resource_link'],
  SampleType: ['text', 'image', 'audio', 'tool_use', 'tool_result'],
  TaskStatus: ['working', 'input_required', 'completed', 'failed', 'cancelled'],
  TaskSupport: ['forbidden', 'optional', 'required'],
  Context: ['none', 'thisServer', 'allServers'],
  Mode: ['form', 'url'],
  Level: ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
}

const PAGE = { nextCursor: 'string', _meta: 'object' }

const RESULTS: Readonly<Record<string, Types>> = {
  initialize: {
    protocolVersion: 'string!',
    capabilities: 'Capabilities!',
    serverInfo: 'Implementation!',
    instructions: 'string',
  },
  'server/discover': {
    supportedVersions: '[string]!',
    capabilities: 'Capabilities!',
    instructions: 'string',
  },
  'tools/list': { ...PAGE, tools: '[Tool]!' },
  'tools/call': { content: '[Block]!', isError: 'boolean', task: 'Task', _meta: 'object' },
  'resources/list': { ...PAGE, resources: '[Resource]!' },
  'resources/templates/list': { ...PAGE, resourceTemplates: '[Template]!' },
  'resources/read': { contents: '[Contents]!', _meta: 'object' },
  'prompts/list': { ...PAGE, prompts: '[Prompt]!' },
  'prompts/get': { description: 'string', messages: '[PromptMessage]!', _meta: 'object' },
  'tasks/list': { ...PAGE, tasks: '[Task]!' },
  'completion/complete': { completion: 'Completion!', _meta: 'object' },
}

/** The members of `_meta` that the protocol has given a name. */
const META: Types = { 'io.modelcontextprotocol/serverInfo': 'Implementation' }

const NOTIFICATIONS: Readonly<Record<string, Types>> = {
  'notifications/message': { level: 'Level!', logger: 'string', data: 'any!' },
  'notifications/progress': {
    progressToken: `${ID}!`,
    progress: 'number!',
    total: 'number',
    message: 'string',
  },
  'notifications/cancelled': { requestId: ID, reason: 'string' },
  'notifications/resources/updated': { uri: 'string!' },
}

/** The parameters of the questions of a server, in requests or, at 2026-07-28, in results. */
const QUESTIONS: Readonly<Record<string, Types>> = {
  'sampling/createMessage': {
    messages: '[SamplingMessage]!',
    maxTokens: 'integer!',
    systemPrompt: 'string',
    includeContext: 'Context',
    temperature: 'number',
    stopSequences: '[string]',
    modelPreferences: 'Preferences',
    metadata: 'object',
  },
  'elicitation/create': { message: 'string!', mode: 'Mode', requestedSchema: 'object' },
}

/** The members that JSON-RPC knows. */
const OF_REQUESTS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])
const OF_RESPONSES: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result', 'error'])
const OF_ERRORS: ReadonlySet<string> = new Set(['code', 'message', 'data'])

export const SHAPE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V090',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The members of results, questions and notifications have the types of the specification, and those that must be there are.',
    how: 'Looks at every result, question and notification that the server sent.',
    fix: 'Send the member with the type that the schema of the protocol gives it, or leave it out if it is optional.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const requestOf = requestFinder()
      return firstWrong(subject, ({ wire, received, message }) => {
        if (isNotification(message))
          return wrongIn(message, 'params', typesOf(NOTIFICATIONS, message['method']))
        if (isRequest(message)) return wrongIn(message, 'params', typesOf(QUESTIONS, message['method']))
        const request = requestOf(wire, received, message['id'])
        const types = typesOf(RESULTS, request?.['method'])
        return (
          wrongIn(message, 'result', isOther(message, request) ? optional(types) : types) ??
          wrongMeta(message) ??
          wrongQuestion(message)
        )
      })
    },
  },
  {
    id: 'V096',
    level: 'convention',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Messages and errors have the members of JSON-RPC alone, since some clients reject all others.',
    how: 'Looks at the members of every message, and of errors.',
    fix: 'Put what you add into _meta of the params or the result, or into data of an error.',
    isLast: true,
    check: (subject) =>
      firstWrong(subject, ({ message }) => {
        const known = Object.hasOwn(message, 'method') ? OF_REQUESTS : OF_RESPONSES
        const more =
          Object.keys(message).find((key) => !known.has(key)) ??
          Object.keys(isObject(message['error']) ? message['error'] : {}).find((key) => !OF_ERRORS.has(key))
        return more === undefined
          ? undefined
          : `a message has the member ${JSON.stringify(more).slice(0, 100)}`
      }),
  },
  {
    id: 'V091',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Every response answers a request, and no request has two.',
    how: 'Compares the ids of all responses with those of the requests on the same connection, over HTTP of the same POST, and counts both.',
    fix: 'Answer each request once, with its id, and notifications not at all.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const requestOf = requestFinder()
      const isFurther = furtherAnswers()
      return firstWrong(subject, ({ wire, received, message }) => {
        if (!isResponse(message)) return undefined
        const id = message['id'] ?? null
        // A text that could not be read is answered without an id.
        if (id === null && Object.hasOwn(message, 'error')) return undefined
        if (requestOf(wire, received, id) === undefined)
          return `a response has the id ${JSON.stringify(id)}, which no request had`
        return isFurther(wire, received, id)
          ? `the request with the id ${JSON.stringify(id)} is answered more than once`
          : undefined
      })
    },
  },
]

function typesOf(table: Readonly<Record<string, Types>>, method: unknown): Types | undefined {
  return typeof method === 'string' && Object.hasOwn(table, method) ? table[method] : undefined
}

/** Whether a result is not the usual one of its method, but a task or questions. */
function isOther(message: Message, request: Message | undefined): boolean {
  const type = member(message, 'result', 'resultType')
  return (type !== undefined && type !== 'complete') || member(request, 'params', 'task') !== undefined
}

/** The same types, of which no member must be there. */
function optional(types: Types | undefined): Types | undefined {
  return types && Object.fromEntries(Object.entries(types).map(([key, type]) => [key, nameOf(type)]))
}

function nameOf(type: string): string {
  return type.endsWith('!') ? type.slice(0, -1) : type
}

/** What is wrong with the `_meta` of a result, which may say who the server is. */
function wrongMeta(message: Message): string | undefined {
  const meta = member(message, 'result', '_meta')
  if (meta === undefined) return undefined
  return isObject(meta) ? wrongMember(meta, META, 'result._meta') : 'result._meta is not an object'
}

/** What is wrong with the questions in a result of 2026-07-28. */
function wrongQuestion(message: Message): string | undefined {
  const questions = member(message, 'result', 'inputRequests')
  if (!isObject(questions)) return undefined
  for (const [key, one] of Object.entries(questions)) {
    const types = typesOf(QUESTIONS, member(one, 'method'))
    const wrong = isObject(one) ? wrongIn(one, 'params', types) : 'it is not an object'
    if (wrong !== undefined) return `the question ${JSON.stringify(key).slice(0, 50)}: ${wrong}`
  }
  return undefined
}

function wrongIn(message: Message, key: 'params' | 'result', types: Types | undefined): string | undefined {
  if (types === undefined || (key === 'result' && !Object.hasOwn(message, key))) return undefined
  const value = member(message, key) ?? {}
  return isObject(value) ? wrongMember(value, types, key) : `${key} is not an object`
}

/** What is wrong with the type of a member, and where. */
function wrongMember(value: Message, types: Types, path: string): string | undefined {
  for (const [key, type] of Object.entries(types)) {
    const found = member(value, key)
    if (found === undefined && type.endsWith('!')) return `${path}.${key} is missing`
    const wrong = found === undefined ? undefined : wrongValue(found, nameOf(type), `${path}.${key}`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function wrongValue(value: unknown, type: string, path: string): string | undefined {
  if (type.endsWith('+')) {
    const inner = type.slice(0, -1)
    return wrongValue(value, Array.isArray(value) ? `[${inner}]` : inner, path)
  }
  if (type.startsWith('[')) {
    if (!Array.isArray(value)) return `${path} is not a list`
    const inner = type.slice(1, -1)
    for (const [at, item] of value.entries()) {
      const wrong = wrongValue(item, inner, `${path}[${at}]`)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
  const shape = SHAPES[type]
  if (shape !== undefined) {
    if (!isObject(value)) return `${path} is not an object`
    // Of content, the type says which members there are.
    const more = SHAPES[`${type} ${String(value['type'])}`]
    const wrong = wrongMember(value, shape, path) ?? (more && wrongMember(value, more, path))
    // Their schema is a choice of two.
    const isEmpty = type === 'Contents' && value['text'] === undefined && value['blob'] === undefined
    return wrong ?? (isEmpty ? `${path} has neither text nor blob` : undefined)
  }
  const words = WORDS[type]
  if (words !== undefined)
    return words.includes(value as string) ? undefined : `${path} is not one of ${words.join(', ')}`
  return type.split('|').some((one) => isOf(value, one)) ? undefined : `${path} is not of type ${type}`
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'any') return true
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'share') return typeof value === 'number' && value >= 0 && value <= 1
  if (type === 'base64') return isBase64(value)
  return type === 'object' ? isObject(value) : typeof value === type
}

function isBase64(value: unknown): boolean {
  return typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
}
