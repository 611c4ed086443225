import { mcpError } from '../../protocol/errors.ts'
import type { OpenLine } from '../../rpc/line.ts'

/** Stands in where there are no sockets. */
export function connectTcp(url: URL): OpenLine {
  throw mcpError('connect_failed', {
    target: url.href,
    reason: 'this runtime has no sockets; connect to an http or ws URL',
  })
}
