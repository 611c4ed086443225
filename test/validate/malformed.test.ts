import { isObject, member, type Message } from '../../src/validate/message.ts'
import { MALFORMED_RULES } from '../../src/validate/server-rules/malformed.ts'
import type { Fault } from './fault.ts'
import { prove } from './prove.ts'

const isRequest = (message: Message): boolean => typeof message['method'] === 'string' && 'id' in message

/** Serves some requests that a server should refuse. */
function serving(isMeant: (message: Message) => boolean, result: Message = {}): NonNullable<Fault['answer']> {
  return (message) =>
    isRequest(message) && isMeant(message)
      ? { jsonrpc: '2.0', id: message['id'], result: { resultType: 'complete', ...result } }
      : undefined
}

const isCall = ({ method }: Message, wanted: string): boolean => method === wanted
const param = (message: Message, ...path: readonly string[]): unknown => member(message, 'params', ...path)

const FAULTS: readonly Fault[] = [
  { rule: 'V017', does: 'does not look at "jsonrpc"', answer: serving(({ jsonrpc }) => jsonrpc !== '2.0') },
  { rule: 'V017', does: 'accepts null as an id', answer: serving(({ id }) => id === null) },
  { rule: 'V017', does: 'accepts booleans as ids', answer: serving(({ id }) => typeof id === 'boolean') },
  { rule: 'V017', does: 'accepts objects as ids', answer: serving(({ id }) => isObject(id)) },
  { rule: 'V017', does: 'accepts lists as params', answer: serving(({ params }) => Array.isArray(params)) },
  {
    rule: 'V018',
    does: 'calls a tool without a name',
    answer: serving((one) => isCall(one, 'tools/call') && param(one, 'name') === undefined, { content: [] }),
  },
  {
    rule: 'V018',
    does: 'fails at a read without a uri',
    message: (message, request) =>
      request?.['method'] === 'resources/read' && param(request, 'uri') === undefined
        ? { jsonrpc: '2.0', id: message['id'], error: { code: -32_603, message: 'no uri' } }
        : message,
  },
  {
    rule: 'V018',
    does: 'takes numbers for texts in prompts',
    answer: serving((one) => isCall(one, 'prompts/get') && param(one, 'arguments', 'topic') === 17, {
      messages: [],
    }),
  },
  {
    rule: 'V018',
    does: 'completes for a ref of any type',
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    answer: serving(
      (one) => isCall(one, 'completion/complete') && /validator/.test(String(param(one, 'ref', 'type'))),
      { completion: { values: [] } },
    ),
  },
  {
    rule: 'V018',
    does: 'completes without an argument',
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    answer: serving((one) => isCall(one, 'completion/complete') && param(one, 'argument') === undefined, {
      completion: { values: [] },
    }),
  },
  {
    rule: 'V019',
    does: 'takes a list for arguments',
    answer: serving((one) => isCall(one, 'tools/call') && Array.isArray(param(one, 'arguments')), {
      content: [],
    }),
  },
  {
    rule: 'V019',
    does: 'takes a text for arguments',
    answer: serving((one) => isCall(one, 'tools/call') && typeof param(one, 'arguments') === 'string', {
      content: [],
    }),
  },
  {
    rule: 'V181',
    does: 'completes for every prompt',
    answer: serving(
      (one) => isCall(one, 'completion/complete') && param(one, 'ref', 'name') === 'validator-unknown',
      { completion: { values: [] } },
    ),
  },
]

prove('Requests that are not as they should be', MALFORMED_RULES, FAULTS)
