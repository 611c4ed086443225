import type { Message } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'

/** A request as the client hands it to a transport. */
export interface OutgoingRequest {
  readonly id: number
  readonly method: string
  /** The whole message, sealed for the revision. */
  readonly text: string
  /** Headers that belong to this request; transports without headers do not ask for them. */
  headers(): Readonly<Record<string, string>>
  /** Aborts when nobody waits for the answer any more; the transport then tells the server in its own way. */
  readonly cancel: CancelSignal
  /** Takes what arrives for this request before its answer: notifications and questions. */
  onMessage(message: Message): void
}

/** The end of somebody's patience. */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  /** The same as a signal, made when first asked for: signals are dear. */
  readonly signal: AbortSignal
  /** Sets the one listener. */
  onCancel(listener: CancelListener | undefined): void
}

export interface CancelListener {
  cancelled(): void
}

/** What a transport tells the client besides answers. */
export interface TransportEvents {
  /** Takes what belongs to no request: notifications, and questions on transports that do not say whose they are. */
  onMessage(message: Message): void
  /** The line is of no use any more; requests that waited on it were rejected. Not called after `close`. */
  onDown(reason: Error): void
  /** Notifications may have been missed. */
  onMissed?(): void
  /** Something worth telling that is no failure, such as what a server process writes to stderr. */
  onNote?(kind: 'stderr' | 'stream', text: string): void
}

/** The client side of a transport: one way to one server. */
export interface ClientTransport {
  /** How the transport cancels: by a message of the client, or by itself when the signal aborts. */
  readonly cancels: 'message' | 'itself'
  /** Sends a request and gives back its answer, whatever it says. Rejects when no answer can come any more. */
  request(outgoing: OutgoingRequest): Promise<Message>
  /** Sends a message that has no answer. */
  send(text: string, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Tells the transport what was agreed on, from which its own rules follow. */
  agree(revision: Revision): void
  /** Begins to read what belongs to no request, where the transport keeps a stream of its own for that. */
  listen?(): void
  /**
   * An older transport to the same server, when it refused a handshake as one does that speaks only that, or is known
   * to; undefined when there is none.
   */
  older?(options: OlderTransportOptions): Promise<ClientTransport | undefined>
  /** Leaves in the way the transport has, and frees everything. */
  close(): Promise<void>
}

export interface OlderTransportOptions {
  /** Whether the server is known to speak it. */
  readonly known: boolean
  /** How long the server may take. */
  readonly timeoutMs: number
  /** Aborts when nobody wants the line any more. */
  readonly signal: AbortSignal
}

/** Opens a line; called again whenever a new one is needed. */
export type OpenTransport = (events: TransportEvents) => Promise<ClientTransport>
