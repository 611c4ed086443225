import { expect, test } from 'vitest'
import { CLIENT_LIMITS, type LimitRow } from './client-limits.ts'
import { LIMITS } from './limits.ts'

const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['ms', 1],
  ['s', 1000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['safe', Number.MAX_SAFE_INTEGER],
])

/** What users rely on: each limit with its usual and its strict value, and the minimum if that is 0. */
const DOCUMENTED = `
  stdioBytes 10Mi 4Mi
  httpBytes 50Mi 4Mi
  wsBytes 50Mi 4Mi
  sseBytes 10Mi 4Mi
  tcpBytes 100Mi 4Mi
  memoryBytes 16Mi 4Mi
  unparsedBytes 256Mi 64Mi
  keys 250000 10000
  containers 100000 10000
  stringLength 100Mi 1Mi
  tokenLength 1Ki 256
  methodLength 256 128
  nameLength 128 128
  uriLength 8Ki 2Ki
  descriptionLength 10000 10000
  listed 10000 1000
  cursorLength 2Ki 256
  cursorMs 1safe 1h
  inFlight 1024 128
  allInFlight 4096 512
  inFlightBytes 256Mi 64Mi
  queued 1024 128 0
  queuedBytes 64Mi 16Mi
  queuedPerCaller 256 32
  waitMs 1s 250ms
  blockedMs 2s 1s
  heap 0.8 0.7
  unsentBytes 128Mi 64Mi
  connections 20000 2000
  pipelined 256 32
  connectionBytes 64Mi 16Mi
  invalidMessages 100 20
  pingMs 30s 15s
  pongMs 10s 5s
  sessions 10000 1000
  sessionIdleMs 30min 10min
  sessionBytes 1Mi 64Ki
  heldBytes 67108864 16777216
  streamEvents 1000 100
  streamBytes 4Mi 1Mi
  keptStreams 16 4
  streams 16 4
  headBytes 16Ki 8Ki
  headers 100 64
  idleMs 75s 15s
  headersMs 10s 5s
  bodyMs 30s 10s
  keepAliveMs 15s 15s
  questionMs 10min 2min
  yieldedBytes 64Mi 16Mi
  schemaDepth 64 32
  subschemas 2000 500
  parsedText 16Ki 4Ki
  tasks 100000 10000
  callerTasks 10000 1000
  taskResultBytes 16Mi 4Mi
  taskMs 86400000 1h
  taskBytes 256Mi 64Mi
  drainMs 10s 10s
`

const DOCUMENTED_CLIENT = `
  clientBytes 16Mi 4Mi
  clientUnparsedBytes 256Mi 64Mi
  clientInvalid 10000 1000
  clientIds 1safe 1safe
  clientQuestions 1000 100
  depth 128 64
  values 1000000 100000
  keys 500000 50000
  containers 500000 50000
  idLength 64Ki 1Ki
  uriLength 8192 2048
  batch 100 20
  pages 1000 100
  reconnectFirstMs 1s 1s
  reconnectMaxMs 30s 30s
  reconnectFloorMs 100ms 1s
  resumeMs 30s 10s 0
`

test.each([
  ['servers', LIMITS, DOCUMENTED],
  ['clients', CLIENT_LIMITS, DOCUMENTED_CLIENT],
] as const)('the limits of %s have the documented values', (_who, table, documented) => {
  const rows = documented
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' '))
    .map(([name = '', usual = '', strict = '', least]) => {
      const row = { usual: toNumber(usual), strict: toNumber(strict) }
      return [name, least === undefined ? row : { ...row, least: toNumber(least) }] as const
    })
  expect(Object.entries<LimitRow>(table)).toEqual(rows)
})

function toNumber(text: string): number {
  const [, digits = '', unit = ''] = /^([\d.]+)([A-Za-z]*)$/.exec(text) ?? []
  return Number(digits) * (UNITS.get(unit) ?? Number.NaN)
}
