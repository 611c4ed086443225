import { methodRow } from '../../protocol/methods.ts'
import type { CreateAdapter } from '../adapter.ts'

const PREFIX = 'notifications/'
/** What is sent without the prefix. */
const BARE: ReadonlySet<string> = new Set([
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/message',
  'notifications/progress',
])

/** Sends notifications by their bare names, and understands all of them so. */
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
