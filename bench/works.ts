import type { Work } from './measure.ts'
import { clientHttp, clientStdio } from './works/client.ts'
import { events2026, eventsSession } from './works/events.ts'
import { manyTools, sustained } from './works/growth.ts'
import { heldBusy, heldSse, heldTcp, heldWs } from './works/held.ts'
import { http2026, httpSession } from './works/http.ts'
import { batches, inProcess2025, inProcess2026 } from './works/in-process.ts'
import { install } from './works/install.ts'
import { list100, list1000 } from './works/lists.ts'
import { overload } from './works/overload.ts'
import { scanCost } from './works/scan.ts'
import { idleSessions, manySessions } from './works/sessions.ts'
import { ladder } from './works/ladder.ts'
import { latency } from './works/latency.ts'
import { startHttp, startStdio, stdioMany, stdioOne } from './works/stdio.ts'
import { tcp, ws } from './works/streams.ts'
import { typeCost } from './works/types.ts'

/** What a short run compares with the record. */
export const SHORT_WORKS: readonly Work[] = [
  httpSession,
  http2026,
  eventsSession,
  events2026,
  inProcess2025,
  inProcess2026,
  batches,
  stdioMany,
  stdioOne,
  tcp,
  ws,
  startStdio,
  list100,
]

/** All that the bench measures, in this order; what follows takes too long for a short run, or does not depend on the machine. */
export const WORKS: readonly Work[] = [
  ...SHORT_WORKS,
  sustained,
  ladder,
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
  overload,
  scanCost,
  install,
  typeCost,
]
