import type { NewSession, SessionFields, SessionRoom } from '../rpc/session-store.ts'
import { LONG_MS } from './store-contract.ts'

/** Room for every session of a check. */
export const ROOMY: SessionRoom = { sessions: 100_000, freshMs: 0 }

/** Short enough for a check to wait for its end; another use prolongs by `LONGER_MS`, which every store notes at once. */
const IDLE_MS = 60_000
/** The time of a use that is not meant to end a session. */
export const LONGER_MS: number = LONG_MS

let made = 0

/** A session with an id of its own. */
export function newSession(members: Partial<NewSession> = {}): NewSession {
  const id = `session-${++made}-${crypto.randomUUID()}`
  return { id, countedFor: 'ada', fields: new Map([['level', 'info']]), idleMs: IDLE_MS, ...members }
}

/** Fields in an order, for comparing. */
export function sorted(fields: SessionFields): readonly (readonly [string, string])[] {
  return [...fields].toSorted(([one], [two]) => (one < two ? -1 : 1))
}
