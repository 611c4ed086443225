import { mcpError } from '../../protocol/errors.ts'
import { isRevision } from '../../protocol/revisions.ts'
import { DIALECTS } from '../../protocol/switches.ts'
import { Session } from '../../rpc/session.ts'
import type { HttpHead } from './parts.ts'

/** A session for one request of a client that keeps none: its revision is what the header says. */
export function statelessPeer(head: HttpHead): Session {
  const version = head.header('mcp-protocol-version') ?? '2025-03-26'
  if (!isRevision(version)) throw mcpError('version_header', { version: version.slice(0, 64) })
  const session = new Session(() => undefined)
  session.dialect = DIALECTS[version]
  return session
}
