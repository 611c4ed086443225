import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { buildSync } from 'esbuild'
import { main } from './run.ts'
import { selfSigned } from '../test/harness/certificates.ts'
import { runClients, type Addresses } from './soak-clients.ts'
import { SoakRecord, slopePerMinute } from './soak-record.ts'
import type { ServerState } from './soak-server.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const SOURCE = fileURLToPath(new URL('soak-server.ts', import.meta.url))
const FLAGS = ['--expose-gc']
/** Bundled CommonJS code needs `require`. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"
const MB = 1_000_000
/** The memory of the server may grow by at most this much between the end of the warm-up and the last sample. */
const GROWTH_BYTES = 5 * MB
/** In shorter soaks, answers queued for stalled clients distort the slope. */
const LONG_MINUTES = 2
/** Timers and connections that are about to close. */
const EXTRA_HANDLES = 2

interface Sample extends ServerState {
  readonly atMs: number
  /** The heap of all clients. */
  readonly clients: number
}

/** A soak lasts until at least this many answers have arrived. */
const MIN_ANSWERS = 200

/** Uses one server in every way for a while; fails if answers are lost or mixed up, or if memory or handles leak. */
async function soak(seconds: number, file: string): Promise<void> {
  const idleMs = Math.max(5000, Math.min(20_000, seconds * 100))
  const server = new Server(file, idleMs)
  const { url, addresses } = await server.listening
  const began = performance.now()
  let stopped = false
  const record = new SoakRecord(() => stopped)
  // A busy machine may need longer for the first requests.
  const until = (part: number) => (): boolean =>
    performance.now() - began > seconds * 1000 * part && record.answers >= MIN_ANSWERS * part
  const where = { url, addresses, pin: server.pin }
  const program = { command: process.execPath, args: [...FLAGS, file, 'stdio'] }
  const before = await server.state()
  const samples: Sample[] = []
  const sampling = setInterval(
    () => void server.state().then((state) => samples.push({ ...state, ...ownState(began) })),
    Math.min(5000, seconds * 50),
  )
  // In two parts, to compare the memory that closed clients leave behind.
  await runClients({ ...where, program, record, over: until(WARM_UP) })
  const restFirst = await atRest()
  const warm = await settled(server, before, idleMs)
  await runClients({ ...where, program, record, over: until(1) })
  clearInterval(sampling)
  stopped = true
  const after = await settled(server, before, idleMs)
  const code = await server.stop()
  const rest = await atRest()
  const steady = samples.filter(({ atMs }) => atMs > seconds * 1000 * WARM_UP)
  const breaches = printReport({
    record,
    before,
    warm,
    after,
    steady,
    code,
    rest: [restFirst, rest],
    seconds: (performance.now() - began) / 1000,
  })
  if (breaches.length > 0) throw new Error(`the soak failed: ${breaches.join('; ')}`)
}

/** The share of the time that does not count for memory. */
const WARM_UP = 0.3

function ownState(began: number): Pick<Sample, 'atMs' | 'clients'> {
  collect()
  return { atMs: performance.now() - began, clients: process.memoryUsage().heapUsed }
}

/** The heap of the closed clients; some of it is freed only in later turns of the event loop. */
async function atRest(): Promise<number> {
  for (let turn = 0; turn < 10; turn++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return process.memoryUsage().heapUsed
}

class Server {
  readonly listening: Promise<{ readonly url: string; readonly addresses: Addresses }>
  /** The fingerprint of its certificate. */
  readonly pin: string
  readonly #child: ChildProcess
  readonly #exited: Promise<number | string | null>

  constructor(file: string, idleMs: number) {
    const { key, cert, fingerprint } = selfSigned('soak', ['127.0.0.1'])
    const args = ['all', String(idleMs), join(dirname(file), 'socket'), JSON.stringify({ key, cert })]
    this.pin = fingerprint
    this.#child = fork(file, args, { execArgv: FLAGS })
    this.listening = new Promise((resolve) =>
      this.#child.once('message', (addresses) => resolve(addresses as Awaited<typeof this.listening>)),
    )
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(code ?? signal))
    })
  }

  async state(): Promise<ServerState> {
    const exited = this.#exited.then((code) => {
      throw new Error(`the server exited with ${code}`)
    })
    const answered = new Promise<ServerState>((resolve) => {
      this.#child.once('message', (state) => resolve(state as ServerState))
    })
    if (this.#child.connected) this.#child.send('state')
    return Promise.race([answered, exited])
  }

  stop(): Promise<number | string | null> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }
}

/** The state of the server once it is idle again. */
async function settled(server: Server, before: ServerState, idleMs: number): Promise<ServerState> {
  const until = performance.now() + idleMs + 10_000
  for (;;) {
    const state = await server.state()
    const isQuiet =
      state.sessions + state.running === 0 &&
      state.handles <= before.handles + EXTRA_HANDLES &&
      state.descriptors <= before.descriptors + EXTRA_HANDLES
    if (isQuiet || performance.now() > until) return state
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

interface Results {
  readonly record: SoakRecord
  readonly before: ServerState
  /** The idle server after the warm-up. */
  readonly warm: ServerState
  readonly after: ServerState
  readonly steady: readonly Sample[]
  readonly code: number | string | null
  /** The heap of the clients while all of them are closed: after the warm-up, and at the end. */
  readonly rest: readonly [number, number]
  readonly seconds: number
}

/** Prints the table; returns the problems. */
function printReport({
  record,
  before,
  warm,
  after,
  steady,
  code,
  rest,
  seconds,
}: Results): readonly string[] {
  const slope = (of: 'heap' | 'rss' | 'clients'): number =>
    slopePerMinute(steady.map((sample) => ({ atMs: sample.atMs, value: sample[of] })))
  const minutes = ((steady.at(-1)?.atMs ?? 0) - (steady[0]?.atMs ?? 0)) / 60_000
  const growth = slope('heap') * minutes
  const rows: readonly (readonly [string, string | number])[] = [
    ['seconds', seconds.toFixed(0)],
    ['requests', record.requests],
    ['answers', record.answers],
    ['lost', record.lost],
    ['crossed', record.crossed],
    ['slowest answer', `${record.slowestMs.toFixed(0)} ms`],
    [
      'idle heap: start, after the warm-up, end',
      [before, warm, after].map(({ heap }) => mb(heap)).join(', '),
    ],
    ['heap slope after the warm-up', `${mb(slope('heap'))} per minute over ${minutes.toFixed(1)} minutes`],
    ['resident slope after the warm-up', `${mb(slope('rss'))} per minute`],
    [
      'heap slope of the clients',
      `${mb(slope('clients'))} per minute, at the end ${mb(steady.at(-1)?.clients ?? 0)}`,
    ],
    ['heap of closed clients: after the warm-up, end', rest.map(mb).join(', ')],
    [
      'sessions: start, maximum, end',
      `${before.sessions}, ${maximum(steady, 'sessions')}, ${after.sessions}`,
    ],
    ['handles: start, maximum, end', `${before.handles}, ${maximum(steady, 'handles')}, ${after.handles}`],
    [
      'descriptors: start, maximum, end',
      `${before.descriptors}, ${maximum(steady, 'descriptors')}, ${after.descriptors}`,
    ],
    ['exit code of the server', String(code)],
  ]
  for (const [name, value] of rows) console.log(`${name.padEnd(54)} ${value}`)
  printCounts('as expected', record.expected)
  printCounts('not as expected', record.unexpected)
  printCounts('counted by the server', new Map(Object.entries(after.counts)))
  return [
    record.requests === 0 && 'no request was sent',
    record.lost > 0 && `${record.lost} answers were lost`,
    record.crossed > 0 && `${record.crossed} answers were crossed`,
    record.unexpected.size > 0 && 'unexpected outcomes occurred',
    after.heap - warm.heap > GROWTH_BYTES && `${mb(after.heap - warm.heap)} of the heap was not freed`,
    minutes >= LONG_MINUTES && growth > GROWTH_BYTES && `the heap grew by ${mb(growth)}`,
    rest[1] - rest[0] > GROWTH_BYTES && `closed clients left ${mb(rest[1] - rest[0])}`,
    after.sessions + after.running > 0 && `${after.sessions} sessions and ${after.running} requests are left`,
    after.descriptors > before.descriptors + EXTRA_HANDLES &&
      `${after.descriptors - before.descriptors} descriptors are left`,
    after.handles > before.handles + EXTRA_HANDLES && `${after.handles - before.handles} handles are left`,
    code !== 0 && `the server exited with ${code}`,
  ].filter((breach) => breach !== false)
}

function printCounts(title: string, counts: ReadonlyMap<string, number>): void {
  console.log(`\n${title}`)
  const sorted = [...counts].toSorted(([one], [other]) => one.localeCompare(other))
  for (const [name, count] of sorted) console.log(`  ${String(count).padStart(9)}  ${name}`)
}

function maximum(samples: readonly Sample[], of: 'sessions' | 'handles' | 'descriptors'): number {
  return samples.reduce((highest, sample) => Math.max(highest, sample[of]), 0)
}

function mb(bytes: number): string {
  return `${(bytes / MB).toFixed(2)} MB`
}

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seconds: { type: 'string' } } })
await main(async () => {
  const seconds = Number(values.seconds ?? Number(values.minutes ?? '15') * 60)
  if (!(seconds >= 1))
    throw new Error('the duration must be at least one second: --minutes 15 or --seconds 10')
  const folder = mkdtempSync(join(tmpdir(), 'soak-'))
  const outfile = join(folder, 'server.mjs')
  try {
    // As one file, servers start faster and do not notice changes of the sources.
    buildSync({
      entryPoints: [SOURCE],
      outfile,
      bundle: true,
      platform: 'node',
      conditions: ['pierhead-source'],
      format: 'esm',
      logLevel: 'error',
      banner: { js: REQUIRE },
    })
    await soak(seconds, outfile)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
