import { mcpError } from './errors.ts'
import { checkOptions } from './nearest.ts'

/** Every limit: its usual value, its strict value, and what it bounds. `Infinity` turns one off. */
// oxfmt-ignore
export const LIMITS = {
  stdioBytes:    { usual: 10_485_760,     strict: 4_194_304,      about: 'bytes of one message over stdio' },
  httpBytes:     { usual: 52_428_800,     strict: 4_194_304,      about: 'bytes of one HTTP request body' },
  memoryBytes:   { usual: 16_777_216,     strict: 4_194_304,      about: 'characters of one message in memory' },
  clientBytes:   { usual: 16_777_216,     strict: 4_194_304,      about: 'bytes of one message, line, event or body from a server' },
  unparsedBytes: { usual: 268_435_456,    strict: 67_108_864,     about: 'bytes being read at once, over all connections' },
  depth:         { usual: 128,         strict: 64,          about: 'levels of nesting in a message' },
  batch:         { usual: 100,         strict: 20,          about: 'messages in one batch' },
  inFlight:      { usual: 1024,        strict: 128,         about: 'requests being answered at once on one connection or session' },
  sessions:      { usual: 10_000,      strict: 1_000,       about: 'sessions held at once' },
  sessionIdleMs: { usual: 1_800_000, strict: 600_000, about: 'milliseconds until an unused session ends' },
  streamEvents:  { usual: 1000,        strict: 100,         about: 'events kept per stream for a client that comes back' },
  streamBytes:   { usual: 4_194_304,      strict: 1_048_576,      about: 'characters kept per stream, or waiting for a slow reader' },
  keptStreams:   { usual: 16,          strict: 4,           about: 'streams kept per session for a client that comes back' },
  headersMs:     { usual: 10_000,      strict: 5_000,       about: 'milliseconds for the head of an HTTP request' },
  bodyMs:        { usual: 30_000,      strict: 10_000,      about: 'milliseconds for a whole HTTP request' },
  keepAliveMs:   { usual: 15_000,      strict: 15_000,      about: 'milliseconds between comments on an open stream' },
  questionMs:    { usual: 600_000,     strict: 120_000,     about: 'milliseconds that a client has to answer a question of the server' },
  drainMs:       { usual: 10_000,      strict: 10_000,      about: 'milliseconds to finish what is running at shutdown' },
} as const
LIMITS satisfies Record<string, { usual: number; strict: number; about: string }>

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
