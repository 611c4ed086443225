import type { ClientLimits, LimitRow } from './client-limits.ts'

/** The limits that only servers have, or that are lower for them. */
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
  /** Members of all objects in one message. One whose name is a whole number of at most 10 digits counts as 10, one whose name has more than 16,383 characters as 1,000, one after the first 10,000 of its object as 4, and one of the first 128 of its object as 4 if the message has had 10,000 other names and not this one. */
  keys: { usual: 250_000, strict: 10_000 },
  /** Objects and lists in one message. */
  containers: { usual: 100_000, strict: 10_000 },
  /** Characters of one string in a message, in its escaped form. */
  stringLength: { usual: 104_857_600, strict: 1_048_576 },
  /** Characters of a progress token, and of the id of a request to listen or to stream, since every notification of such a request repeats them. */
  tokenLength: { usual: 1_024, strict: 256 },
  /** Characters of the name of a method. */
  methodLength: { usual: 256, strict: 128 },
  /** Characters of the name of a tool or prompt, in definitions and in requests. */
  nameLength: { usual: 128, strict: 128 },
  /** Characters of a URI. */
  uriLength: { usual: 8_192, strict: 2_048 },
  /** Characters of the description of a tool. */
  descriptionLength: { usual: 10_000, strict: 10_000 },
  /** Resources that the `list` function of one template may list; more are left out, and the log says so. */
  listed: { usual: 10_000, strict: 1_000 },
  /** Characters of a cursor. */
  cursorLength: { usual: 2_048, strict: 256 },
  /** Milliseconds for which a cursor stays valid. */
  cursorMs: { usual: 9_007_199_254_740_991, strict: 3_600_000 },
  /** Concurrent requests of one caller: an authenticated caller, otherwise a session, otherwise a connection. HTTP at 2026-07-28 has no sessions, so anonymous callers are distinguished only by connection, and through `fetch` not at all. Requests to endpoints of plug-ins count separately. */
  inFlight: { usual: 1024, strict: 128 },
  /** Concurrent requests of all callers. Requests to endpoints of plug-ins have the same number of places of their own. While several have some, the last quarter is for those with at most 16, or a quarter of what the others leave free. The same number may also wait for answers from their clients; of these, one caller gets at most a quarter of what the others leave free. */
  allInFlight: { usual: 4096, strict: 512 },
  /** Estimated memory of the messages of all running requests, in bytes, of large copies of their arguments that schemas made, and of the bodies of running requests to endpoints of plug-ins. Messages up to 1,024 characters count one byte per character. A batch counts as one message until all its requests are answered. */
  inFlightBytes: { usual: 268_435_456, strict: 67_108_864 },
  /** Requests in the queue; with 0 there is no queue, and excess requests are rejected at once. */
  queued: { usual: 1024, strict: 128, least: 0 },
  /** Estimated memory of the messages of all queued requests, in bytes. Those of a batch count in `inFlightBytes` instead. */
  queuedBytes: { usual: 67_108_864, strict: 16_777_216 },
  /** Queued requests of one caller. */
  queuedPerCaller: { usual: 256, strict: 32 },
  /** Milliseconds that a request may stay queued. */
  waitMs: { usual: 1000, strict: 250 },
  /** Milliseconds that the event loop may be blocked before the server logs it and reports itself unhealthy. */
  blockedMs: { usual: 2000, strict: 1000 },
  /** The part of the heap that live objects may take. Above it, a server on Node rejects requests, and closes connections and sessions; a large message must fit below it with four times its bytes. 1 turns both off. */
  heap: { usual: 0.8, strict: 0.7 },
  /** Bytes waiting for clients to read them, over all connections; the same limit applies separately to what waits for an earlier reply on the same HTTP connection, and to bytes kept for clients that reconnect, with 128 for each event. One caller gets at most a quarter. Where several nodes or workers share sessions, each node counts what the store keeps of its streams as kept here, and notifications in the store separately, too; every session keeps its newest ones up to 4 KB. */
  unsentBytes: { usual: 134_217_728, strict: 67_108_864 },
  /** Open connections per port; an HTTP port accepts up to 64 more, so that a WebSocket beyond the limit gets an error. */
  connections: { usual: 20_000, strict: 2_000 },
  /** Requests on one HTTP connection that wait for the reply to an earlier one, before the connection is aborted. */
  pipelined: { usual: 256, strict: 32 },
  /** Bytes waiting for one client to read them, before its connection is aborted. */
  connectionBytes: { usual: 67_108_864, strict: 16_777_216 },
  /** Invalid messages in a row on one connection, before it is closed; stdio is never closed for that. Each message of a batch counts. */
  invalidMessages: { usual: 100, strict: 20 },
  /** Milliseconds of silence on a connection before the server pings the client. */
  pingMs: { usual: 30_000, strict: 15_000 },
  /** Milliseconds that the client has to answer the ping, before its connection is aborted. */
  pongMs: { usual: 10_000, strict: 5_000 },
  /** Open sessions; beyond that, the caller with the most loses one for a new one. As many `subscriptions/listen` streams may be open over HTTP. */
  sessions: { usual: 10_000, strict: 1_000 },
  /** Milliseconds until an unused session or TCP connection is closed. */
  sessionIdleMs: { usual: 1_800_000, strict: 600_000 },
  /** Bytes of the values that handlers keep in one session (`ctx.session.set`): their keys and their JSON text, with 128 bytes for each. */
  sessionBytes: { usual: 1_048_576, strict: 65_536 },
  /** Bytes kept for all clients between their requests: the URIs they watch, with 128 bytes for each, what they say about themselves, and the values in their sessions. One caller gets at most a quarter of what the others leave free. Where several nodes or workers share sessions, each node counts two things in the store separately, up to the same limit: the subscriptions that it added, and answers of more than 64 KB to questions of other nodes, until these have them. Of each, one caller gets at most three quarters of what the others leave free. */
  heldBytes: { usual: 67_108_864, strict: 16_777_216 },
  /** Events kept per stream for a client that reconnects. */
  streamEvents: { usual: 1000, strict: 100 },
  /** Bytes kept per stream, or buffered for a slow reader. A single message may be longer. */
  streamBytes: { usual: 4_194_304, strict: 1_048_576 },
  /** Streams kept per session for a client that reconnects. */
  keptStreams: { usual: 16, strict: 4 },
  /** Concurrent `subscriptions/listen` streams of one caller: an authenticated caller, otherwise a connection. Those of anonymous callers over HTTP, which have one for each request, share `sessions`. */
  streams: { usual: 16, strict: 4 },
  /** Bytes of the head of an HTTP request: target, header names and header values. */
  headBytes: { usual: 16_384, strict: 8_192 },
  /** Headers in an HTTP request. */
  headers: { usual: 100, strict: 64 },
  /** Milliseconds that an HTTP connection stays open without a request, or a TCP connection before its first message. */
  idleMs: { usual: 75_000, strict: 15_000 },
  /** Milliseconds to receive the head of an HTTP request, to identify its caller, or to complete a TLS handshake. */
  headersMs: { usual: 10_000, strict: 5_000 },
  /** Milliseconds to receive a whole HTTP request, or the rest of a message on a socket; also how long a slow client may read nothing. */
  bodyMs: { usual: 30_000, strict: 10_000 },
  /** Milliseconds between comments on an open stream. */
  keepAliveMs: { usual: 15_000, strict: 15_000 },
  /** Milliseconds that a client has to answer a question from the server. */
  questionMs: { usual: 600_000, strict: 120_000 },
  /** Bytes of memory for what a generator has yielded and its result will contain. */
  yieldedBytes: { usual: 67_108_864, strict: 16_777_216 },
  /** Nesting levels in the schema of a tool or prompt. */
  schemaDepth: { usual: 64, strict: 32 },
  /** Subschemas in the schema of a tool or prompt. */
  subschemas: { usual: 2_000, strict: 500 },
  /** Characters of one text that a schema of a library parses or converts, such as a URL, or JSON in a text. */
  parsedText: { usual: 16_384, strict: 4_096 },
  /** Tasks that the server keeps, running and finished ones, of all callers. */
  tasks: { usual: 100_000, strict: 10_000 },
  /** Tasks that the server keeps for one caller: an authenticated caller, otherwise a session. */
  callerTasks: { usual: 10_000, strict: 1_000 },
  /** Bytes of the result of one task, as JSON. All answers to its questions may have a quarter of it, and one answer to a form a sixteenth. */
  taskResultBytes: { usual: 16_777_216, strict: 4_194_304 },
  /** Milliseconds that a task is kept after its creation, whatever its client asks for. */
  taskMs: { usual: 86_400_000, strict: 3_600_000 },
  /** Bytes of the requests, answers and results of all tasks that the store keeps, in memory or on disk, with 512 for each; and in one process what those that run keep in memory, at least 4,096 for each. One caller gets at most a quarter of what the others leave free. */
  taskBytes: { usual: 268_435_456, strict: 67_108_864 },
  /** Milliseconds to finish running requests at shutdown. */
  drainMs: { usual: 10_000, strict: 10_000 },
} as const
LIMITS satisfies Record<string, LimitRow>

/** The limits of a server, and those of a client. The reference page on limits has the meaning, the default and the strict value of each. */
export type Limits = ClientLimits & { readonly [Name in keyof typeof LIMITS]: number }
