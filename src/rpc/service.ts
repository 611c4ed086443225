import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { Call } from './call.ts'
import type { Changes } from './changes.ts'
import type { Result } from './dispatch.ts'
import type { Load } from './load.ts'
import type { Observers } from './observer.ts'

/** What a server shows to its transports. */
export interface Service {
  /** The server's own name, version and decoration, in the newest form. */
  readonly info: JsonObject
  readonly changes: Changes
  /** What it has to do, shared by its transports. */
  readonly load: Load
  /** Who sees its requests, and its counters. */
  readonly observers: Observers
  /** The revisions that are served. */
  readonly revisions: readonly Revision[]
  /** How each revision is spoken. */
  readonly dialects: Dialects
  /** Answers a request; throws, or rejects with, an McpError for the peer. */
  answer(call: Call): Result | Promise<Result>
  /** Takes note of a notification. Never throws. */
  notice(call: Call): void
  /** Writes to the operator's log. */
  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void
}
