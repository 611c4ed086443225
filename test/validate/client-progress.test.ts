import { CLIENT_PROGRESS_RULES } from '../../src/validate/client-rules/progress.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import type { ClientFault } from './client-fault.ts'
import { proveClient } from './prove-client.ts'

function changed(message: Message, method: string, change: (params: Message) => Message): Message {
  const { params } = message
  return message['method'] === method && isObject(params) ? { ...message, params: change(params) } : message
}

const unknown = (message: Message): Message =>
  changed(message, 'notifications/cancelled', (params) => ({ ...params, requestId: 'unknown' }))

const FAULTS: readonly ClientFault[] = [
  {
    rule: 'R067',
    does: 'cancels with another member',
    message: (message) =>
      changed(message, 'notifications/cancelled', (params) => ({ id: params['requestId'] })),
  },
  {
    rule: 'R190',
    does: 'reports progress with a token of its own',
    message: (message) =>
      changed(message, 'notifications/progress', (params) => ({ ...params, progressToken: 'own' })),
  },
  {
    rule: 'R191',
    does: 'reports the same progress twice',
    message: (message) =>
      changed(message, 'notifications/progress', (params) => ({ ...params, progress: 1 })),
  },
  {
    rule: 'R191',
    does: 'reports progress backwards',
    transports: ['stdio', 'ws', 'tcp'],
    message: (message) =>
      changed(message, 'notifications/progress', (params) => ({
        ...params,
        progress: -Number(params['progress']),
      })),
  },
  {
    rule: 'R192',
    does: 'has fractions as tokens',
    message: (message) =>
      member(message, 'params', '_meta', 'progressToken') === undefined
        ? message
        : changed(message, String(message['method']), (params) => ({
            ...params,
            _meta: { ...(params['_meta'] as Message), progressToken: 1.5 },
          })),
  },
  { rule: 'R192', does: 'has one token for two requests', quirk: 'two requests with one token' },
  { rule: 'R193', does: 'cancels a request that it never sent', message: unknown },
  { rule: 'R194', does: 'breaks on an unknown cancellation', breaksOn: 'notifications/cancelled' },
]

proveClient('Progress of clients', CLIENT_PROGRESS_RULES, FAULTS)
