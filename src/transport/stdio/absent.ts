import { mcpError } from '../../errors/error.ts'
import type { OpenLine } from '../../rpc/client-transport.ts'

/** Stands in where programs cannot be started. */
export function connectStdio(options: { readonly command: string }): OpenLine {
  throw mcpError('connect_failed', {
    target: options.command,
    reason: 'this runtime cannot start programs; connect to a URL',
  })
}
