import type { RequestSource } from './call.ts'
import type { SentChange } from './changes.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Session } from './session.ts'
import type { FieldChanges, SessionFields } from './session-store.ts'

/* The names of the fields under which all nodes keep the state of a session. */

/** The name of the server. */
export const SERVER = 'server'
/** The caller that the session belongs to. */
export const OWNER = 'owner'
/** The caller or network whose sessions it is counted with. */
export const COUNTED_FOR = 'counted'
/** The position of the last change that its client need not be notified of. */
export const POSITION = 'position'
/** The transport of the session, unless that is Streamable HTTP. */
export const TRANSPORT = 'transport'
/** The node that has the connection of the client. */
export const HOLDER = 'holder'
/** Begins the names of fields with the requests that a node runs; the number of the node follows. */
export const RUNS = 'runs:'
/** The agreed revision. */
export const REVISION = 'revision'
/** The name and version of the client. */
export const CLIENT = 'client'
/** The capabilities of the client. */
export const CAPABILITIES = 'capabilities'
/** Exists once the client is ready. */
export const READY = 'ready'
/** The lowest severity of log messages. */
export const LEVEL = 'level'
/** Begins the names of subscribed URIs. */
export const URI = 'uri:'
/** Begins the names of the values of `ctx.session`. */
export const VALUE = 'value:'

/** A notification to a client. */
export interface Notice {
  readonly method: string
  readonly params: JsonObject
}

/** Knows what the fields of sessions mean, and which changes concern a session. */
export interface SessionContents {
  /** The fields of a session whose handshake is over. */
  fieldsOf(session: Session): Map<string, string>
  /** Gives a session the state in its fields; throws if there is no room for it. `source` is a request of its owner. */
  restore(session: Session, fields: SessionFields, source: RequestSource): void
  /** Changes the state of a session; throws if there is no room for it. `from` is a request of its owner, or the owner, which is empty if the session is anonymous. */
  change(session: Session, changes: FieldChanges, from: RequestSource | string): void
  /** The notification of a change, if it concerns the client of a session. */
  noticeOf(session: Session, change: SentChange): Notice | undefined
  /** The notifications that tell the client of a session that all lists may have changed, or all resources that it watches. */
  allNotices(session: Session, which: 'lists' | 'updates'): readonly Notice[]
  /** Passes a change that was published by a node on to the clients of this one. */
  deliver(change: SentChange, position: number): void
}
