import { mcpError } from '../../errors/error.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'

/** Stands in where there are no sockets. */
export function connectTcp(url: URL): OpenTransport {
  throw mcpError('connect_failed', {
    target: url.href,
    reason: 'this runtime has no sockets; connect to an http or ws URL',
  })
}
