import { methodRow } from '../../protocol/methods.ts'
import type { CreateAdapter } from '../adapter.ts'

const PREFIX = 'notifications/'
/** The notifications that are sent without the prefix. */
const BARE: ReadonlySet<string> = new Set([
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/message',
  'notifications/progress',
])

/** Sends notifications without the prefix, and understands all of them without it. */
export const notificationNames: CreateAdapter = (choices) => {
  if (choices.notificationNames !== 'bare') return undefined
  return {
    encodeNotification: ({ method, params }) => ({
      method: BARE.has(method) ? method.slice(PREFIX.length) : method,
      params,
    }),
    decodeNotification: ({ method, params }) => ({
      method: methodRow(PREFIX + method)?.kind === 'notification' ? PREFIX + method : method,
      params,
    }),
  }
}
