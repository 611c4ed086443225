import { mcpError } from '../../errors/error.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'

/** Replaces the client transport on runtimes without sockets. */
export function connectTcp(url: URL): OpenTransport {
  throw mcpError(CONNECT_FAILED, {
    target: url.href,
    reason: 'this runtime has no sockets; connect to an http or ws URL',
  })
}
