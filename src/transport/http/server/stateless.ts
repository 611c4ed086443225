import type { Dialects } from '../../../protocol/switches.ts'
import { Session } from '../../../rpc/session.ts'
import { readVersion } from './negotiate.ts'
import type { HttpHead } from './parts.ts'

/** A session for one request of a client without sessions; the header names its revision. */
export function statelessPeer(head: HttpHead, dialects: Dialects): Session {
  const session = new Session(dialects)
  session.dialect = dialects[readVersion(head) ?? '2025-03-26']
  return session
}
