import { METHOD_RULES } from '../../src/validate/server-rules/method-rules.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { isIn, METHODS } from '../../src/validate/methods.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import type { Fault, Instead } from './fault.ts'
import { prove } from './prove.ts'

/** The requests of clients that the fixture has, and the revisions that have them. */
const OWN = METHODS.filter(
  ({ from, isNotification, method }) =>
    from !== 'server' && !isNotification && !/initialize|listen|discover/.test(method),
).map((row) => ({ ...row, revisions: REVISIONS.filter((one) => isIn(row, one)) }))

const isError = (message: Message): boolean => Object.hasOwn(message, 'error')
const when =
  (method: string, change: (message: Message) => Instead): NonNullable<Fault['message']> =>
  (message, request) =>
    request?.['method'] === method ? change(message) : message

/** The same request of the server before each answer to a ping. */
const beforePing =
  (more: (request: Message) => Message): NonNullable<Fault['message']> =>
  (message, request) =>
    ['ping', 'tools/list'].includes(String(request?.['method'])) && request !== undefined
      ? [more(request), message]
      : message

/** The revisions whose responses may come on streams of their own. */
const WITH_STREAMS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
const STREAM = { 'content-type': 'text/event-stream' }

/** A server that ends the stream of a call of `count` after these events; `resumed` is what comes if it is resumed. */
const brokenOff =
  (events: string, resumed?: string): NonNullable<Fault['http']> =>
  ({ method, headers, message }, next) => {
    if (resumed !== undefined && method === 'GET' && headers['last-event-id'] === 'lost')
      return { status: 200, headers: STREAM, body: resumed }
    return member(message, 'params', 'name') === 'count'
      ? { status: 200, headers: STREAM, body: events }
      : next()
  }

/** A server that sends the response to a call of `count` only when its stream is resumed. */
function resuming(): NonNullable<Fault['http']> {
  const ids = new Map<string, unknown>()
  return (request, next) => {
    const { method, headers, message } = request
    const session = headers['mcp-session-id'] ?? ''
    if (method === 'GET' && headers['last-event-id'] === 'lost') {
      const answer = { jsonrpc: '2.0', id: ids.get(session), result: { content: [] } }
      return { status: 200, headers: STREAM, body: `data: ${JSON.stringify(answer)}\n\n` }
    }
    if (member(message, 'params', 'name') === 'count') ids.set(session, message?.['id'])
    return brokenOff('id: lost\ndata:\n\n')(request, next)
  }
}

const FAULTS: readonly Fault[] = [
  ...OWN.flatMap(({ method, revisions }): readonly Fault[] => [
    {
      rule: 'V092',
      does: `does not answer ${method}`,
      revisions: revisions.slice(-1),
      transports: ['tcp'],
      message: when(method, () => undefined),
    },
    {
      rule: 'V092',
      does: `answers ${method} twice`,
      revisions,
      transports: ['http'],
      message: when(method, (message) => [message, message]),
    },
  ]),
  ...['resources/read', 'prompts/get'].map((method): Fault => ({
    rule: 'V092',
    does: `answers ${method} only with errors`,
    transports: ['sse', 'http'],
    message: when(method, (message) => (isError(message) ? message : undefined)),
  })),
  {
    rule: 'V092',
    does: 'does not answer calls of unknown tools',
    transports: ['http', 'stdio', 'ws', 'sse'],
    message: when('tools/call', (message) => (isError(message) ? undefined : message)),
  },
  {
    rule: 'V092',
    does: 'does not answer unknown methods',
    transports: ['ws', 'tcp'],
    message: when('validator/unknown', () => undefined),
  },
  {
    rule: 'V092',
    does: 'does not discover',
    revisions: ['2026-07-28'],
    message: (message, request) =>
      request?.['method'] === 'server/discover' && Number(message['id']) > 1 ? undefined : message,
  },
  {
    rule: 'V093',
    does: 'answers no call',
    message: when('tools/call', (message) => (isError(message) ? message : undefined)),
  },
  {
    rule: 'V093',
    does: 'ends the stream of one call without its response',
    revisions: WITH_STREAMS,
    transports: ['http'],
    http: brokenOff(': nothing\n\n'),
  },
  {
    rule: 'V093',
    does: 'sends the response to one call as an event of another type',
    revisions: WITH_STREAMS,
    transports: ['http'],
    http: brokenOff(
      'id: lost\nevent: response\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
      ': nothing\n\n',
    ),
  },
  {
    rule: 'V093',
    does: 'answers calls twice',
    message: when('tools/call', (message) => [message, message]),
  },
  ...['sampling/createMessage', 'roots/list', 'elicitation/create'].map((method): Fault => ({
    rule: 'V094',
    does: `answers ${method} of a client`,
    answer: ({ id, method: asked }) =>
      asked === method ? { jsonrpc: '2.0', id, result: { resultType: 'complete', roots: [] } } : undefined,
  })),
  {
    rule: 'V094',
    does: 'lists tasks before there were any',
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18'],
    answer: ({ id, method }) =>
      method === 'tasks/get'
        ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'unknown task' } }
        : undefined,
  },
  {
    rule: 'V094',
    does: 'hides that it has tasks',
    revisions: ['2025-11-25'],
    message: when('initialize', (message) => {
      const result = message['result'] as Message
      const { tasks: _tasks, ...capabilities } = result['capabilities'] as Message
      return { ...message, result: { ...result, capabilities } }
    }),
  },
  {
    rule: 'V095',
    does: 'says that it is initialized',
    message: beforePing(() => ({ jsonrpc: '2.0', method: 'notifications/initialized' })),
  },
  {
    rule: 'V095',
    does: 'gives an announcement an id',
    message: beforePing(() => ({ jsonrpc: '2.0', id: 77, method: 'notifications/tools/list_changed' })),
  },
  {
    rule: 'V095',
    does: 'acknowledges subscriptions too early',
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'],
    message: beforePing(() => ({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {} },
    })),
  },
  {
    rule: 'V095',
    does: 'announces changes of tools that it did not declare',
    revisions: ['2026-07-28'],
    message: (message, request) => {
      if (request?.['method'] === 'tools/list')
        return [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, message]
      if (request?.['method'] !== 'server/discover' || isError(message)) return message
      const result = message['result'] as Message
      return {
        ...message,
        result: { ...result, capabilities: { ...(result['capabilities'] as Message), tools: {} } },
      }
    },
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'V093',
    does: 'lets clients come back for the response',
    revisions: ['2025-11-25'],
    transports: ['http'],
    http: brokenOff('id: lost\nretry: 100\ndata:\n\n', ': not yet\n\n'),
  },
  {
    rule: 'V093',
    does: 'loses its connections, and sends the response when a stream is resumed',
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25'],
    transports: ['http'],
    http: resuming(),
  },
  {
    rule: 'V094',
    does: 'lists no tasks, though it does not declare them',
    revisions: ['2025-06-18'],
    answer: ({ id, method }) =>
      method === 'tasks/list' ? { jsonrpc: '2.0', id, result: { tasks: [] } } : undefined,
  },
  {
    rule: 'V095',
    does: 'has notifications of its own',
    message: beforePing(() => ({ jsonrpc: '2.0', method: 'notifications/validated/example' })),
  },
]

prove('methods', METHOD_RULES, FAULTS, VARIANTS)
