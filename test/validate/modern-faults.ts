import { isObject, member, type Message } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault, type FaultRequest } from './fault.ts'

/** Shows the server the right name of requests of one method. */
function trusting(method: string, key: string): NonNullable<Fault['request']> {
  return (request: FaultRequest) =>
    request.message?.['method'] === method
      ? {
          ...request,
          headers: {
            ...request.headers,
            'mcp-name': `=?base64?${Buffer.from(String(member(request.message, 'params', key))).toString('base64')}?=`,
          },
        }
      : request
}

/** Changes what is said about a subscription. */
function inMeta(change: (id: unknown) => Message): (message: Message) => Message {
  return (message) => {
    const params = message['params'] as Message
    const meta = params['_meta'] as Message | undefined
    const { 'io.modelcontextprotocol/subscriptionId': id, ...others } = meta ?? {}
    return { ...message, params: { ...params, _meta: { ...others, ...change(id) } } }
  }
}

/** Changes the notifications about changes. */
function inChanges(change: (message: Message) => Message): NonNullable<Fault['message']> {
  return (message) =>
    /list_changed$|resources\/updated$/.test(String(message['method'])) ? change(message) : message
}

const ID = 'io.modelcontextprotocol/subscriptionId'
const INFO = 'io.modelcontextprotocol/serverInfo'
const LEVEL = 'io.modelcontextprotocol/logLevel'

const listensTo = (message: Message, isMeant: (kinds: Message) => boolean): boolean => {
  const kinds = member(message, 'params', 'notifications')
  return message['method'] === 'subscriptions/listen' && isObject(kinds) && isMeant(kinds)
}

/** Servers of 2026-07-28 whose headers are not compared for one method. */
export const NAME_FAULTS: readonly Fault[] = [
  {
    rule: 'R114',
    does: 'does not look at Mcp-Name of resources',
    request: trusting('resources/read', 'uri'),
  },
  { rule: 'R114', does: 'does not look at Mcp-Name of prompts', request: trusting('prompts/get', 'name') },
  { rule: 'R114', does: 'does not look at Mcp-Name of tools', request: trusting('tools/call', 'name') },
]

/** Servers of 2026-07-28 that say different things about their versions. */
export const VERSION_FAULTS: readonly Fault[] = [
  {
    rule: 'V048',
    does: 'does not name this version in the error',
    message: inError(-32_022, (error) => ({
      ...error,
      data: { ...(error['data'] as Message), supported: ['2025-11-25'] },
    })),
  },
  {
    rule: 'V048',
    does: 'names a version that it does not support',
    message: (message, request) => {
      const named = inResult('server/discover', (result) => ({
        ...result,
        supportedVersions: [...(result['supportedVersions'] as readonly string[]), '2027-01-01'],
      }))(message, request) as Message
      return inError(-32_022, (error) => ({
        ...error,
        data: {
          ...(error['data'] as Message),
          supported: [...(member(error, 'data', 'supported') as readonly string[]), '2027-01-01'],
        },
      }))(named)
    },
  },
  {
    rule: 'V048',
    does: 'has numbers as versions',
    message: inResult('server/discover', (result) => ({ ...result, supportedVersions: [20_260_728] })),
  },
  {
    rule: 'V048',
    does: 'names a version twice',
    message: inResult('server/discover', (result) => ({
      ...result,
      supportedVersions: [...(result['supportedVersions'] as readonly string[]), '2026-07-28'],
    })),
  },
]

/** Servers of 2026-07-28 whose subscriptions are wrong once something changes. */
export const CHANGE_FAULTS: readonly Fault[] = [
  {
    rule: 'V228',
    does: 'does not name the subscription of a change',
    message: inChanges(inMeta(() => ({}))),
  },
  {
    rule: 'V228',
    does: 'names another subscription at a change',
    message: inChanges(inMeta(() => ({ [ID]: 'other' }))),
  },
  {
    rule: 'V228',
    does: 'turns the id of the subscription of a change into a text',
    message: inChanges(inMeta((id) => ({ [ID]: String(id) }))),
  },
]

/** Servers of 2026-07-28 that begin a subscription wrong. */
export const LISTEN_FAULTS: readonly Fault[] = [
  {
    rule: 'R228',
    does: 'does not acknowledge a subscription to nothing',
    answer: (message) => (listensTo(message, (kinds) => Object.keys(kinds).length === 0) ? '' : undefined),
    transports: ['stdio', 'ws', 'tcp', 'sse'],
  },
  {
    rule: 'R228',
    does: 'acknowledges without saying what',
    message: (message) =>
      message['method'] === 'notifications/subscriptions/acknowledged'
        ? { ...message, params: without(message['params'] as Message, 'notifications') }
        : message,
  },
]

/** Servers of 2026-07-28 that ignore the level of log messages. */
export const LEVEL_FAULTS: readonly Fault[] = [
  {
    rule: 'V186',
    does: 'sends log messages below the level of the request',
    message: (message, request) =>
      request?.['method'] === 'tools/call' &&
      member(request, 'params', '_meta', LEVEL) === 'emergency' &&
      member(request, 'params', 'name') === 'count'
        ? [
            { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'counted' } },
            message,
          ]
        : message,
  },
  {
    rule: 'V184',
    does: 'accepts every level',
    answer: (message) => {
      const level = member(message, 'params', '_meta', LEVEL)
      return typeof level === 'string' && /validator/.test(level)
        ? { jsonrpc: '2.0', id: message['id'], result: { resultType: 'complete' } }
        : undefined
    },
  },
]

/** Servers of 2026-07-28 with results of another type. */
export const TYPE_FAULTS: readonly Fault[] = [
  {
    rule: 'R017',
    does: 'has results of a type that nobody knows',
    message: inResult('tools/list', (result) => ({ ...result, resultType: 'done' })),
  },
  {
    rule: 'R017',
    does: 'makes calls tasks for a client that knows none',
    message: inResult('prompts/list', (result) => ({ ...result, resultType: 'task' })),
  },
]

/** Servers of 2026-07-28 whose results say too little about themselves. */
export const INFO_FAULTS: readonly Fault[] = [
  {
    rule: 'V090',
    does: 'does not name its version in results',
    revisions: ['2026-07-28'],
    message: (message) => {
      const info = member(message, 'result', '_meta', INFO)
      if (!isObject(info)) return message
      const result = message['result'] as Message
      return {
        ...message,
        result: { ...result, _meta: { ...(result['_meta'] as Message), [INFO]: without(info, 'version') } },
      }
    },
  },
]

/** Servers that are right in another way. */
export const VERSION_VARIANTS: readonly Fault[] = [
  {
    rule: 'V048',
    does: 'names no older versions in the error',
    message: inError(-32_022, (error) => ({
      ...error,
      data: { ...(error['data'] as Message), supported: ['2026-07-28'] },
    })),
  },
]

/** Servers that are right in another way. */
export const LISTEN_VARIANTS: readonly Fault[] = [
  {
    rule: 'R228',
    does: 'refuses a subscription to nothing',
    answer: (message) =>
      listensTo(message, (kinds) => Object.keys(kinds).length === 0)
        ? { jsonrpc: '2.0', id: message['id'], error: { code: -32_602, message: 'nothing to listen for' } }
        : undefined,
  },
]
