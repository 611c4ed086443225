import type { ClientTls } from '../tls/options.ts'

/** What a client needs of a WebSocket, as every runtime has it. */
export interface ClientSocket {
  readonly readyState: number
  /** Bytes that were taken and have not left. */
  readonly bufferedAmount: number
  onopen: ((event: never) => unknown) | null
  onmessage: ((event: { readonly data: unknown }) => unknown) | null
  /** Some runtimes tell what went wrong. */
  onerror: ((event: { readonly error?: unknown }) => unknown) | null
  onclose: ((event: { readonly code: number; readonly reason: string }) => unknown) | null
  send(text: string): void
  close(code?: number, reason?: string): void
  /** Asks whether the server got everything so far, where the runtime can; its answer brings the payload back. */
  ping?(payload: string): void
  /** Drops the connection at once, where the runtime can. */
  terminate?(): void
}

/** What a server says of the session when it opens a connection. */
export interface SessionAck {
  readonly id: string
  /** How many messages it got of it. */
  readonly count: number
}

export interface DialOptions {
  /** The sub-protocols to offer. */
  readonly protocols: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly tls: ClientTls
  /** The largest message from the server. */
  readonly maxBytes: number
  /** How often a server from which nothing came is asked whether it is there, where the runtime does not do that itself. */
  readonly heartbeatMs: number
  /** The session to go on with, and how many messages were got of it; without an id a new one. Undefined where none is wanted. */
  readonly session?: Partial<SessionAck> & Pick<SessionAck, 'count'>
  /** Takes what the server says of the session, before the connection is open. Not called where the runtime cannot. */
  onSession?(told: SessionAck): void
  /** Takes the payload of an answered ping. */
  onPong?(payload: string): void
}
