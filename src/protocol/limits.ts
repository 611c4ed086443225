import type { ClientLimits, LimitRow } from './client-limits.ts'

/** The limits that only servers have. */
export const LIMITS = {
  /** Bytes of one message over stdio. */
  stdioBytes: { usual: 10_485_760, strict: 4_194_304 },
  /** Bytes of one HTTP request body. */
  httpBytes: { usual: 52_428_800, strict: 4_194_304 },
  /** Bytes of one message over a WebSocket. */
  wsBytes: { usual: 52_428_800, strict: 4_194_304 },
  /** Bytes of one message over HTTP+SSE. */
  sseBytes: { usual: 10_485_760, strict: 4_194_304 },
  /** Bytes of one message over TCP or a Unix socket. */
  tcpBytes: { usual: 104_857_600, strict: 4_194_304 },
  /** Characters of one message in memory. */
  memoryBytes: { usual: 16_777_216, strict: 4_194_304 },
  /** Bytes being read at once, over all connections. */
  unparsedBytes: { usual: 268_435_456, strict: 67_108_864 },
  /** Members of all objects in one message. */
  keys: { usual: 1_000_000, strict: 10_000 },
  /** Characters of one string in a message, as it is written there. */
  stringLength: { usual: 104_857_600, strict: 1_048_576 },
  /** Characters of the id of a request. */
  idLength: { usual: 65_536, strict: 1_024 },
  /** Characters of the name of a method. */
  methodLength: { usual: 256, strict: 128 },
  /** Characters of the name of a tool or a prompt, where it is defined and where it is asked for. */
  nameLength: { usual: 128, strict: 128 },
  /** Characters of a URI. */
  uriLength: { usual: 8_192, strict: 2_048 },
  /** Characters of the description of a tool. */
  descriptionLength: { usual: 10_000, strict: 10_000 },
  /** Characters of a cursor. */
  cursorLength: { usual: 2_048, strict: 256 },
  /** Milliseconds for which a cursor can be used. */
  cursorMs: { usual: 9_007_199_254_740_991, strict: 3_600_000 },
  /** Messages in one batch. */
  batch: { usual: 100, strict: 20 },
  /** Requests being answered at once for one caller: one that is authenticated, else a session, else a connection. HTTP at 2026-07-28 has no sessions: there, callers without a name are told apart by connection only, and through `fetch` not at all. */
  inFlight: { usual: 1024, strict: 128 },
  /** Requests being answered at once for all callers. */
  allInFlight: { usual: 4096, strict: 512 },
  /** Requests that wait at once until others are answered; with 0 none waits, and one too many is refused at once. */
  queued: { usual: 1024, strict: 128, least: 0 },
  /** Characters of all that wait so. */
  queuedBytes: { usual: 67_108_864, strict: 16_777_216 },
  /** Requests that wait so for one caller. */
  queuedPerCaller: { usual: 256, strict: 32 },
  /** Milliseconds that a request may wait for its turn when there are too many. */
  waitMs: { usual: 1000, strict: 250 },
  /** Milliseconds that one piece of work may hold up all others before the operator is told and the server is unwell. */
  blockedMs: { usual: 2000, strict: 1000 },
  /** Bytes that wait at once for HTTP clients to read them, over all connections; and again what is kept for clients that come back. */
  unsentBytes: { usual: 134_217_728, strict: 67_108_864 },
  /** Connections held at once, on each port. */
  connections: { usual: 20_000, strict: 2_000 },
  /** Bytes that wait for one client to read them, before it is cut off. */
  connectionBytes: { usual: 67_108_864, strict: 16_777_216 },
  /** Milliseconds of silence on a connection after which the client is asked whether it is still there. */
  pingMs: { usual: 30_000, strict: 15_000 },
  /** Milliseconds that it has to answer that, before it is cut off. */
  pongMs: { usual: 10_000, strict: 5_000 },
  /** Sessions held at once. */
  sessions: { usual: 10_000, strict: 1_000 },
  /** Milliseconds until an unused session ends, or an unused TCP connection. */
  sessionIdleMs: { usual: 1_800_000, strict: 600_000 },
  /** Events kept per stream for a client that comes back. */
  streamEvents: { usual: 1000, strict: 100 },
  /** Characters kept per stream, or waiting for a slow reader. */
  streamBytes: { usual: 4_194_304, strict: 1_048_576 },
  /** Streams kept per session for a client that comes back. */
  keptStreams: { usual: 16, strict: 4 },
  /** Streams of `subscriptions/listen` at once for one caller. */
  streams: { usual: 16, strict: 4 },
  /** Bytes of the head of an HTTP request: its target, and the names and values of its headers. */
  headBytes: { usual: 16_384, strict: 8_192 },
  /** Headers of an HTTP request. */
  headers: { usual: 100, strict: 64 },
  /** Milliseconds that an HTTP connection stays open without a request, or a TCP connection before its first message. */
  idleMs: { usual: 75_000, strict: 15_000 },
  /** Milliseconds for the head of an HTTP request, or to agree on TLS. */
  headersMs: { usual: 10_000, strict: 5_000 },
  /** Milliseconds for a whole HTTP request, for a message on a socket once it has begun, and for a slow reader to take something. */
  bodyMs: { usual: 30_000, strict: 10_000 },
  /** Milliseconds between comments on an open stream. */
  keepAliveMs: { usual: 15_000, strict: 15_000 },
  /** Milliseconds that a client has to answer a question of the server. */
  questionMs: { usual: 600_000, strict: 120_000 },
  /** Levels of nesting in the schema of a tool or a prompt. */
  schemaDepth: { usual: 64, strict: 32 },
  /** Subschemas in the schema of a tool or a prompt. */
  subschemas: { usual: 2_000, strict: 500 },
  /** Milliseconds to finish what is running at shutdown. */
  drainMs: { usual: 10_000, strict: 10_000 },
} as const
LIMITS satisfies Record<string, LimitRow>

export type Limits = ClientLimits & { readonly [Name in keyof typeof LIMITS]: number }
