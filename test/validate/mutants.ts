import type { Message } from '../../src/validate/message.ts'
import { inResult, without } from './fault.ts'
import { FURTHER_ROWS } from './further-mutants.ts'
import { MORE_ROWS } from './more-mutants.ts'
import {
  OLD,
  NEW,
  LINES,
  SOCKET,
  FIRST,
  isResponse,
  responses,
  errors,
  results,
  items,
  answers,
  replies,
  blindTo,
  isNotification,
  type Mutant,
  type Row,
} from './mutant-parts.ts'

const ROWS: readonly Row[] = [
  [LINES, 'says it speaks JSON-RPC 1.0', responses((message) => ({ ...message, jsonrpc: '1.0' }))],
  [OLD, 'turns ids into texts', responses((message) => ({ ...message, id: String(message['id']) }))],
  [SOCKET, 'forgets ids of results', responses((message) => without(message, 'id'))],
  [
    NEW,
    'sends a result and an error',
    responses((message) =>
      'result' in message ? { ...message, error: { code: 1, message: 'x' } } : message,
    ),
  ],
  [LINES, 'has texts as error codes', errors((error) => ({ ...error, code: String(error['code']) }))],
  [FIRST, 'has errors without a message', errors((error) => without(error, 'message'))],
  [OLD, 'has fractions as error codes', errors((error) => ({ ...error, code: -32600.5 }))],
  [NEW, 'has an error code for everything', errors((error) => ({ ...error, code: -32603 }))],
  [
    OLD,
    'answers unknown methods with an empty result',
    {
      answer: (message: Message) =>
        typeof message['id'] === 'number' &&
        !/^(?:initialize|ping|server|tools|resources|prompts|completion|logging|tasks)/.test(
          String(message['method']),
        ) &&
        message['method'] !== undefined
          ? { jsonrpc: '2.0', id: message['id'], result: {} }
          : undefined,
    },
  ],
  [
    LINES,
    'answers notifications',
    {
      answer: (message: Message) =>
        isNotification(message) && message['method'] === 'notifications/initialized'
          ? { jsonrpc: '2.0', id: null, result: {} }
          : undefined,
    },
  ],
  [
    LINES,
    'answers a ping with an error',
    {
      answer: (message: Message) =>
        message['method'] === 'ping'
          ? { jsonrpc: '2.0', id: message['id'], error: { code: -32601, message: 'no' } }
          : undefined,
    },
  ],
  [SOCKET, 'answers a ping with more than it should', results('ping', () => ({ pong: true }))],
  [OLD, 'does not say who it is', results('initialize', (result) => without(result, 'serverInfo'))],
  [
    FIRST,
    'has no version of its own',
    results('initialize', (result) => ({ ...result, serverInfo: { name: 'x' } })),
  ],
  [
    LINES,
    'always offers the oldest revision',
    results('initialize', (result) => ({ ...result, protocolVersion: '2024-11-05' })),
  ],
  [
    SOCKET,
    'has a list of capabilities',
    results('initialize', (result) => ({ ...result, capabilities: [] })),
  ],
  [
    OLD,
    'hides that it has tools',
    results('initialize', (result) => ({
      ...result,
      capabilities: without(result['capabilities'] as Message, 'tools'),
    })),
  ],
  [LINES, 'has tools without a schema', items('tools/list', 'tools', (tool) => without(tool, 'inputSchema'))],
  [
    OLD,
    'has a tool whose schema is not of an object',
    items('tools/list', 'tools', (tool, at) =>
      at === 0 ? { ...tool, inputSchema: { type: 'string' } } : tool,
    ),
  ],
  [
    OLD,
    'has two tools of one name',
    results('tools/list', (result) => ({
      ...result,
      tools: [...(result['tools'] as readonly Message[]), (result['tools'] as readonly Message[])[0]],
    })),
  ],
  [
    NEW,
    'has a tool with spaces in its name',
    items('tools/list', 'tools', (tool, at) => (at === 0 ? { ...tool, name: 'a tool' } : tool)),
  ],
  [
    SOCKET,
    'lists tools by name',
    results('tools/list', (result) => ({
      ...result,
      tools: Object.fromEntries((result['tools'] as readonly Message[]).map((tool) => [tool['name'], tool])),
    })),
  ],
  [
    OLD,
    'has a number as the next cursor',
    results('tools/list', (result) => ('nextCursor' in result ? { ...result, nextCursor: 7 } : result)),
  ],
  [
    LINES,
    'accepts any cursor',
    {
      answer: (message: Message) =>
        typeof (message['params'] as Message | undefined)?.['cursor'] === 'string' &&
        message['method'] === 'tools/list'
          ? { jsonrpc: '2.0', id: message['id'], result: { tools: [] } }
          : undefined,
    },
  ],
  [
    OLD,
    'returns a text where content belongs',
    results('tools/call', (result) => ({ ...result, content: 'text' })),
  ],
  [NEW, 'forgets the type of content', items('tools/call', 'content', (block) => without(block, 'type'))],
  [LINES, 'has isError as a text', results('tools/call', (result) => ({ ...result, isError: 'yes' }))],
  [
    OLD,
    'breaks its own output schema',
    results('tools/call', (result) =>
      'structuredContent' in result ? { ...result, structuredContent: { count: 'three' } } : result,
    ),
  ],
  [
    NEW,
    'answers for tools that it does not have',
    {
      answer: (message: Message) =>
        message['method'] === 'tools/call' &&
        !['echo', 'count', 'fail', 'picture', 'ask', 'sample', 'work', 'weather'].includes(
          String((message['params'] as Message | undefined)?.['name']),
        )
          ? { jsonrpc: '2.0', id: message['id'], result: { resultType: 'complete', content: [], _meta: {} } }
          : undefined,
    },
  ],
  [
    FIRST,
    'has resources without a URI',
    items('resources/list', 'resources', (item) => without(item, 'uri')),
  ],
  [
    SOCKET,
    'has resources without a name',
    items('resources/list', 'resources', (item) => without(item, 'name')),
  ],
  [
    OLD,
    'returns contents without their URI',
    items('resources/read', 'contents', (item) => without(item, 'uri')),
  ],
  [
    LINES,
    'returns blobs that are not base64',
    items('resources/read', 'contents', (item) => ('blob' in item ? { ...item, blob: 'not base64!' } : item)),
  ],
  [
    NEW,
    'answers for resources that it does not have',
    answers('resources/read', { resultType: 'complete', contents: [], ttlMs: 0, cacheScope: 'private' }),
  ],
  [
    OLD,
    'has prompts with messages of the system',
    results('prompts/get', (result) => ({
      ...result,
      messages: (result['messages'] as readonly Message[]).map((one) => ({ ...one, role: 'system' })),
    })),
  ],
  [
    LINES,
    'has arguments of prompts as a map',
    items('prompts/list', 'prompts', (prompt) => ({ ...prompt, arguments: { topic: {} } })),
  ],
  [OLD, 'completes with numbers', results('completion/complete', () => ({ completion: { values: [1, 2] } }))],
  [
    SOCKET,
    'completes with too many values',
    results('completion/complete', () => ({ completion: { values: Array.from({ length: 150 }, String) } })),
  ],
  [OLD, 'accepts any level of logging', answers('logging/setLevel', {})],
  [
    LINES,
    'counts progress backwards',
    {
      message: (message: Message) =>
        message['method'] === 'notifications/progress'
          ? {
              ...message,
              params: {
                ...(message['params'] as Message),
                progress: -Number((message['params'] as Message)['progress']),
              },
            }
          : message,
    },
  ],
  [
    OLD,
    'reports progress for a token of its own',
    {
      message: (message: Message) =>
        message['method'] === 'notifications/progress'
          ? { ...message, params: { ...(message['params'] as Message), progressToken: 'own' } }
          : message,
    },
  ],
  [
    LINES,
    'logs at a level that does not exist',
    {
      message: (message: Message) =>
        message['method'] === 'notifications/message'
          ? { ...message, params: { ...(message['params'] as Message), level: 'loud' } }
          : message,
    },
  ],
  [
    LINES,
    'writes lines that are not messages',
    { message: (message: Message) => (isResponse(message) ? ['a debug line', message] : message) },
  ],
  [
    LINES,
    'writes messages over several lines',
    { message: (message: Message) => JSON.stringify(message, undefined, 1) },
  ],
  [LINES, 'says nothing to text that is not JSON', { answerText: () => '' }],
  [{ revision: '2026-07-28', transport: 'stdio' }, 'goes on after its input has ended', { stays: true }],
  [
    OLD,
    'answers notifications over HTTP with 200 and a body',
    replies((reply, message) =>
      isNotification(message)
        ? { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }
        : reply,
    ),
  ],
  [OLD, 'accepts pages of every origin', blindTo('origin')],
  [NEW, 'accepts pages of every origin', blindTo('origin')],
  [
    OLD,
    'accepts every host',
    { request: (request) => ({ ...request, headers: { ...request.headers, host: '127.0.0.1' } }) },
  ],
  [OLD, 'accepts every revision in a header', blindTo('mcp-protocol-version')],
  [
    OLD,
    'knows no session 404',
    replies((reply) => (reply.status === 404 ? { ...reply, status: 400 } : reply)),
  ],
  [
    OLD,
    'has ids of sessions with spaces',
    replies((reply) =>
      'mcp-session-id' in reply.headers
        ? { ...reply, headers: { ...reply.headers, 'mcp-session-id': 'a b' } }
        : reply,
    ),
  ],
  [
    OLD,
    'sends JSON as plain text',
    replies((reply) =>
      /json/.test(reply.headers['content-type'] ?? '')
        ? { ...reply, headers: { ...reply.headers, 'content-type': 'text/plain' } }
        : reply,
    ),
  ],
  [
    OLD,
    'answers GET with a page',
    {
      http: async ({ method }, next) =>
        method === 'GET'
          ? { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>hello</p>' }
          : next(),
    },
  ],
  [
    NEW,
    'forgets the type of results',
    responses((message) =>
      'result' in message
        ? { ...message, result: without(message['result'] as Message, 'resultType') }
        : message,
    ),
  ],
  [NEW, 'forgets how long results may be kept', results('tools/list', (result) => without(result, 'ttlMs'))],
  [
    NEW,
    'has a scope of its own for caches',
    results('tools/list', (result) => ({ ...result, cacheScope: 'shared' })),
  ],
  [
    NEW,
    'names no revisions that it supports',
    results('server/discover', (result) => ({ ...result, supportedVersions: [] })),
  ],
  [
    NEW,
    'gives out sessions',
    replies((reply) => ({ ...reply, headers: { ...reply.headers, 'mcp-session-id': 'abc' } })),
  ],
  [
    NEW,
    'does not compare headers with the message',
    {
      request: (request) => ({
        ...request,
        headers:
          request.message === undefined
            ? request.headers
            : {
                ...request.headers,
                'mcp-method': String(request.message['method']),
                ...((request.message['params'] as Message | undefined)?.['name'] !== undefined && {
                  'mcp-name': String((request.message['params'] as Message)['name']),
                }),
              },
      }),
    },
  ],
  [
    NEW,
    'answers unknown methods with status 200',
    replies((reply) => (reply.status === 404 ? { ...reply, status: 200 } : reply)),
  ],
  [NEW, 'still answers pings', answers('ping', { resultType: 'complete' })],
  [
    NEW,
    'lists tools in another order each time',
    {
      message: inResult('tools/list', (result) => ({
        ...result,
        tools: [...(result['tools'] as readonly Message[])].toSorted(() => Math.random() - 0.5).toReversed(),
      })),
    },
  ],
  ...FURTHER_ROWS,
  ...MORE_ROWS,
]

/** Servers with one thing wrong, which the validator has to find. */
export const MUTANTS: readonly Mutant[] = ROWS.map(([place, does, fault]) => ({ ...place, does, fault }))
