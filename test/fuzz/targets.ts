import type { Target } from './fuzz.ts'
import { clientHttpTarget } from './targets/client-http.ts'
import { clientTarget } from './targets/client.ts'
import { envelopeTarget } from './targets/envelope.ts'
import { eventsTarget } from './targets/events.ts'
import { headersTarget } from './targets/headers.ts'
import { lowerTarget } from './targets/lower.ts'
import { inspectTarget } from './targets/inspect.ts'
import { linesTarget } from './targets/lines.ts'
import { messageTarget } from './targets/message.ts'
import { metaTarget } from './targets/meta.ts'
import { negotiationTarget } from './targets/negotiation.ts'
import { patternTimeTarget } from './targets/pattern-time.ts'
import { patternTarget } from './targets/pattern.ts'
import { schemaTarget } from './targets/schema.ts'
import { scanTarget } from './targets/scan.ts'
import { serverTarget } from './targets/server.ts'
import { socketTarget } from './targets/socket.ts'
import { stateTarget } from './targets/state.ts'
import { stdioTarget } from './targets/stdio.ts'
import { urisTarget } from './targets/uris.ts'
import { webTarget } from './targets/web.ts'

/** Everything that is fuzzed. */
export const TARGETS: readonly Target[] = [
  scanTarget,
  messageTarget,
  linesTarget,
  eventsTarget,
  headersTarget,
  urisTarget,
  metaTarget,
  stateTarget,
  negotiationTarget,
  envelopeTarget,
  lowerTarget,
  schemaTarget,
  inspectTarget,
  patternTarget,
  patternTimeTarget,
  serverTarget,
  webTarget,
  socketTarget,
  stdioTarget,
  clientTarget,
  clientHttpTarget,
]
