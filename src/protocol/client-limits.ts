/** A limit: its usual value and its strict value. `Infinity` turns one off. */
export interface LimitRow {
  readonly usual: number
  readonly strict: number
  /** The minimum, if 0 is allowed. */
  readonly least?: 0
}

/** The limits that clients have. */
export const CLIENT_LIMITS = {
  /** Bytes of one message, line, event or body from a server. */
  clientBytes: { usual: 16_777_216, strict: 4_194_304 },
  /** Bytes of all replies over HTTP that a client has begun to read and a server has not finished; a single one may have `clientBytes`. */
  clientUnparsedBytes: { usual: 268_435_456, strict: 67_108_864 },
  /** Lines or messages in a row from a server that are not valid, before a client closes the connection. Over HTTP they do not count. */
  clientInvalid: { usual: 10_000, strict: 1_000 },
  /** The highest request id, after which a client opens a new connection. */
  clientIds: { usual: 9_007_199_254_740_991, strict: 9_007_199_254_740_991 },
  /** Questions of a server within a minute: elicitation, sampling and roots. `ping` does not count. */
  clientQuestions: { usual: 1000, strict: 100 },
  /** Nesting levels in a message. */
  depth: { usual: 128, strict: 64 },
  /** Values in a message, every array item and every object member included. */
  values: { usual: 1_000_000, strict: 100_000 },
  /** Members of all objects in one message. One whose name is a whole number of at most 10 digits counts as 10, one whose name has more than 16,383 characters as 1,000, one after the first 10,000 of its object as 4, and one of the first 128 of its object as 4 if the message has had 10,000 other names and not this one. */
  keys: { usual: 500_000, strict: 50_000 },
  /** Objects and lists in one message. */
  containers: { usual: 500_000, strict: 50_000 },
  /** Characters of the id of a request. At most 16 unanswered requests of one client of a server may have ids of more than 1,024. */
  idLength: { usual: 65_536, strict: 1_024 },
  /** Characters of a URI, or of the name of a tool or prompt. Listed items with longer ones are left out, and there is a warning. */
  uriLength: { usual: 8_192, strict: 2_048 },
  /** Messages in one batch. */
  batch: { usual: 100, strict: 20 },
  /** Pages of one list. */
  pages: { usual: 1000, strict: 100 },
  /** Milliseconds before a client's first attempt to reconnect. */
  reconnectFirstMs: { usual: 1000, strict: 1000 },
  /** Milliseconds that this delay may grow to while attempts fail. */
  reconnectMaxMs: { usual: 30_000, strict: 30_000 },
  /** Minimum milliseconds between two attempts, whatever a server asks for. */
  reconnectFloorMs: { usual: 100, strict: 1000 },
  /** Milliseconds that a session outlives a broken WebSocket, on either side; with 0 it ends at once. */
  resumeMs: { usual: 30_000, strict: 10_000, least: 0 },
} as const
CLIENT_LIMITS satisfies Record<string, LimitRow>

/** The limits of a client. The reference page on limits has the meaning, the default and the strict value of each. */
export type ClientLimits = { readonly [Name in keyof typeof CLIENT_LIMITS]: number }

/** The limits on the contents of a message that both sides have. */
export type ContentLimits = Pick<ClientLimits, 'depth' | 'values' | 'keys' | 'containers' | 'batch'>

/** The limits on what a client reads. */
export type ReadLimits = ContentLimits &
  Pick<ClientLimits, 'clientBytes' | 'clientUnparsedBytes' | 'clientInvalid'>
