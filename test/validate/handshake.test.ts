import { HANDSHAKE_RULES } from '../../src/validate/server-rules/handshake.ts'
import { isObject, type Message } from '../../src/validate/message.ts'
import { without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Changes the answer to the greeting of all revisions. */
function inGreeting(change: (result: Message) => Message): NonNullable<Fault['message']> {
  return (message, request) =>
    ['initialize', 'server/discover'].includes(String(request?.['method'])) && isObject(message['result'])
      ? { ...message, result: change(message['result']) }
      : message
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'V001',
    does: 'declares no capabilities',
    message: inGreeting((result) => without(result, 'capabilities')),
  },
  {
    rule: 'V001',
    does: 'answers with another revision',
    message: inGreeting((result) => ({
      ...result,
      protocolVersion: '1999-01-01',
      supportedVersions: ['1999-01-01'],
    })),
  },
  {
    rule: 'V001',
    does: 'refuses everything after the greeting',
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'],
    message: (message, request) =>
      request?.['method'] === 'ping'
        ? { jsonrpc: '2.0', id: message['id'], error: { code: -32_000, message: 'not yet' } }
        : message,
  },
]

prove('the handshake [S1-12-3]', HANDSHAKE_RULES, FAULTS)
