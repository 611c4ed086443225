import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { ClientAuth } from '../rpc/client-auth.ts'
import type { ClientTransport, OpenTransport } from '../rpc/client-transport.ts'
import type { Clock } from '../rpc/clock.ts'
import type { Logins } from '../rpc/logins.ts'
import type { BackoffTimes } from '../base/backoff.ts'
import type { Emitter } from './events.ts'
import type { Agreement } from './negotiate.ts'
import type { Progress } from './options.ts'
import type { Answer } from './questions.ts'
import type { RecoverySettings } from './recovery-options.ts'
import type { ParamHeaders } from './known-tools.ts'

export interface ConnectionOptions {
  readonly open: OpenTransport
  /** Identifies the server, to remember which revision it knows. */
  readonly key: string | undefined
  readonly client: JsonObject
  /** The capability that declares extensions, if there are any. */
  readonly extensions?: JsonObject | undefined
  readonly revision: Revision | undefined
  /** The dialects of a profile, which always begin with a handshake. */
  readonly dialects?: Dialects | undefined
  /** The timeout of the handshake, if it differs from `idleMs`. */
  readonly openMs?: number | undefined
  readonly idleMs: number
  readonly totalMs: number
  readonly probeMs: number
  /** The highest request id. */
  readonly maxId: number
  /** The length of the longest id that a request of the server may have. */
  readonly idLength: number
  /** How long to wait between failed attempts. */
  readonly backoff: BackoffTimes
  /** How to retry requests after temporary errors; undefined turns retries off. */
  readonly recovery?: RecoverySettings | undefined
  /** Undefined without credentials. */
  readonly logins?: Logins | undefined
  readonly events: Emitter
}

export interface RequestOptions {
  readonly idleMs?: number | undefined
  readonly totalMs?: number | undefined
  /** Measures the time of `totalMs`, if the request is a part of something longer. */
  readonly clock?: Clock | undefined
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Replaces the credentials of the connection. */
  readonly auth?: ClientAuth | undefined
  /** Creates the headers for arguments that are sent as headers too. */
  readonly paramHeaders?: ParamHeaders | undefined
  /** Whether the request may be sent again if the connection fails before the answer arrives. */
  readonly repeatable?: boolean | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Called with the id of a task that the request became. */
  readonly onTask?: ((id: string) => void) | undefined
  /** The latest progress, which that of a task continues. */
  readonly reported?: { last?: Progress } | undefined
  /** Whether to send the request even if the server did not declare the capability it needs. */
  readonly undeclared?: boolean | undefined
  /** Whether the client sends the request by itself: then its answer does not shorten the delay before the next connection. */
  readonly isOwn?: boolean | undefined
  /** Called before each round after the first. */
  readonly onRound?: (() => void) | undefined
  /** Params that ask for a task, where the caller does. With them, a result that is a task is returned as it is. */
  readonly asTask?: JsonObject | undefined
  /** Called with the id of each attempt. */
  readonly onId?: ((id: number) => void) | undefined
}

/** An open connection and its agreement. */
export interface Live {
  readonly transport: ClientTransport
  readonly agreement: Agreement
  /** The number of requests that wait for an answer. */
  pending: number
  /** Whether new requests have another login. */
  isFormer?: boolean
  /** Cancellations to be sent, and how many are being sent. */
  readonly cancelled: JsonObject[]
  cancelling: number
}

/** The client that uses a connection. */
export interface ConnectionOwner {
  /** Receives the notifications that the connection does not handle itself. */
  onNotification(method: string, params: JsonObject): void
  /** Called when notifications may have been missed. */
  onMissed(): void
  /** Called when other credentials are used, perhaps those of somebody else. */
  onNewCredentials(): void
  readonly answer: Answer
}
