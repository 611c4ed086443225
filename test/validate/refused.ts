import type { Message } from '../../src/validate/message.ts'
import { without, type Fault } from './fault.ts'

/** Changes the errors of refused requests over HTTP. */
function inRefusal(change: (message: Message) => Message): NonNullable<Fault['http']> {
  return async (_request, next) => {
    const reply = await next()
    if (reply.status < 400 || typeof reply.body !== 'string' || !reply.body.startsWith('{')) return reply
    return { ...reply, body: JSON.stringify(change(JSON.parse(reply.body) as Message)) }
  }
}

/** Leaves members of refusals over HTTP out. */
export function refusedWithout(...keys: readonly string[]): NonNullable<Fault['http']> {
  return inRefusal((message) => without(message, ...keys))
}

/** Adds members to refusals over HTTP. */
export function refusedWith(more: Message): NonNullable<Fault['http']> {
  return inRefusal((message) => ({ ...message, ...more }))
}
