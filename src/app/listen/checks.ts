import { badOption, checkOptions } from '../../base/options.ts'
import type { ServerTls } from '../../transport/tls/server.ts'
import { TLS_OPTIONS, type TlsOptions } from '../../transport/tls/options.ts'

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '::1']

/** Whether only this machine can reach a host to listen on. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** The host names that clients may use for a server. They must be given if other machines can reach it. */
export function servedHosts(
  where: string,
  host: string,
  hosts: readonly string[] | undefined,
): readonly string[] {
  if (hosts !== undefined) return hosts
  if (isLoopback(host)) return LOOPBACK.includes(host) ? ['loopback'] : ['loopback', host]
  const reason = `"${host}" can be reached by other machines; name the hosts that clients will use, e.g. hosts: ['mcp.example.com']`
  throw badOption(where, reason)
}

/** Reads the TLS options of a listener. The code for TLS is loaded only if it is used. */
export async function readTls(where: string, tls: TlsOptions | undefined): Promise<ServerTls | undefined> {
  if (tls === undefined) return undefined
  checkOptions(where, tls, TLS_OPTIONS)
  const { serverTls } = await import('../../transport/tls/server.ts')
  return serverTls(where, tls)
}
