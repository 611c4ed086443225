// The server under soak. It listens over every network transport, or over stdio if its argument is "stdio". Its parent can request its state over IPC.
import { readdirSync } from 'node:fs'
import { endpointsOf, serviceOf } from '../src/app/app.ts'
import { createServer, ToolError } from '../src/index.ts'
import type { TlsOptions } from '../src/transport/tls/options.ts'

/** The state that the server reports. */
export interface ServerState {
  readonly heap: number
  readonly rss: number
  readonly sessions: number
  readonly running: number
  readonly descriptors: number
  readonly handles: number
  readonly counts: Readonly<Record<string, number>>
}

const [mode = 'all', idleMs = '20000', unix = '', tls = '{}'] = process.argv.slice(2)
const token = {
  type: 'object',
  properties: { token: { type: 'string' }, ms: { type: 'number' } },
  required: ['token'],
} as const
let extras = 0

const app = createServer({
  name: 'soak',
  version: '1.0.0',
  limits: { sessionIdleMs: Number(idleMs), keepAliveMs: 1000, idleMs: 2000 },
  log: () => undefined,
})
  .tool('echo', { input: token }, ({ token: text }) => text)
  .tool('slow', { input: token }, async ({ token: text, ms = 20 }, { signal }) => {
    await pause(ms, signal)
    return text
  })
  .tool('steps', { input: token }, async ({ token: text }, { progress, signal }) => {
    for (let step = 1; step <= 5; step++) {
      progress(step, 5, text)
      await pause(2, signal)
    }
    return text
  })
  .tool('large', { input: token }, ({ token: text }) => text.padEnd(100_000, '.'))
  .tool('refuse', { input: token }, ({ token: text }) => {
    throw new ToolError(text)
  })
  .tool('break', { input: token }, ({ token: text }) => {
    throw new Error(text)
  })
  .tool('stray', { input: token }, ({ token: text }) => {
    void Promise.reject(new Error(text))
    return text
  })
  .tool('change', { input: token }, ({ token: text }) => {
    app.updated('note://one')
    app.remove('tool', `extra${extras}`)
    app.tool(`extra${++extras}`, {}, () => 'extra')
    return text
  })
  .resource('note://one', {}, () => 'one')

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

process.on('message', () => {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const [endpoint] = endpointsOf(app)
  const state: ServerState = {
    heap: heapUsed,
    rss,
    sessions: endpoint?.sessions.size ?? 0,
    running: serviceOf(app).load.running,
    descriptors: readdirSync('/proc/self/fd').length,
    handles: process.getActiveResourcesInfo().length,
    counts: Object.fromEntries(app.counts),
  }
  process.send?.(state)
})

if (mode === 'stdio') await app.listen({ stdio: true })
else {
  const { url, addresses } = await app.listen({
    http: { port: 0, sse: true },
    ws: true,
    tcp: { port: 0 },
    unix,
  })
  const secure = await app.listen({ tcp: { port: 0, tls: JSON.parse(tls) as TlsOptions } })
  process.send?.({ url, addresses: { ...addresses, tls: secure.addresses.tcp } })
}
