import { CLIENT_JSON_RPC_RULES } from '../../src/validate/client-rules/json-rpc.ts'
import { A_TO_D } from '../../src/validate/rule.ts'
import type { Message } from '../../src/validate/message.ts'
import type { ClientFault } from './client-fault.ts'
import { proveClient } from './prove-client.ts'
import { without } from './fault.ts'

const isRequest = (message: Message): boolean => 'method' in message && 'id' in message
const isResponse = (message: Message): boolean => !('method' in message)

const FAULTS: readonly ClientFault[] = [
  { rule: 'R001', does: 'says "1.0"', message: (message) => ({ ...message, jsonrpc: '1.0' }) },
  {
    rule: 'R002',
    does: 'has fractions as ids',
    message: (message) => (isRequest(message) ? { ...message, id: Number(message['id']) + 0.5 } : message),
  },
  {
    rule: 'R003',
    does: 'uses an id twice',
    quirk: 'two requests with one id',
  },
  {
    rule: 'R004',
    does: 'uses an id twice at the same time',
    quirk: 'two requests with one id',
  },
  {
    rule: 'R005',
    does: 'returns ids as texts',
    message: (message) => (isResponse(message) ? { ...message, id: String(message['id']) } : message),
  },
  {
    rule: 'R006',
    does: 'adds an error to results',
    message: (message) => ('result' in message ? { ...message, error: { code: 1, message: 'x' } } : message),
  },
  {
    rule: 'R006',
    does: 'leaves out the result',
    message: (message) => ('result' in message ? without(message, 'result') : message),
  },
  {
    rule: 'R007',
    does: 'has texts as codes',
    message: (message) =>
      'error' in message ? { ...message, error: { code: '-32601', message: 'no' } } : message,
  },
  {
    rule: 'R008',
    does: 'has ids in notifications',
    revisions: A_TO_D,
    message: (message) => ('method' in message && !('id' in message) ? { ...message, id: 99 } : message),
  },
  { rule: 'R008', does: 'answers notifications', quirk: 'answers notifications' },
  { rule: 'R013', does: 'ignores batches', quirk: 'ignores batches' },
  { rule: 'R014', does: 'sends initialize in a batch', quirk: 'opens with a batch' },
  { rule: 'R016', does: 'sends batches', message: (message) => JSON.stringify([message]) },
  { rule: 'R018', does: 'takes results of any type', quirk: 'takes results of any type' },
  { rule: 'R019', does: 'answers requests', quirk: 'answers at any revision' },
]

proveClient('JSON-RPC of clients', CLIENT_JSON_RPC_RULES, FAULTS)
