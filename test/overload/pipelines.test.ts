import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { endpointsOf, serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import type { AnyApp } from '../harness/connection.ts'
import { until } from '../hostile/peer.ts'
import { headed } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { Raw, send } from '../http/wire.ts'
import { Program } from './program.ts'

const LISTEN = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })

/** The text of an HTTP request. */
function toText({ body, headers }: { body: string; headers: Readonly<Record<string, string>> }): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}Content-Length: ${body.length}\r\n\r\n${body}`
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const callOf = (name: string, args: object = {}, id = 1): string =>
  toText(headed('tools/call', { name, arguments: { ...args } }, id))

/** A connection with an open event stream; everything that follows waits for its end. */
async function behindStream(port: number): Promise<Raw> {
  const raw = await new Raw(port).write(toText(LISTEN)).until(/event-stream/)
  onTestFinished(() => raw.destroy())
  return raw
}

/** A server whose requests may wait, and which counts those that were told to stop. */
function target(limits: object = {}): { readonly app: AnyApp; readonly stopped: string[] } {
  const stopped: string[] = []
  const app = createServer({ name: 'target', version: '1', limits, log: () => undefined })
    .tool('large', {}, () => 'x'.repeat(300_000))
    .tool('wait', {}, async (_, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      stopped.push('wait')
      return 'waited'
    })
    .tool('echo', {}, () => 'echoed')
  return { app: app as AnyApp, stopped }
}

async function expectServed(port: number): Promise<void> {
  expect((await send(port, headed('tools/call', { name: 'echo', arguments: { text: 'x' } }))).status).toBe(
    200,
  )
}

test('replies that wait behind event streams do not fill the memory of a server', async () => {
  const program = await Program.start({
    flags: ['--max-old-space-size=100'],
    limits: { unsentBytes: 2 ** 25 },
  })
  const text = callOf('big', { of: 60_000 }).repeat(120)
  const raws: Raw[] = []
  for (let each = 0; each < 60; each++) {
    const raw = await behindStream(program.port)
    raws.push(raw.write(text))
    await expectServed(program.port)
  }
  await expect.poll(async () => (await program.state()).counts['too_many_pipelined']).toBeGreaterThan(0)
  expect(raws.some(({ closed }) => closed)).toBe(true)
  const { unsent } = await program.state()
  expect(unsent).toBe(0)
  await expectServed(program.port)
})

test.each([
  ['a tool call', callOf('echo')],
  ['a call that runs', callOf('wait')],
  ['a health check', get('/healthz')],
  ['an unknown path', get('/nowhere')],
  ['a rejected head', get('/mcp')],
  ['a stream of HTTP+SSE', get('/sse').replace('\r\n\r\n', '\r\nAccept: text/event-stream\r\n\r\n')],
  ['a message of HTTP+SSE', get('/messages?sessionId=x').replace('GET', 'POST')],
  ['an envelope of the gist', get('/jobs/x')],
])('%s that waits behind a stream counts, and too many abort the connection', async (_, text) => {
  const { app } = target({ pipelined: 8 })
  const running = await app.listen({ http: { port: 0, sse: true, gist: true } })
  onTestFinished(() => running.close())
  const port = Number(new URL(running.url as string).port)
  const { pipelined } = budgetsOf(serviceOf(app), app.limits)
  const raw = await behindStream(port)
  raw.write(text.repeat(8))
  await until(() => pipelined.total > 8 * 8192, 5000)
  expect(raw.closed).toBe(false)
  raw.write(text)
  await raw.gone()
  await until(() => pipelined.total === 0, 5000)
  expect(app.counts.get('too_many_pipelined')).toBe(1)
  await expectServed(port)
})

test('requests that wait behind a stream of a mount count, too', async () => {
  const { app } = target({ pipelined: 8 })
  const server = createHttp(app.node())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const raw = await behindStream(port)
  await raw.write(callOf('echo').repeat(9)).gone()
  expect(app.counts.get('too_many_pipelined')).toBe(1)
  await expectServed(port)
})

test('when a connection closes, requests that wait on it for an earlier reply end, and nothing is counted for them', async () => {
  const { app, stopped } = target()
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const port = Number(new URL(running.url as string).port)
  const { write, pipelined } = budgetsOf(serviceOf(app), app.limits)
  const session = await open(port)
  const raw = await behindStream(port)
  const stream = Object.entries({ ...session.headers, accept: 'text/event-stream' })
  const head = stream.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  raw.write(callOf('wait') + callOf('large') + `GET /mcp HTTP/1.1\r\nHost: localhost\r\n${head}\r\n`)
  await until(() => pipelined.total > 300_000, 5000)
  const [endpoint] = endpointsOf(app)
  await until(() => endpoint?.sessions.find(session.id)?.busy === true, 5000)
  raw.destroy()
  await until(() => stopped.length === 1 && endpoint?.running === 0, 5000)
  await until(() => endpoint?.sessions.find(session.id)?.busy === false, 5000)
  expect([write.total, pipelined.total]).toEqual([0, 0])
})

test('while replies that wait take too much in total, connections that make no progress are aborted', async () => {
  const { app } = target({ unsentBytes: 2_000_000 })
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const port = Number(new URL(running.url as string).port)
  const { pipelined } = budgetsOf(serviceOf(app), app.limits)
  const raws: Raw[] = []
  for (let each = 0; each < 12; each++) {
    const raw = await behindStream(port)
    raws.push(raw.write(callOf('large').repeat(3)))
    await expectServed(port)
  }
  await until(() => raws.some(({ closed }) => closed), 10_000)
  expect(pipelined.total).toBeLessThan(3_000_000)
  await expectServed(port)
})
