import { CLIENT_ROUND_RULES } from '../../src/validate/client-rules/rounds.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import type { ClientFault } from './client-fault.ts'
import { without } from './fault.ts'
import { proveClient } from './prove-client.ts'

const isRepeated = (message: Message): boolean => member(message, 'params', 'inputResponses') !== undefined

/** Changes the parameters of a message. */
function changed(message: Message, change: (params: Message) => Message): Message {
  const { params } = message
  return isObject(params) ? { ...message, params: change(params) } : message
}

const FAULTS: readonly ClientFault[] = [
  {
    rule: 'R223',
    does: 'repeats a request with the same id',
    message: (message) => (isRepeated(message) ? { ...message, id: Number(message['id']) - 1 } : message),
  },
  {
    rule: 'R223',
    does: 'repeats a request without its arguments',
    message: (message) =>
      isRepeated(message) ? changed(message, (params) => without(params, 'arguments')) : message,
  },
  {
    rule: 'R224',
    does: 'loses a character of the state',
    message: (message) =>
      changed(message, (params) =>
        typeof params['requestState'] === 'string'
          ? { ...params, requestState: params['requestState'].replace('\u2028', ' ') }
          : params,
      ),
  },
  {
    rule: 'R224',
    does: 'sends a state of its own',
    message: (message) =>
      isRepeated(message) ? changed(message, (params) => ({ requestState: '', ...params })) : message,
  },
  {
    rule: 'R225',
    does: 'sends a state with other calls',
    message: (message) =>
      member(message, 'params', 'name') === 'fail'
        ? changed(message, (params) => ({ ...params, requestState: 'state of ask_user' }))
        : message,
  },
  {
    rule: 'R225',
    does: 'sends answers with other calls',
    message: (message) =>
      member(message, 'params', 'name') === 'fail'
        ? changed(message, (params) => ({ ...params, inputResponses: { question: { action: 'cancel' } } }))
        : message,
  },
]

proveClient('Rounds of clients', CLIENT_ROUND_RULES, FAULTS)
