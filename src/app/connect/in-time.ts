import type { Client } from '../../client/client.ts'
import { isTarget, type Target } from '../../client/target.ts'
import { createClient, type ConnectOptions } from './connect.ts'

/** Connects within the timeout of one request, however many a server needs, so that it does not keep the others waiting for longer. */
export async function connectInTime(target: Target, options: ConnectOptions): Promise<Client> {
  if (!isTarget(target)) throw (await import('../../client/no-target.ts')).noTarget(target)
  const { timeout = options.profile?.timeouts?.openMs } = options
  const client = createClient(target, options)
  try {
    await client.server(timeout === undefined ? {} : { timeout })
    return client
  } catch (error) {
    client.close().catch(() => undefined)
    throw error
  }
}
