import type { ConnectOptions } from './connect.ts'
import type { ClientLimits } from '../../protocol/client-limits.ts'
import { toMs } from '../../base/duration.ts'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'

type Dial = (url: URL, options: ConnectOptions, limits: ClientLimits) => Promise<OpenTransport>

/** The transports that keep a connection open, by URL scheme. */
const SCHEMES: ReadonlyMap<string, Dial> = new Map([
  ['ws:', dialWs],
  ['wss:', dialWs],
  ['tcp:', dialTcp],
  ['tls:', dialTcp],
  ['unix:', dialTcp],
])

/** Creates the function that opens a connection to a URL. */
export const openSocketTransport: Dial = (url, options, limits) =>
  (SCHEMES.get(url.protocol) ?? dialHttp)(url, options, limits)

/** HTTP has none of these options, so this always fails. */
const dialHttp: Dial = async (_url, options) => {
  rejectUnused(options, ['framing', 'connections'], 'tcp')
  const reason =
    'it applies only to tls:// and wss://; for https:// set NODE_EXTRA_CA_CERTS, or pass your own fetch'
  throw mcpError(BAD_OPTION, { where: 'connect tls', reason })
}

async function dialWs(url: URL, options: ConnectOptions, limits: ClientLimits): Promise<OpenTransport> {
  const { headers = {}, tls = {} } = options
  if (url.protocol === 'ws:') rejectUnused(options, ['tls'], 'wss')
  rejectUnused(options, ['framing', 'connections'], 'tcp')
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  const { connectWs } = await import('../../transport/ws/client.ts')
  return connectWs(url, { headers, tls, heartbeatMs, limits })
}

async function dialTcp(url: URL, options: ConnectOptions, limits: ClientLimits): Promise<OpenTransport> {
  const { tls = {}, framing, connections = 1 } = options
  if (url.protocol !== 'tls:') rejectUnused(options, ['tls'], 'tls')
  const heartbeatMs = toHeartbeatMs(options.heartbeat)
  const { connectTcp } = await import('#tcp')
  return connectTcp(url, { tls, framing, connections, heartbeatMs, limits })
}

function toHeartbeatMs(heartbeat: ConnectOptions['heartbeat'] = '30s'): number {
  return heartbeat === false ? Number.POSITIVE_INFINITY : toMs(heartbeat, 'connect heartbeat')
}

/** Rejects options that have no effect for a scheme, since the caller expects one. */
function rejectUnused(
  options: ConnectOptions,
  names: readonly (keyof ConnectOptions)[],
  scheme: string,
): void {
  const given = names.find((name) => options[name] !== undefined)
  if (given === undefined) return
  const reason = `it applies only to ${scheme}:// and similar URLs; remove it, or use such a URL`
  throw mcpError(BAD_OPTION, { where: `connect ${given}`, reason })
}
