import { ASYNC, CONTENT, SOCKET, TEXT } from './kinds.ts'
import type { Workload } from './measure.ts'
import { authCalls, freshTokens } from './workloads/auth.ts'
import { clientHttp, clientStdio } from './workloads/client.ts'
import { command } from './workloads/command.ts'
import { events2026, eventsSession } from './workloads/events.ts'
import { manyTools, sustained } from './workloads/growth.ts'
import { heldBusy, heldNodes, heldSse, heldTcp, heldWs } from './workloads/held-sessions.ts'
import { http2026, httpSession } from './workloads/http.ts'
import { batches, inProcess2025, inProcess2026 } from './workloads/in-process.ts'
import { install } from './workloads/install.ts'
import { list100, list1000 } from './workloads/lists.ts'
import { nodeCalls, redisSessions, redisTrips, scalingNodes } from './workloads/nodes.ts'
import { overload } from './workloads/overload.ts'
import { scanCost } from './workloads/scan.ts'
import { idleSessions, manySessions } from './workloads/sessions.ts'
import { layers } from './workloads/layers.ts'
import { latency } from './workloads/latency.ts'
import { startHttp, startStdio, stdioMany, stdioOne } from './workloads/stdio.ts'
import { tasks } from './workloads/tasks.ts'
import { tcp, ws } from './workloads/streams.ts'
import { typeCost } from './workloads/types.ts'
import { workers } from './workloads/workers.ts'

/** The workloads that a short run compares with the record. */
export const SHORT_WORKLOADS: readonly Workload[] = [
  httpSession(TEXT),
  http2026(TEXT),
  eventsSession(TEXT),
  events2026(TEXT),
  inProcess2025(TEXT),
  inProcess2026(TEXT),
  batches,
  stdioMany(TEXT),
  stdioOne,
  httpSession(ASYNC),
  http2026(ASYNC),
  inProcess2025(ASYNC),
  inProcess2026(ASYNC),
  stdioMany(ASYNC),
  tcp,
  ws,
  startStdio,
  list100,
]

/** All workloads, in order; those after the short ones take too long for a short run or do not depend on the machine. */
export const WORKLOADS: readonly Workload[] = [
  ...SHORT_WORKLOADS,
  eventsSession(ASYNC),
  events2026(ASYNC),
  ...[CONTENT, SOCKET].flatMap((kind) => [
    httpSession(kind),
    http2026(kind),
    inProcess2025(kind),
    inProcess2026(kind),
    stdioMany(kind),
  ]),
  sustained,
  tasks,
  layers,
  latency,
  startHttp,
  clientHttp,
  clientStdio,
  list1000,
  manyTools,
  idleSessions,
  manySessions,
  heldTcp,
  heldWs,
  heldSse,
  heldBusy,
  heldNodes,
  redisTrips,
  nodeCalls,
  redisSessions,
  scalingNodes,
  overload,
  workers,
  scanCost,
  authCalls,
  freshTokens,
  install,
  command,
  typeCost,
]
