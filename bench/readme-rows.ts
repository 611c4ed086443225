import { CALL_ROWS, titleOf } from './call-rows.ts'
import { ASYNC, SOCKET } from './kinds.ts'
import { OURS_JSON } from './subjects.ts'

/** A row of the report that appears on the page of benchmarks. */
export interface ReadmeRow {
  readonly work: string
  readonly unit: string
  /** Its name in the table. */
  readonly label: string
  /** Its name in the picture of the README, if it is there. */
  readonly title?: string
  /** Whether the README shows it; the others are only on the page of benchmarks. */
  readonly isFront?: boolean
  /** The name of our subject, if not the usual one; such a row shows no peers. */
  readonly ours?: string
}

/** The rows of the page, in reading order. */
// oxfmt-ignore
export const README_ROWS: readonly ReadmeRow[] = [
  { work: 'HTTP tools/call, 2025-11-25 session',                                 unit: 'req/s',         label: 'HTTP calls/s, 2025-11-25 session' },
  { work: titleOf(CALL_ROWS.httpSession, ASYNC),                                 unit: 'req/s',         label: 'HTTP calls/s, 2025-11-25 session, async handler', title: 'HTTP calls, 2025-11-25 session', isFront: true },
  { work: titleOf(CALL_ROWS.httpSession, SOCKET),                                unit: 'req/s',         label: 'HTTP calls/s, 2025-11-25 session, handler awaits a socket' },
  { work: 'HTTP tools/call, 2026-07-28',                                         unit: 'req/s',         label: 'HTTP calls/s, 2026-07-28' },
  { work: titleOf(CALL_ROWS.http2026, ASYNC),                                    unit: 'req/s',         label: 'HTTP calls/s, 2026-07-28, async handler', title: 'HTTP calls, 2026-07-28', isFront: true },
  { work: 'HTTP tools/call answered as SSE with one progress event, 2026-07-28', unit: 'req/s',         label: 'HTTP calls/s with a progress event, 2026-07-28' },
  { work: titleOf(CALL_ROWS.events2026, ASYNC),                                  unit: 'req/s',         label: 'HTTP calls/s with a progress event, 2026-07-28, async handler' },
  { work: 'in process tools/call, 2025-11-25',                                   unit: 'msg/s',         label: 'calls/s in process' },
  { work: titleOf(CALL_ROWS.inProcess2025, ASYNC),                               unit: 'msg/s',         label: 'calls/s in process, async handler', title: 'Calls in process' },
  { work: 'in process tools/call in batches of ten, 2025-03-26',                 unit: 'msg/s',         label: 'calls/s in process, batches of ten' },
  { work: 'stdio tools/call, 128 in flight',                                     unit: 'msg/s',         label: 'stdio calls/s, 128 in flight' },
  { work: titleOf(CALL_ROWS.stdioMany, ASYNC),                                   unit: 'msg/s',         label: 'stdio calls/s, 128 in flight, async handler', title: 'stdio, 128 calls in flight', isFront: true },
  { work: 'stdio tools/call, one in flight',                                     unit: 'µs p50',        label: 'stdio round trip, p50 µs' },
  { work: 'TCP tools/call, 4 KB in, 16 × 16',                                    unit: 'msg/s',         label: 'TCP calls/s of 4 KB, 16 × 16 in flight' },
  { work: 'WebSocket tools/call, 16 × 16',                                       unit: 'msg/s',         label: 'WebSocket calls/s, 16 × 16 in flight' },
  { work: 'latency over TCP at 50 % load',                                       unit: 'µs p99',        label: 'TCP at half load, p99 µs' },
  { work: 'latency over HTTP at 50 % load',                                      unit: 'µs p99',        label: 'HTTP at half load, p99 µs' },
  { work: 'client tools/call over HTTP, 2026-07-28',                             unit: 'µs p50',        label: 'client call over HTTP, p50 µs' },
  { work: 'client tools/call over stdio, 2026-07-28',                            unit: 'µs p50',        label: 'client call over stdio, p50 µs' },
  { work: 'HTTP tools/list, 100 tools of ten fields',                            unit: 'µs server CPU', label: 'list of 100 tools, server CPU µs', title: 'Listing 100 tools, server CPU', isFront: true },
  { work: 'cold start to first reply, stdio',                                    unit: 'ms',            label: 'cold start on stdio, ms', title: 'Cold start to first reply, stdio', isFront: true },
  { work: 'cold start to first reply, stdio',                                    unit: 'ms',            label: 'cold start on stdio without zod, ms',            ours: OURS_JSON.name },
  { work: 'RSS after load, stdio',                                               unit: 'MB',            label: 'memory after load on stdio, MB' },
  { work: 'idle 2025 session, 50 tools',                                         unit: 'KB',            label: 'idle session, KB' },
  { work: 'sessions held over TCP',                                              unit: 'answered',      label: 'TCP sessions held, three processes' },
  { work: 'sessions held over TCP',                                              unit: 'KB',            label: 'TCP session, KB of resident memory' },
  { work: 'sessions held over WebSocket',                                        unit: 'KB',            label: 'WebSocket session, KB of resident memory' },
  { work: 'install',                                                             unit: 'packages',      label: 'install, packages' },
  { work: 'install',                                                             unit: 'MB',            label: 'install, MB' },
]
