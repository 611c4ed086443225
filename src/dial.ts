import type { ConnectOptions } from './connect.ts'
import type { ClientLimits } from './protocol/client-limits.ts'
import { toMs } from './protocol/duration.ts'
import { mcpError } from './protocol/errors.ts'
import type { OpenLine } from './rpc/line.ts'

type Dial = (url: URL, options: ConnectOptions, limits: ClientLimits) => Promise<OpenLine>

/** How a server is reached with which a client stays connected, by the scheme of its URL. */
const SCHEMES: ReadonlyMap<string, Dial> = new Map([
  ['ws:', dialWs],
  ['wss:', dialWs],
  ['tcp:', dialTcp],
  ['tls:', dialTcp],
  ['unix:', dialTcp],
])

/** What opens a line to a URL. */
export const dial: Dial = (url, options, limits) => (SCHEMES.get(url.protocol) as Dial)(url, options, limits)

async function dialWs(url: URL, options: ConnectOptions, limits: ClientLimits): Promise<OpenLine> {
  const { headers = {}, tls = {} } = options
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  const { connectWs } = await import('./transport/ws/connect.ts')
  return connectWs(url, { headers, tls, heartbeatMs, limits })
}

async function dialTcp(url: URL, options: ConnectOptions, limits: ClientLimits): Promise<OpenLine> {
  const { tls = {}, framing, connections = 1 } = options
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  if (!(Number.isInteger(connections) && connections > 0)) {
    const reason = 'it must be a whole number above 0'
    throw mcpError('bad_option', { where: 'connect connections', reason })
  }
  const { connectTcp } = await import('#tcp')
  return connectTcp(url, { tls, framing, connections, heartbeatMs, limits })
}

function toHeartbeatMs(heartbeat: ConnectOptions['heartbeat'] = '30s'): number {
  return heartbeat === false ? Number.POSITIVE_INFINITY : toMs(heartbeat, 'connect heartbeat')
}
