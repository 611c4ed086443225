import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Answers } from './answers.ts'
import type { ConnectionOptions } from './connection-options.ts'

/** The information that a server gives about itself. */
export interface ServerAbout {
  readonly revision: Revision
  readonly info: JsonObject | undefined
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

export interface ClientSettings extends Omit<ConnectionOptions, 'events'> {
  readonly answers: Answers
  /** Whether the transport sends arguments as headers too. Tools that ask for invalid headers cannot be called then. */
  readonly paramHeaders: boolean
  /** Whether arguments are checked before they are sent. */
  readonly checks: boolean
  /** The largest number of pages of a list. */
  readonly maxPages: number
}
