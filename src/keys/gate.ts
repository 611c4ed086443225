import type { RequestId } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Auth } from '../rpc/call.ts'

/** Rejects all messages of a client until it has proved its key. */
export interface Gate {
  /** Whether the client has proved its key. */
  readonly isOpen: boolean
  /** Takes a line that arrives while the gate is closed. */
  take(line: string): void
}

/** What a gate needs of its connection. */
export interface GateHost {
  /** The limits of the server. */
  readonly limits: Limits
  /** Sends a message to the client. */
  send(text: string): void
  /** Sends an error to the client. */
  reject(error: unknown, id?: RequestId): void
  /** Whether the caller was revoked. */
  isRevoked(auth: Auth): boolean
  /** The client has proved its key. */
  admit(auth: Auth): void
}
