import type { ConnectOptions } from './connect.ts'
import type { ClientLimits } from '../../protocol/client-limits.ts'
import { toMs } from '../../base/duration.ts'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'

type Dial = (url: URL, options: ConnectOptions, limits: ClientLimits) => Promise<OpenTransport>

/** How a server is reached with which a client stays connected, by the scheme of its URL. */
const SCHEMES: ReadonlyMap<string, Dial> = new Map([
  ['ws:', dialWs],
  ['wss:', dialWs],
  ['tcp:', dialTcp],
  ['tls:', dialTcp],
  ['unix:', dialTcp],
])

/** What opens a connection to a URL. */
export const openSocketTransport: Dial = (url, options, limits) =>
  (SCHEMES.get(url.protocol) ?? dialHttp)(url, options, limits)

/** HTTP needs nothing of this; whoever gave such options is told. */
const dialHttp: Dial = async (_url, options) => {
  refuse(options, ['framing', 'connections'], 'tcp')
  const reason =
    'it holds only for tls:// and wss://; for https:// set NODE_EXTRA_CA_CERTS, or give a fetch of your own'
  throw mcpError(BAD_OPTION, { where: 'connect tls', reason })
}

async function dialWs(url: URL, options: ConnectOptions, limits: ClientLimits): Promise<OpenTransport> {
  const { headers = {}, tls = {} } = options
  if (url.protocol === 'ws:') refuse(options, ['tls'], 'wss')
  refuse(options, ['framing', 'connections'], 'tcp')
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  const { connectWs } = await import('../../transport/ws/client.ts')
  return connectWs(url, { headers, tls, heartbeatMs, limits })
}

async function dialTcp(url: URL, options: ConnectOptions, limits: ClientLimits): Promise<OpenTransport> {
  const { tls = {}, framing, connections = 1 } = options
  if (url.protocol !== 'tls:') refuse(options, ['tls'], 'tls')
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  const { connectTcp } = await import('#tcp')
  return connectTcp(url, { tls, framing, connections, heartbeatMs, limits })
}

function toHeartbeatMs(heartbeat: ConnectOptions['heartbeat'] = '30s'): number {
  return heartbeat === false ? Number.POSITIVE_INFINITY : toMs(heartbeat, 'connect heartbeat')
}

/** Refuses options that mean nothing for a scheme, and that whoever gave them believes in. */
function refuse(options: ConnectOptions, names: readonly (keyof ConnectOptions)[], scheme: string): void {
  const given = names.find((name) => options[name] !== undefined)
  if (given === undefined) return
  const reason = `it holds only for ${scheme}:// and the like; leave it out, or connect there`
  throw mcpError(BAD_OPTION, { where: `connect ${given}`, reason })
}
