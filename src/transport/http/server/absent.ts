import { mcpError } from '../../../errors/error.ts'
import { NEEDS_NODE } from '../../../errors/server.ts'

/** Replaces the adapter for `node:http` on runtimes without it. */
export function serveNode(): never {
  throw mcpError(NEEDS_NODE, { what: 'app.node()' })
}
