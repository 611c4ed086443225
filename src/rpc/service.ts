import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { Call } from './call.ts'
import type { Changes } from './changes.ts'
import type { Result } from './dispatch.ts'
import type { Leases } from './leases.ts'
import type { Load } from './load.ts'
import type { Observers } from './observer.ts'

/** A server as its transports see it. */
export interface Service {
  /** The server's name, version, title, icons and so on, in the newest revision's form. */
  readonly info: JsonObject
  readonly changes: Changes
  /** What is open for authenticated callers, and which of them are revoked. */
  readonly leases: Leases
  /** Running and queued requests, shared by its transports. */
  readonly load: Load
  /** The observers of its requests, and its counters. */
  readonly observers: Observers
  /** The revisions it serves. */
  readonly revisions: readonly Revision[]
  /** Whether it was closed; only clients in this process can still use it. */
  readonly isClosed: boolean
  /** The dialect of each revision. */
  readonly dialects: Dialects
  /** Answers a request; throws or rejects with an `McpError` for the peer. */
  answer(call: Call): Result | Promise<Result>
  /** Handles a notification. Never throws. */
  notice(call: Call): void
  /** Whether callers get the messages of errors that were thrown by mistake; otherwise they get a reference. */
  readonly showsErrors: boolean
  /** Writes to the operator's log. */
  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void
  /**
   * Writes a warning to the operator's log, once for each item and for a limited number of items. A message that takes time to
   * make is a function, which runs only if it is written.
   */
  warnOnce(cause: string, item: string, message: string | (() => string)): void
}
