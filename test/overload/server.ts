// The server of these tests, as a program. Its argument is JSON: { limits, port, onUncaught }. It answers to whoever
// started it over the channel between processes, so that it can be asked even when it takes no requests.
import { pbkdf2Sync } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { endpointsOf, serviceOf } from '../../src/app/app.ts'
import { createServer, type ServerOptions } from '../../src/index.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import type { State } from './program.ts'

interface Order {
  readonly limits?: ServerOptions['limits']
  readonly port?: number
  readonly onUncaught?: 'report' | 'exit'
}

const { limits = {}, port = 0, onUncaught = 'report' } = JSON.parse(process.argv[2] ?? '{}') as Order
const number = { type: 'object', properties: { of: { type: 'number' } }, required: ['of'] } as const
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const reports: string[] = []
const aborted: string[] = []
let pooled = 0
const turns: (() => void)[] = []

const app = createServer({
  name: 'overload',
  version: '1.0.0',
  limits,
  log: (_, message, facts = {}) => {
    const { error, ms } = facts as { error?: Error; ms?: number }
    reports.push(`${message}: ${error?.message ?? ms}`)
  },
})
  .tool('echo', { input: text }, ({ text: said }) => said)
  .tool('spin', { input: number }, ({ of }) => {
    spin(of)
    return 'spun'
  })
  .tool('work', { input: number }, ({ of }) => pbkdf2Sync('x', 'y', of * 2000, 32, 'sha256').toString('hex'))
  .tool('sleep', { input: number }, async ({ of }, { signal }) => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, of)
      signal.addEventListener('abort', () => {
        aborted.push('sleep')
        clearTimeout(timer)
        resolve()
      })
    })
    return 'slept'
  })
  .tool('pool', { input: number }, ({ of }) => inPool(of))
  .tool('big', { input: number }, ({ of }) => 'x'.repeat(of))
  .tool('steps', { input: number }, async ({ of }, { progress }) => {
    for (let step = 1; step <= of; step++) {
      progress(step, of)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return 'stepped'
  })
  .tool('flood', {}, async (_, { signal, notify }) => {
    const line = 'x'.repeat(100_000)
    signal.addEventListener('abort', () => aborted.push('flood'))
    for (let step = 1; !signal.aborted && step < 10_000; step++) {
      notify('notifications/progress', { progressToken: 't', progress: step, message: line })
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
  .tool('stray', { input: text }, ({ text: how }) => {
    stray(how)
    return how
  })
  .resource('note://one', {}, () => 'one')
  .resource('file:///{+path}', {}, ({ path }) => path)

/** Ten at once, in the order of their coming, as behind a database. */
async function inPool(ms: number): Promise<string> {
  if (pooled >= 10) await new Promise<void>((resolve) => turns.push(resolve))
  pooled++
  await new Promise((resolve) => setTimeout(resolve, ms))
  pooled--
  turns.shift()?.()
  return 'pooled'
}

function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Lets an error escape in one of the ways that there are. */
function stray(how: string): void {
  const fail = (): never => {
    throw new Error(`stray ${how}`)
  }
  if (how === 'promise') void Promise.reject(new Error('stray promise'))
  else if (how === 'timer') setTimeout(fail)
  else if (how === 'listener') setImmediate(() => new EventEmitter().on('x', fail).emit('x'))
  else if (how === 'event') setImmediate(() => new EventEmitter().emit('error', new Error('stray event')))
  else if (how === 'stream') Readable.from(['x']).on('data', fail)
  else if (how === 'microtask') queueMicrotask(fail)
  else if (how === 'odd') void odd()
}

/** Rejects with something that is no error. */
async function odd(): Promise<void> {
  // oxlint-disable-next-line typescript/only-throw-error -- what careless code does
  throw undefined
}

process.on('message', () => {
  const [endpoint] = endpointsOf(app)
  const state: State = {
    running: endpoint?.running ?? 0,
    sessions: endpoint?.sessions.size ?? 0,
    unsent: budgetsOf(serviceOf(app), app.limits).write.total,
    rss: process.memoryUsage().rss,
    heap: collected(),
    counts: Object.fromEntries(app.counts),
    reports,
    aborted,
    resources: process.getActiveResourcesInfo(),
  }
  process.send?.(state)
})

function collected(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  return process.memoryUsage().heapUsed
}

const running = await app.listen({ http: { port }, onUncaught })
// Another server in the process, with the default, must not change that this one wants it to exit.
if (onUncaught === 'exit')
  await createServer({ name: 'neighbour', version: '1.0.0' }).listen({ http: { port: 0 } })
process.send?.(running.url)
