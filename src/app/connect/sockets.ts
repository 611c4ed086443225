import type { ConnectOptions } from './connect.ts'
import type { ClientLimits } from '../../protocol/client-limits.ts'
import { toMs } from '../../base/duration.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import type { HeaderRecord } from '../../transport/http/client/headers.ts'
import { checkApplicable } from './applicable.ts'

interface Sent {
  /** The headers, with the current credentials. */
  readonly headers: HeaderRecord
  readonly limits: ClientLimits
}

/** Creates the function that opens a connection to a URL, on a transport that keeps it open. */
export async function openSocketTransport(
  url: URL,
  options: ConnectOptions,
  { headers, limits }: Sent,
): Promise<OpenTransport> {
  checkApplicable(url, options)
  const { tls = {}, framing, connections = 1 } = options
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  const openMs = options.timeout === undefined ? Infinity : toMs(options.timeout, 'connect timeout')
  if (url.protocol.startsWith('ws')) {
    const { connectWs } = await import('../../transport/ws/client.ts')
    return connectWs(url, { headers, tls, heartbeatMs, openMs, limits })
  }
  const { connectTcp } = await import('#tcp')
  return connectTcp(url, { tls, framing, connections, heartbeatMs, openMs, limits })
}

function toHeartbeatMs(heartbeat: ConnectOptions['heartbeat'] = '30s'): number {
  return heartbeat === false ? Number.POSITIVE_INFINITY : toMs(heartbeat, 'connect heartbeat')
}
