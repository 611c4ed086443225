import type { ClientLimits } from '../protocol/client-limits.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Answers } from './answers.ts'
import type { ConnectionOptions } from './connection-options.ts'

/** The information that a server gives about itself. */
export interface ServerAbout {
  /** The revision that both sides use. */
  readonly revision: Revision
  /** The `name`, `version` and perhaps `title` of the server; undefined if it does not say. Do not base decisions about trust on it. */
  readonly info: JsonObject | undefined
  /** The declared capabilities, such as `{ tools: { listChanged: true } }`. `client.supports` looks one up. */
  readonly capabilities: JsonObject
  /** How to use the server, for the system prompt of a model; undefined if it does not say. */
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
  /** The limits on texts and on JSON inside of texts. */
  readonly limits: Pick<ClientLimits, 'depth' | 'values' | 'keys' | 'containers' | 'uriLength'>
  /** The largest number of questions within a minute. */
  readonly maxQuestions: number
}
