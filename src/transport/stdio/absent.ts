import { mcpError } from '../../errors/error.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import { programName } from './program-name.ts'

/** Replaces the client transport on runtimes that cannot start programs. */
export function connectStdio(options: { readonly command: string }): OpenTransport {
  const facts = {
    target: programName(options.command),
    reason: 'this runtime cannot start programs; connect to a URL',
  }
  throw mcpError(CONNECT_FAILED, facts, { retryable: false })
}
