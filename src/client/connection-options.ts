import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { OpenTransport } from '../rpc/client-transport.ts'
import type { BackoffTimes } from '../base/backoff.ts'
import type { Emitter } from './events.ts'
import type { Progress } from './options.ts'
import type { Answer } from './questions.ts'
import type { RecoveryPace } from './recovery-options.ts'
import type { ParamHeaders } from './known-tools.ts'

export interface ConnectionOptions {
  readonly open: OpenTransport
  /** Names the server where its revision is remembered. */
  readonly key: string | undefined
  readonly client: JsonObject
  /** The capability that declares extensions, where there are any. */
  readonly extensions?: JsonObject | undefined
  readonly revision: Revision | undefined
  /** How a profile speaks each revision; it begins with a handshake. */
  readonly dialects?: Dialects | undefined
  /** Silence that ends the handshake, where it is not that of any request. */
  readonly openMs?: number | undefined
  readonly idleMs: number
  readonly totalMs: number
  readonly probeMs: number
  /** The highest id of a request. */
  readonly maxId: number
  /** How long to wait between attempts that fail. */
  readonly pace: BackoffTimes
  /** How requests are sent again that were refused for now; undefined gives every refusal back. */
  readonly recovery?: RecoveryPace | undefined
  /** Gets new credentials, which are used from then on. */
  readonly reauthenticate?: (() => Promise<void>) | undefined
  readonly events: Emitter
}

export interface RequestOptions {
  readonly idleMs?: number | undefined
  readonly totalMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Arguments that travel in headers too. */
  readonly mirror?: ParamHeaders | undefined
  /** Whether the request may be sent again when its answer was lost. */
  readonly repeatable?: boolean | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Whether to send what needs a capability that the server did not declare. */
  readonly undeclared?: boolean | undefined
  /** Called before each round after the first. */
  readonly onRound?: (() => void) | undefined
  /** Told the id of each attempt. */
  readonly onId?: ((id: number) => void) | undefined
}

/** What stands behind a link. */
export interface ConnectionOwner {
  /** Takes notifications that change nothing here. */
  told(method: string, params: JsonObject): void
  /** Notifications may have been missed. */
  missed(): void
  /** Answers a question of the server. */
  readonly answer: Answer
}
