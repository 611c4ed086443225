import { LIFECYCLE_RULES } from '../../src/validate/server-rules/lifecycle.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Changes the capabilities in the result of initialize. */
function declaring(message: Message, change: (capabilities: Message) => Message): Message {
  const capabilities = change(member(message, 'result', 'capabilities') as Message)
  return { ...message, result: { ...(message['result'] as Message), capabilities } }
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'R031',
    does: 'leaves out serverInfo',
    message: inResult('initialize', (result) => without(result, 'serverInfo')),
  },
  {
    rule: 'R032',
    does: 'always answers with its own version',
    message: inResult('initialize', (result) => ({ ...result, protocolVersion: '2024-10-07' })),
  },
  {
    rule: 'R032',
    does: 'offers a version that it does not support',
    message: (message, request) =>
      member(request, 'params', 'protocolVersion') === '2099-01-01'
        ? { ...message, result: { ...(message['result'] as object), protocolVersion: '1.0' } }
        : message,
  },
  {
    rule: 'R033',
    does: 'offers an old version',
    message: (message, request) =>
      member(request, 'params', 'protocolVersion') === '2099-01-01'
        ? { ...message, result: { ...(message['result'] as object), protocolVersion: '2024-11-05' } }
        : message,
  },
  {
    rule: 'R037',
    does: 'announces a change with the result of initialize',
    message: (message, request) =>
      request?.['method'] === 'initialize'
        ? [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, message]
        : message,
  },
  {
    rule: 'R038',
    does: 'sends content of a later revision',
    message: inResult('prompts/get', (result) => ({
      ...result,
      messages: [{ role: 'user', content: { type: 'resource_link', uri: 'test://text', name: 'text' } }],
    })),
  },
  ...['R038', 'R039'].flatMap((rule): readonly Fault[] => [
    {
      rule,
      does: 'logs without having declared it',
      message: (message, request) =>
        request?.['method'] === 'initialize'
          ? declaring(message, (capabilities) => without(capabilities, 'logging'))
          : request?.['method'] === 'ping'
            ? [
                { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } },
                message,
              ]
            : message,
    },
    {
      rule,
      does: 'announces changes without having declared it',
      message: (message, request) =>
        request?.['method'] === 'initialize'
          ? declaring(message, (capabilities) => ({ ...capabilities, tools: {} }))
          : request?.['method'] === 'ping'
            ? [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, message]
            : message,
    },
    {
      rule,
      does: 'asks for folders that the client does not have',
      message: (message, request) =>
        member(request, 'params', 'name') === 'folders' &&
        (member(message, 'result', 'isError') === true || 'error' in message)
          ? [{ jsonrpc: '2.0', id: 'folders', method: 'roots/list' }, message]
          : message,
    },
  ]),
  { rule: 'R040', does: 'says "pong"', message: inResult('ping', () => ({ message: 'pong' })) },
]

prove('Lifecycle', LIFECYCLE_RULES, FAULTS)
