import { VENDOR } from '../../protocol/meta.ts'
import type { CreateAdapter } from '../adapter.ts'

/** The methods of extensions by their name without our prefix. */
const BARE: ReadonlySet<string> = new Set([
  'tools/stream',
  'health/status',
  'subscriptions/list',
  'subscriptions/remove',
  'apps/register',
  'apps/list',
  'apps/get',
  'apps/start',
  'apps/stop',
  'apps/unregister',
])

/** Understands the methods of extensions without our prefix. */
export const extensionNames: CreateAdapter = (choices) => {
  if (choices.extensionNames !== 'bare') return undefined
  return {
    decodeRequest: ({ method, params }) => ({
      method: BARE.has(method) ? `${VENDOR}/${method}` : method,
      params,
    }),
  }
}
