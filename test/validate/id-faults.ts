import { isObject, member, type Message } from '../../src/validate/message.ts'
import type { Fault } from './fault.ts'

/** Changes the ids of responses. */
function withIds(change: (id: unknown) => unknown): NonNullable<Fault['message']> {
  return (message) => ('method' in message ? message : { ...message, id: change(message['id']) })
}

/** Changes the tokens in reports of progress. */
function withTokens(change: (token: unknown) => unknown): NonNullable<Fault['message']> {
  return (message) => {
    const params = message['params']
    return message['method'] === 'notifications/progress' && isObject(params)
      ? { ...message, params: { ...params, progressToken: change(member(params, 'progressToken')) } }
      : message
  }
}

/** Servers that do not return every id as it came. */
export const ID_FAULTS: readonly Fault[] = [
  {
    rule: 'R005',
    does: 'forgets the sign of ids',
    message: withIds((id) => (typeof id === 'number' ? Math.abs(id) : id)),
  },
  {
    rule: 'R005',
    does: 'keeps 32 bits of ids',
    message: withIds((id) => (typeof id === 'number' ? id | 0 : id)),
  },
  {
    rule: 'R005',
    does: 'keeps the ASCII characters of ids',
    message: withIds((id) => (typeof id === 'string' ? id.replaceAll(/[^ -~]/g, '?') : id)),
  },
  {
    rule: 'R005',
    does: 'cuts long ids off',
    message: withIds((id) => (typeof id === 'string' ? id.slice(0, 64) : id)),
  },
  {
    rule: 'R005',
    does: 'writes ids in small letters',
    message: withIds((id) => (typeof id === 'string' ? id.toLowerCase() : id)),
  },
  {
    rule: 'R005',
    does: 'removes spaces around ids',
    message: withIds((id) => (typeof id === 'string' ? id.trim() : id)),
  },
  {
    rule: 'R005',
    does: 'takes an empty id for none',
    answer: ({ id }) => (id === '' ? '' : undefined),
  },
  {
    rule: 'R005',
    does: 'turns ids of errors into texts',
    message: (message: Message) =>
      'error' in message && message['id'] !== null
        ? { ...message, id: JSON.stringify(message['id']) }
        : message,
  },
]

/** Servers that do not return every token of progress as it came. */
export const TOKEN_FAULTS: readonly Fault[] = [
  { rule: 'V190', does: 'turns tokens into texts', message: withTokens(String) },
  {
    rule: 'V190',
    does: 'forgets the sign of tokens',
    message: withTokens((token) => (typeof token === 'number' ? Math.abs(token) : token)),
  },
  {
    rule: 'V190',
    does: 'keeps 32 bits of tokens',
    message: withTokens((token) => (typeof token === 'number' ? token | 0 : token)),
  },
  {
    rule: 'V190',
    does: 'keeps the ASCII characters of tokens',
    message: withTokens((token) => (typeof token === 'string' ? token.replaceAll(/[^ -~]/g, '?') : token)),
  },
]
