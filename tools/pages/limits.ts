import { readFileSync } from 'node:fs'
import { CLIENT_LIMITS, type LimitRow } from '../../src/protocol/client-limits.ts'
import { LIMITS, type Limits } from '../../src/protocol/limits.ts'
import { fixedLimits } from './fixed-limits.ts'
import { code, docsIn, page, table } from './markdown.ts'

/** What happens beyond each limit: the kind of the error, the name of a counter, or otherwise a sentence. */
export const OUTCOMES: Readonly<Record<keyof Limits, string>> = {
  stdioBytes: 'too_large',
  httpBytes: 'too_large',
  tcpBytes: 'too_large',
  wsBytes: 'too_large',
  sseBytes: 'too_large',
  memoryBytes: 'too_large',
  unparsedBytes: 'too_many_bytes',
  keys: 'too_many_keys',
  containers: 'too_many_containers',
  stringLength: 'string_too_long',
  idLength: 'id_too_long',
  tokenLength: 'bad_params',
  methodLength: 'method_too_long',
  nameLength: 'name_too_long',
  uriLength: 'uri_too_long',
  descriptionLength: 'bad_definition',
  listed: 'The others are left out of the list, and the log says so.',
  cursorLength: 'cursor_too_long',
  cursorMs: 'cursor_expired',
  batch: 'batch_too_long',
  inFlight: 'too_many_calls',
  allInFlight: 'overloaded',
  inFlightBytes: 'too_much_in_flight',
  queued: 'queue_full',
  queuedBytes: 'queue_bytes',
  queuedPerCaller: 'queue_share',
  waitMs: 'overloaded',
  blockedMs: 'loop_blocked',
  heap: 'heap_full',
  unsentBytes: 'too_much_unsent',
  connections: 'too_many_connections',
  pipelined: 'too_many_pipelined',
  connectionBytes: 'slow_reader',
  invalidMessages: 'too_many_invalid',
  pingMs: 'The server pings the client.',
  pongMs: 'peer_lost',
  sessions: 'session_limit',
  sessionIdleMs: 'unknown_session',
  sessionBytes: 'session_too_large',
  heldBytes: 'too_much_held',
  streamEvents: 'event_forgotten',
  streamBytes: 'slow_reader',
  keptStreams: 'stream_forgotten',
  streams: 'too_many_streams',
  headBytes: 'head_too_large',
  headers: 'too_many_headers',
  idleMs: 'The connection is closed, as HTTP allows at any time between requests.',
  headersMs: 'slow_sender',
  bodyMs: 'slow_sender',
  keepAliveMs: 'slow_reader',
  questionMs: 'ask_refused',
  yieldedBytes: 'tool_failed',
  schemaDepth: 'bad_definition',
  subschemas: 'bad_definition',
  parsedText: 'The value is rejected.',
  tasks: 'too_many_tasks',
  callerTasks: 'too_many_caller_tasks',
  taskResultBytes: 'task_result_too_large',
  taskMs: 'The task is removed, and stopped if it still runs.',
  taskBytes: 'tasks_too_large',
  drainMs: 'Requests that are still running are cancelled.',
  clientBytes: 'answer_too_large',
  clientUnparsedBytes: 'answer_too_large',
  clientInvalid: 'bad_answer',
  clientIds: 'A new connection is opened.',
  clientQuestions: 'asked_too_often',
  depth: 'too_deep',
  values: 'too_many_values',
  pages: 'answer_too_large',
  reconnectFirstMs: 'The client waits.',
  reconnectMaxMs: 'The client never waits longer.',
  reconnectFloorMs: 'The client waits.',
  resumeMs: 'session_expired',
}

/** The page about limits. */
export function limitsPage(): string {
  return page(
    'Limits',
    "Set single limits with `createServer({ limits: { … } })` and `connect(target, { limits: { … } })`, or all with `limits: 'strict'`. `Infinity` turns one off. Exceeding a limit causes the listed [error](errors.md) or increments the listed counter; `app.counts` has the totals of both.",
    '## Servers',
    limitTable(LIMITS, '../../src/protocol/limits.ts'),
    '## Clients',
    '`depth`, `values`, `idLength` and `resumeMs` apply to servers too. The options `timeout` (60 s without progress) and `total` (5 min) of `connect` and of each call limit how long a client waits for an answer; beyond them it throws `timeout`.',
    limitTable(CLIENT_LIMITS, '../../src/protocol/client-limits.ts'),
    '## Fixed limits',
    'These cannot be set.',
    fixedLimits(),
  )
}

function limitTable(limits: Readonly<Record<string, LimitRow>>, file: string): string {
  const docs = docsIn(readFileSync(new URL(file, import.meta.url), 'utf8'))
  return table(
    ['Limit', 'Meaning', 'Default', 'Strict', 'Beyond it'],
    Object.entries(limits).map(([name, { usual, strict }]) => [
      code(name),
      docs.get(name) ?? '',
      usual.toLocaleString('en'),
      strict.toLocaleString('en'),
      outcomeCell(OUTCOMES[name as keyof Limits]),
    ]),
  )
}

function outcomeCell(outcome: string): string {
  return outcome.includes(' ') ? outcome : code(outcome)
}
