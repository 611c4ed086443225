import { isObject, member, type Message } from '../../src/validate/message.ts'
import { without, type Instead } from './fault.ts'
import {
  answers,
  FIRST,
  isResponse,
  items,
  LINES,
  NEW,
  OLD,
  replies,
  results,
  SOCKET,
  type Mutant,
  type Row,
} from './mutant-parts.ts'

/** Changes responses to one method. */
const responsesTo = (method: string, change: (message: Message) => Instead): Mutant['fault'] => ({
  message: (message: Message, request: Message | undefined) =>
    request?.['method'] === method && isResponse(message) ? change(message) : message,
})
/** Changes the errors of one method. */
const errorsOf = (method: string, change: (error: Message) => Message): Mutant['fault'] =>
  responsesTo(method, (message) =>
    isObject(message['error']) ? { ...message, error: change(message['error']) } : message,
  )
/** Changes what the server sends with a method of its own. */
const sent = (method: string, change: (params: Message) => Message): Mutant['fault'] => ({
  message: (message: Message) =>
    message['method'] === method
      ? { ...message, params: change((message['params'] ?? {}) as Message) }
      : message,
})
/** Sends a message before the response to each request of a method. */
const before = (method: string, more: Message): Mutant['fault'] =>
  responsesTo(method, (message) => [{ jsonrpc: '2.0', ...more }, message])
const silent = (method: string): Mutant['fault'] => responsesTo(method, () => undefined)
const twice = (method: string): Mutant['fault'] => responsesTo(method, (message) => [message, message])
const greeting = (change: (result: Message) => Message): Mutant['fault'] => results('initialize', change)
const capabilities = (change: (declared: Message) => unknown): Mutant['fault'] =>
  greeting((result) => ({ ...result, capabilities: change(result['capabilities'] as Message) }))
const LOG = { level: 'info', data: 'a message that nobody asked for' }

/** Mutants that were written after the rules, to see which of them are found. */
export const MORE_ROWS: readonly Row[] = [
  [LINES, 'does not answer prompts/list', silent('prompts/list')],
  [OLD, 'does not answer resources/templates/list', silent('resources/templates/list')],
  [FIRST, 'does not answer resources/unsubscribe', silent('resources/unsubscribe')],
  [NEW, 'answers tools/list twice', twice('tools/list')],
  [SOCKET, 'answers completions twice', twice('completion/complete')],
  [OLD, 'greets without a version', greeting((result) => without(result, 'protocolVersion'))],
  [LINES, 'has a list of instructions', greeting((result) => ({ ...result, instructions: ['be kind'] }))],
  [
    NEW,
    'has a text as its versions',
    results('server/discover', (result) => ({ ...result, supportedVersions: '2026-07-28' })),
  ],
  [
    SOCKET,
    'has a number as its own version',
    greeting((result) => ({ ...result, serverInfo: { name: 'x', version: 1 } })),
  ],
  [
    OLD,
    'has a text as resources.subscribe',
    capabilities((declared) => ({ ...declared, resources: { subscribe: 'yes' } })),
  ],
  [FIRST, 'has null as its capabilities', capabilities(() => null)],
  [OLD, 'hides that it logs', capabilities((declared) => without(declared, 'logging'))],
  [LINES, 'hides that it completes', capabilities((declared) => without(declared, 'completions'))],
  [OLD, 'hides that it has tasks', capabilities((declared) => without(declared, 'tasks'))],
  [
    NEW,
    'has null as the description of tools',
    items('tools/list', 'tools', (tool) => ({ ...tool, description: null })),
  ],
  [OLD, 'breaks on unknown tasks', errorsOf('tasks/get', (error) => ({ ...error, code: -32_603 }))],
  [OLD, 'lists ids of tasks only', items('tasks/list', 'tasks', ({ taskId }) => ({ taskId }))],
  [
    OLD,
    'forgets which task a result belongs to',
    results('tasks/result', (result) => without(result, '_meta')),
  ],
  [
    SOCKET,
    'refuses pings before initialize',
    {
      answer: ({ id, method }: Message) =>
        method === 'ping' && id === 1
          ? { jsonrpc: '2.0', id, error: { code: -32_600, message: 'not initialized' } }
          : undefined,
    },
  ],
  [
    LINES,
    'has lists as the content of messages',
    items('prompts/get', 'messages', (one) => ({ ...one, content: [one['content']] })),
  ],
  [FIRST, 'says that it is initialized', before('tools/list', { method: 'notifications/initialized' })],
  [
    SOCKET,
    'has a text as the total',
    sent('notifications/progress', (params) => ({ ...params, total: '3' })),
  ],
  [
    LINES,
    'asks for an address with members',
    sent('elicitation/create', (params) => ({
      ...params,
      requestedSchema: { type: 'object', properties: { address: { type: 'object', properties: {} } } },
    })),
  ],
  [OLD, 'asks without saying what', sent('elicitation/create', (params) => without(params, 'message'))],
  [
    NEW,
    'asks with a method that there is not',
    results('tools/call', (result) =>
      isObject(result['inputRequests'])
        ? {
            ...result,
            inputRequests: Object.fromEntries(
              Object.entries(result['inputRequests']).map(([key, one]) => [
                key,
                { ...(one as Message), method: 'user/ask' },
              ]),
            ),
          }
        : result,
    ),
  ],
  [
    NEW,
    'has a type of results of its own',
    results('tools/list', (result) => ({ ...result, resultType: 'done' })),
  ],
  [NEW, 'does not know unknown tools', errorsOf('tools/call', (error) => ({ ...error, code: -32_601 }))],
  [
    NEW,
    'does not say who may keep contents',
    results('resources/read', (result) => without(result, 'cacheScope')),
  ],
  [NEW, 'has a time in the past', results('prompts/list', (result) => ({ ...result, ttlMs: -1 }))],
  [
    NEW,
    'does not name the version that was asked for',
    {
      message: (message: Message) =>
        member(message, 'error', 'code') === -32_022
          ? { ...message, error: { ...(message['error'] as Message), data: { supported: ['2026-07-28'] } } }
          : message,
    },
  ],
  [
    NEW,
    'does not name the capability that it needs',
    {
      message: (message: Message) =>
        member(message, 'error', 'code') === -32_021
          ? { ...message, error: without(message['error'] as Message, 'data') }
          : message,
    },
  ],
  [
    LINES,
    'returns texts that are bytes too',
    items('resources/read', 'contents', (one) => ({ ...one, text: 'a text', blob: 'YQ==' })),
  ],
  [
    FIRST,
    'finds nothing at missing resources',
    {
      ...responsesTo('resources/read', (message) =>
        isObject(message['error'])
          ? { jsonrpc: '2.0', id: message['id'], result: { contents: [] } }
          : message,
      ),
    },
  ],
  [OLD, 'breaks on unknown prompts', errorsOf('prompts/get', (error) => ({ ...error, code: -32_603 }))],
  [
    LINES,
    'has a text as hasMore',
    results('completion/complete', () => ({ completion: { values: ['a'], hasMore: 'no' } })),
  ],
  [
    SOCKET,
    'has texts as hints of tools',
    items('tools/list', 'tools', (tool) => ({ ...tool, annotations: { readOnlyHint: 'true' } })),
  ],
  [
    OLD,
    'leaves out structured content',
    results('tools/call', (result) => without(result, 'structuredContent')),
  ],
  [LINES, 'logs at every level', before('tools/call', { method: 'notifications/message', params: LOG })],
  [NEW, 'logs for everyone', before('tools/call', { method: 'notifications/message', params: LOG })],
  [SOCKET, 'ends lists with null', results('tools/list', (result) => ({ ...result, nextCursor: null }))],
  [
    OLD,
    'cannot unsubscribe',
    responsesTo('resources/unsubscribe', ({ id }) => ({
      jsonrpc: '2.0',
      id,
      error: { code: -32_601, message: 'unknown' },
    })),
  ],
  [
    LINES,
    'forgets ids of unknown methods',
    responsesTo('validator/unknown', (message) => ({ ...message, id: null })),
  ],
  [
    OLD,
    'breaks when a tool fails',
    responsesTo('tools/call', (message) =>
      member(message, 'result', 'isError') === true
        ? { jsonrpc: '2.0', id: message['id'], error: { code: -32_603, message: 'failed' } }
        : message,
    ),
  ],
  [OLD, 'has roots itself', answers('roots/list', { roots: [] })],
  [
    LINES,
    'asks the model with messages of nobody',
    sent('sampling/createMessage', (params) => ({
      ...params,
      messages: [{ content: { type: 'text', text: 'hello' } }],
    })),
  ],
  [
    NEW,
    'finds every task',
    {
      message: (message: Message, request: Message | undefined) =>
        request?.['method'] === 'tasks/get' && isObject(message['error'])
          ? {
              jsonrpc: '2.0',
              id: message['id'],
              result: { resultType: 'complete', taskId: 'x', status: 'working' },
            }
          : message,
    },
  ],
  [
    SOCKET,
    'has templates without an end',
    items('resources/templates/list', 'resourceTemplates', (one) => ({
      ...one,
      uriTemplate: 'test://item/{id',
    })),
  ],
  [
    OLD,
    'answers broken JSON with 200',
    replies((reply, message) =>
      reply.status === 400 && message === undefined ? { ...reply, status: 200 } : reply,
    ),
  ],
  [
    SOCKET,
    'says that a tool of its own is audio without data',
    items('tools/call', 'content', (block) =>
      block['type'] === 'image' ? { type: 'audio', mimeType: 'audio/wav' } : block,
    ),
  ],
  [
    LINES,
    'names an argument of a prompt twice with a number',
    items('prompts/list', 'prompts', (prompt) =>
      Array.isArray(prompt['arguments']) ? { ...prompt, arguments: [{ name: 7 }] } : prompt,
    ),
  ],
  [
    FIRST,
    'never lists the second page',
    {
      answer: ({ id, method, params }: Message) =>
        method === 'tools/list' &&
        typeof member(params, 'cursor') === 'string' &&
        !String(member(params, 'cursor')).startsWith('validator')
          ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'bad cursor' } }
          : undefined,
    },
  ],
]
