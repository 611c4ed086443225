/** A limit: its usual value and its strict value. `Infinity` turns one off. */
export interface LimitRow {
  readonly usual: number
  readonly strict: number
  /** The least value, where it may be none. */
  readonly least?: 0
}

/** The limits that clients have. */
export const CLIENT_LIMITS = {
  /** Bytes of one message, line, event or body from a server. */
  clientBytes: { usual: 16_777_216, strict: 4_194_304 },
  /** The highest id of a request, after which a client opens a new connection. */
  clientIds: { usual: 9_007_199_254_740_991, strict: 9_007_199_254_740_991 },
  /** Levels of nesting in a message. */
  depth: { usual: 128, strict: 64 },
  /** Pages of one list. */
  pages: { usual: 1000, strict: 100 },
  /** Milliseconds before a client tries again to reach a server, at first. */
  reconnectFirstMs: { usual: 1000, strict: 1000 },
  /** Milliseconds that this grows to while nothing comes of it. */
  reconnectMaxMs: { usual: 30_000, strict: 30_000 },
  /** Milliseconds between two attempts at least, whatever a server asks for. */
  reconnectFloorMs: { usual: 100, strict: 1000 },
  /** Milliseconds that a session outlives a lost WebSocket, on either side; with 0 it ends at once. */
  resumeMs: { usual: 30_000, strict: 10_000, least: 0 },
} as const
CLIENT_LIMITS satisfies Record<string, LimitRow>

export type ClientLimits = { readonly [Name in keyof typeof CLIENT_LIMITS]: number }
