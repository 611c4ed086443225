import { mcpError } from '../../errors/error.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'

/** Stands in where programs cannot be started. */
export function connectStdio(options: { readonly command: string }): OpenTransport {
  throw mcpError('connect_failed', {
    target: options.command,
    reason: 'this runtime cannot start programs; connect to a URL',
  })
}
