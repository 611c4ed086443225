import type { Message } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { ClientAuth } from './client-auth.ts'
import type { Clock } from './clock.ts'

/** A request as the client hands it to a transport. */
export interface OutgoingRequest {
  readonly id: number
  readonly method: string
  /** The whole message, encoded for the revision. */
  readonly text: string
  /** Headers that belong to this request; transports without headers never call this. */
  headers(): Readonly<Record<string, string>>
  /** Replaces the credentials of the connection for this request, over HTTP. */
  readonly auth?: ClientAuth | undefined
  /** Whether the connection was opened for this request, and so belongs to the same login even if the token is another by now. */
  readonly opens?: boolean | undefined
  /** Aborts when the caller stops waiting; the transport then cancels the request in its own way. */
  readonly cancel: CancelSignal
  /** Receives messages that arrive for this request before its response: notifications and server requests. */
  onMessage(message: Message): void
}

/** Says when a request is cancelled, and why. */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  /** The same as an `AbortSignal`, created on first use because signals are expensive. */
  readonly signal: AbortSignal
  /** Measures how long the request takes; it stands still while a person logs in. */
  readonly clock?: Clock
  /** Sets the one listener. */
  onCancel(listener: CancelListener | undefined): void
}

export interface CancelListener {
  cancelled(): void
}

/** Events that a transport reports to the client besides responses. */
export interface TransportEvents {
  /** Aborts when the transport is no longer wanted while it opens. */
  readonly signal?: AbortSignal
  /** Measures how long opening takes; it stands still while a person logs in. */
  readonly clock?: Clock
  /**
   * Receives messages that do not belong to a request: notifications, and server requests on transports that cannot
   * attribute them.
   */
  onMessage(message: Message): void
  /** The transport has failed, and its pending requests were rejected. Not called after `close`. */
  onDown(reason: Error): void
  /** Notifications may have been missed. */
  onMissed?(): void
  /** Other credentials are used from now on, perhaps those of somebody else, or none because the user logged out. */
  onNewCredentials?(reason: Error, loggedOut?: boolean): void
  /** A stream could not be opened again because it belongs to another login. The connection should be replaced. */
  onOtherLogin?(reason: Error): void
  /** Something worth reporting that is not a failure, such as the stderr output of a server process. */
  onNote?(kind: 'stderr' | 'stream', text: string): void
}

/** The client side of a transport, connected to one server. */
export interface ClientTransport {
  /** How requests are cancelled: by a message from the client, or by the transport itself when the signal aborts. */
  readonly cancels: 'message' | 'itself'
  /** Rejects with `OtherLogin` if a request would not have the login of the connection. Missing on transports that find out as they send. */
  readonly confirm?: ((method: string, signal: AbortSignal) => Promise<void>) | undefined
  /** Sends a request and resolves with its response, even an error response. Rejects when none can arrive. */
  request(outgoing: OutgoingRequest): Promise<Message>
  /** Sends a message that expects no response. Over HTTP, the server has a minute to accept it, or as long as `timeoutMs`. */
  send(text: string, timeoutMs?: number): Promise<void>
  /** Sets the negotiated revision, which decides the transport's own rules. */
  agree(revision: Revision): void
  /**
   * Starts reading messages that do not belong to a request, if the transport uses a separate stream for them. Resolves
   * when the stream is open, or when the server has none.
   */
  listen?(): Promise<void>
  /**
   * Opens an older transport to the same server, if the server is known to support it or rejected the handshake as such
   * a server would; undefined otherwise.
   */
  older?(options: OlderTransportOptions): Promise<ClientTransport | undefined>
  /**
   * Notes scopes that the credentials of the connection lack, so that the next connection opens with others. Missing on transports that do so
   * for each request, or that cannot.
   */
  readonly stepUp?: ((scopes: readonly string[]) => void) | undefined
  /** Closes the connection as the transport requires and frees all resources. */
  close(): Promise<void>
}

export interface OlderTransportOptions {
  /** Whether the server is known to support it. */
  readonly known: boolean
  /** How long to wait for the server. */
  readonly timeoutMs: number
  /** Aborts when the transport is no longer wanted. */
  readonly signal: AbortSignal
}

/** Opens a transport; called again whenever a new one is needed. */
export type OpenTransport = (events: TransportEvents) => Promise<ClientTransport>
