import { isLoopback } from '../../base/loopback.ts'
import { badOption } from '../../base/options.ts'
import type { Service } from '../../rpc/service.ts'
import type { TlsOptions, TlsSource } from '../../transport/tls/options.ts'
import type { ServerTls } from '../../transport/tls/reload.ts'

/** The host names that clients may use for a server. They must be given if other machines can reach it. */
export function servedHosts(
  where: string,
  host: string,
  hosts: readonly string[] | undefined,
): readonly string[] {
  if (hosts !== undefined) return hosts
  if (isLoopback(host)) return ['loopback']
  const reason = `"${host}" can be reached by other machines; name the hosts that clients will use, e.g. hosts: ['mcp.example.com']`
  throw badOption(where, reason)
}

/** Reads the TLS options of a listener. The code for TLS is loaded only if it is used. */
export async function readTls(
  where: string,
  tls: TlsOptions | TlsSource | undefined,
  service: Pick<Service, 'report'>,
): Promise<ServerTls | undefined> {
  if (tls === undefined) return undefined
  const { serverTls } = await import('../../transport/tls/reload.ts')
  return serverTls(tls, { where, report: (message, error) => service.report('error', message, { error }) })
}
