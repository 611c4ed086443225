import { CLIENT_LIFECYCLE_RULES } from '../../src/validate/client-rules/lifecycle.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import { CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION } from '../../src/validate/session.ts'
import type { ClientFault } from './client-fault.ts'
import { without } from './fault.ts'
import { proveClient } from './prove-client.ts'

/** Leaves out a member of `_meta`. */
function withoutMeta(key: string): (message: Message) => Message {
  return (message) => {
    const [params, meta] = [message['params'], member(message, 'params', '_meta')]
    return isObject(params) && isObject(meta)
      ? { ...message, params: { ...params, _meta: without(meta, key) } }
      : message
  }
}

const FAULTS: readonly ClientFault[] = [
  { rule: 'R030', does: 'lists tools first', quirk: 'asks before initialize' },
  {
    rule: 'R030',
    does: 'does not say who it is',
    message: (message) =>
      message['method'] === 'initialize' && isObject(message['params'])
        ? { ...message, params: without(message['params'], 'clientInfo') }
        : message,
  },
  { rule: 'R034', does: 'accepts any version', quirk: 'accepts any version' },
  { rule: 'R035', does: 'does not say that it is ready', quirk: 'skips initialized' },
  { rule: 'R036', does: 'does not wait for the result of initialize', quirk: 'asks too early' },
  { rule: 'R038', does: 'ignores the capabilities of the server', quirk: 'ignores capabilities' },
  { rule: 'R039', does: 'ignores the capabilities of the server', quirk: 'ignores capabilities' },
  { rule: 'R040', does: 'does not answer ping', quirk: 'ignores ping' },
  {
    rule: 'R040',
    does: 'answers ping with more than nothing',
    message: (message) => ('result' in message ? { ...message, result: { ok: true } } : message),
  },
  { rule: 'R041', does: 'cancels initialize', quirk: 'cancels initialize' },
  { rule: 'R042', does: 'leaves out its version', message: withoutMeta(PROTOCOL_VERSION) },
  { rule: 'R042', does: 'leaves out its capabilities', message: withoutMeta(CLIENT_CAPABILITIES) },
  { rule: 'R043', does: 'does not say who it is', message: withoutMeta(CLIENT_INFO) },
  { rule: 'R047', does: 'gives up at once', quirk: 'gives up on other versions' },
  { rule: 'R047', does: 'repeats a version that was refused', quirk: 'repeats the version' },
]

proveClient('Beginning of a conversation', CLIENT_LIFECYCLE_RULES, FAULTS)
