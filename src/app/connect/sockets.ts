import type { ConnectOptions } from './connect.ts'
import type { ClientLimits } from '../../protocol/client-limits.ts'
import { toMs } from '../../base/duration.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import type { AuthOwner } from '../../rpc/logins.ts'
import { readCallerHeaders } from '../../transport/http/client/headers.ts'
import { checkApplicable } from './applicable.ts'

interface Sent {
  readonly owner: AuthOwner
  readonly limits: ClientLimits
  /** How long opening may take; the transport may allow less. */
  readonly openMs: number
}

/** Creates the function that opens a connection to a URL, on a transport that keeps it open. */
export async function openSocketTransport(
  url: URL,
  options: ConnectOptions,
  { owner, limits, openMs }: Sent,
): Promise<OpenTransport> {
  checkApplicable(url, options)
  const { tls = {}, framing, connections = 1 } = options
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  if (url.protocol.startsWith('ws')) {
    const { connectWs } = await import('../../transport/ws/client.ts')
    const headers = readCallerHeaders(options.headers ?? {})
    return connectWs(url, { headers, owner, tls, heartbeatMs, openMs, limits })
  }
  const { connectTcp } = await import('#tcp')
  return connectTcp(url, { tls, framing, connections, heartbeatMs, openMs, limits })
}

function toHeartbeatMs(heartbeat: ConnectOptions['heartbeat'] = '30s'): number {
  return heartbeat === false ? Infinity : toMs(heartbeat, 'connect heartbeat')
}
