import { LIFECYCLE_RULES } from '../../src/validate/server-rules/lifecycle.ts'
import { member } from '../../src/validate/message.ts'
import { inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

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
    rule: 'R039',
    does: 'logs without having declared it',
    message: (message, request) =>
      request?.['method'] === 'initialize'
        ? {
            ...message,
            result: {
              ...(message['result'] as object),
              capabilities: without(member(message, 'result', 'capabilities') as object as never, 'logging'),
            },
          }
        : request?.['method'] === 'ping'
          ? [
              { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } },
              message,
            ]
          : message,
  },
  { rule: 'R040', does: 'says "pong"', message: inResult('ping', () => ({ message: 'pong' })) },
]

prove('Lifecycle', LIFECYCLE_RULES, FAULTS)
