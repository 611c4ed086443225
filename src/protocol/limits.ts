import { mcpError } from './errors.ts'
import { checkOptions } from './nearest.ts'

/** Every limit: its usual value and its strict value. `Infinity` turns one off. */
export const LIMITS = {
  /** Bytes of one message over stdio. */
  stdioBytes: { usual: 10_485_760, strict: 4_194_304 },
  /** Bytes of one HTTP request body. */
  httpBytes: { usual: 52_428_800, strict: 4_194_304 },
  /** Characters of one message in memory. */
  memoryBytes: { usual: 16_777_216, strict: 4_194_304 },
  /** Bytes of one message, line, event or body from a server. */
  clientBytes: { usual: 16_777_216, strict: 4_194_304 },
  /** The highest id of a request, after which a client opens a new connection. */
  clientIds: { usual: 9_007_199_254_740_991, strict: 9_007_199_254_740_991 },
  /** Bytes being read at once, over all connections. */
  unparsedBytes: { usual: 268_435_456, strict: 67_108_864 },
  /** Levels of nesting in a message. */
  depth: { usual: 128, strict: 64 },
  /** Messages in one batch. */
  batch: { usual: 100, strict: 20 },
  /** Requests being answered at once on one connection or session. */
  inFlight: { usual: 1024, strict: 128 },
  /** Sessions held at once. */
  sessions: { usual: 10_000, strict: 1_000 },
  /** Milliseconds until an unused session ends. */
  sessionIdleMs: { usual: 1_800_000, strict: 600_000 },
  /** Events kept per stream for a client that comes back. */
  streamEvents: { usual: 1000, strict: 100 },
  /** Characters kept per stream, or waiting for a slow reader. */
  streamBytes: { usual: 4_194_304, strict: 1_048_576 },
  /** Streams kept per session for a client that comes back. */
  keptStreams: { usual: 16, strict: 4 },
  /** Milliseconds for the head of an HTTP request. */
  headersMs: { usual: 10_000, strict: 5_000 },
  /** Milliseconds for a whole HTTP request. */
  bodyMs: { usual: 30_000, strict: 10_000 },
  /** Milliseconds between comments on an open stream. */
  keepAliveMs: { usual: 15_000, strict: 15_000 },
  /** Milliseconds that a client has to answer a question of the server. */
  questionMs: { usual: 600_000, strict: 120_000 },
  /** Milliseconds to finish what is running at shutdown. */
  drainMs: { usual: 10_000, strict: 10_000 },
} as const
LIMITS satisfies Record<string, { usual: number; strict: number }>

export type Limits = { readonly [Name in keyof typeof LIMITS]: number }

/** Limits from an option: `'strict'`, or single limits changed. */
export function toLimits(option: 'strict' | Partial<Limits> = {}): Limits {
  const column = option === 'strict' ? 'strict' : 'usual'
  const base = Object.fromEntries(Object.entries(LIMITS).map(([name, row]) => [name, row[column]])) as Limits
  if (option === 'strict') return base
  checkOptions('limits', option, Object.keys(LIMITS))
  for (const [name, value] of Object.entries(option)) {
    if (!(value > 0))
      throw mcpError('bad_option', { where: `limits.${name}`, reason: 'it must be a positive number' })
  }
  return { ...base, ...option }
}
