import { mcpError } from '../../errors/error.ts'
import { NEEDS_NODE } from '../../errors/server.ts'

/** Replaces `listen` on runtimes that cannot open ports. */
export function listen(): never {
  throw mcpError(NEEDS_NODE, { what: 'listen()' })
}
