import { inspect } from 'node:util'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { headed } from '../http/messages.ts'

const LARGE = 1_000_000
const MUCH = headed('tools/call', { name: 'much' }, 1)
const EVENTS = headed('tools/call', { name: 'events', _meta: { progressToken: 1 } }, 1)
const ECHO = headed('tools/call', { name: 'echo' }, 1)

function server(): App {
  return createServer({
    name: 'unsent',
    version: '1',
    limits: { unsentBytes: 2_500_000 },
    log: () => undefined,
  })
    .tool('much', {}, () => 'x'.repeat(LARGE))
    .tool('events', {}, async (_, { progress }) => {
      progress(1, 2, 'x'.repeat(LARGE))
      await new Promise((resolve) => setImmediate(resolve))
      return 'done'
    })
    .tool('echo', {}, () => 'echo')
}

const unsent = (app: App): number => budgetsOf(serviceOf(app), app.limits).write.total

const post = (app: App, { body, headers }: typeof MUCH): Promise<Response> =>
  app.fetch(new Request('http://localhost/mcp', { method: 'POST', body, headers }))

test.each([
  ['answers', MUCH],
  ['events', EVENTS],
])('limits.unsentBytes counts %s that nobody reads through app.fetch', async (_what, request) => {
  const app = server()
  const unread: Response[] = []
  for (let each = 0; each < 3; each++) unread.push(await post(app, request))
  await expect.poll(() => unsent(app)).toBeGreaterThan(3 * LARGE)
  const refused = await post(app, ECHO)
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 1004 } }])
  const [first, second, third] = unread as [Response, Response, Response]
  expect((await first.text()).length).toBeGreaterThan(LARGE)
  await second.body?.cancel()
  expect((await post(app, ECHO)).status).toBe(200)
  await third.body?.cancel()
  expect(unsent(app)).toBe(0)
})

test('limits.unsentBytes a client behind Hono that reads nothing is aborted when others need the room', async () => {
  // Hono prints the error of every connection that is aborted.
  const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => silent.mockRestore())
  const app = server()
  const hono = new Hono().post('/mcp', ({ req }) => app.fetch(req.raw))
  const running = serve({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => void running.close())
  await new Promise((resolve) => running.once('listening', resolve))
  const { port } = running.address() as AddressInfo
  const head = Object.entries({ host: 'localhost', 'content-length': MUCH.body.length, ...MUCH.headers })
  const text = `POST /mcp HTTP/1.1\r\n${head.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n${MUCH.body}`
  const sockets = Array.from({ length: 24 }, () => {
    const socket = connect({ port, host: '127.0.0.1' }).pause()
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    socket.write(text.repeat(16))
    return socket
  })
  expect(sockets).toHaveLength(24)
  const served = async (): Promise<number> => (await post(app, ECHO)).status
  await expect.poll(served, { interval: 5 }).toBe(503)
  await expect.poll(served).toBe(200)
  expect(app.counts.get('slow_reader')).toBeGreaterThan(0)
  const printed = silent.mock.calls.map(([error]) => inspect(error))
  expect(new Set(printed)).toEqual(new Set(['[Error: the client reads too slowly]']))
})
