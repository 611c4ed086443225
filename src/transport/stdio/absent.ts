import { mcpError } from '../../protocol/errors.ts'
import type { OpenLine } from '../../rpc/line.ts'

/** Stands in where programs cannot be started. */
export function connectStdio(options: { readonly command: string }): OpenLine {
  throw mcpError('connect_failed', {
    target: options.command,
    reason: 'this runtime cannot start programs; connect to a URL',
  })
}
