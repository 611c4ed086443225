import type { ErrorExtras } from '../../errors/error.ts'
import type { openAuthorized } from './authorized.ts'
import type { Inbox } from '../io/inbox.ts'
import type { ClientSession } from './client-session.ts'
import type { ClientTls } from '../tls/options.ts'

/** The parts of a WebSocket that a client needs and every runtime has. */
export interface ClientSocket {
  readonly readyState: number
  /** Bytes accepted but not yet sent. */
  readonly bufferedAmount: number
  onopen: ((event: never) => unknown) | null
  onmessage: ((event: { readonly data: unknown }) => unknown) | null
  /** Some runtimes say what went wrong. */
  onerror: ((event: { readonly error?: unknown }) => unknown) | null
  onclose: ((event: { readonly code: number; readonly reason: string }) => unknown) | null
  send(text: string): void
  /** Sends a text, if the runtime can say when it is written; resolves then, or when the connection is closed. */
  deliver?: (text: string) => Promise<void>
  close(code?: number, reason?: string): void
  /** Sends a ping, if the runtime can; the pong returns the payload. */
  ping?(payload: string): void
  /** Aborts the connection, if the runtime can. */
  terminate?(): void
  /** Pauses reading, if the runtime can. */
  pause?(): void
  resume?(): void
  /** Called for each ping and pong, if the runtime shows them. */
  onControl?: () => void
}

/** A server's description of the session when a connection opens. */
export interface SessionAck {
  readonly id: string
  /** How many messages of the session it received. */
  readonly count: number
}

export interface DialOptions {
  /** The subprotocols to offer. */
  readonly protocols: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly tls: ClientTls
  /** The largest message to accept from the server. */
  readonly maxBytes: number
  /** How long the server may be silent before it gets a ping, unless the runtime sends pings by itself. */
  readonly heartbeatMs: number
  /** The session to resume and how many of its messages were received; a new one without an id. Undefined for none. */
  readonly session?: Partial<SessionAck> & Pick<SessionAck, 'count'>
  /** Called with the session before the connection opens; never called if the runtime hides the headers. */
  onSession?(ack: SessionAck): void
  /** Called with the payload of a pong. */
  onPong?(payload: string): void
}

/** What opens WebSockets on a runtime. */
export interface SocketLibrary {
  dial(url: URL, options: DialOptions): ClientSocket
  /** The facts about a failed connection that callers react to. Undefined if the runtime hides them. */
  readonly extrasOf?: (cause: unknown) => ErrorExtras
  /** Opens connections with credentials. Undefined if the runtime cannot send headers. */
  readonly openAuthorized?: typeof openAuthorized
  /** A session that survives its connection. Undefined if the runtime hides the headers about sessions. */
  readonly Session?: typeof ClientSession
  /** What gives others their turns. Undefined if the runtime does so itself. */
  readonly Inbox?: typeof Inbox
  /** The remedy for a failed connection. */
  remedyOf(cause: unknown, url: URL): string | undefined
}
