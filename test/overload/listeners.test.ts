import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { serveFetch } from '../../src/transport/http/server/fetch.ts'
import { headed } from '../http/messages.ts'
import { start, type Started } from '../http/server.ts'
import { Raw, send, stream, type Stream } from '../http/wire.ts'

/** One address opens as many streams as it can; the other is a client like any. */
const MANY = '127.0.0.1'
const OTHER = '127.0.0.2'

const LISTEN = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
const MOST = 8

/** A server with room for a few streams. */
async function serve(): Promise<Started> {
  const app = createServer({ name: 'listeners', version: '1', log: () => undefined })
  app.tool('slow', {}, async (_, { progress, signal }) => {
    progress(1)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return ''
  })
  return start(app, { limits: { sessions: MOST } })
}

async function listen(port: number, from: string): Promise<Stream> {
  const opened = await stream(port, { ...LISTEN, from })
  onTestFinished(() => opened.drop())
  return opened.status === 200 ? opened.until(({ messages }) => messages.length > 0) : opened
}

async function fill(port: number, from = MANY): Promise<Stream[]> {
  const all: Stream[] = []
  for (let at = 0; at < MOST; at++) all.push(await listen(port, from))
  expect(all.map(({ status }) => status)).toEqual(Array.from({ length: MOST }, () => 200))
  return all
}

test('L.addresses streams of listeners from one address leave room for another, which keeps it', async () => {
  const { port, app } = await serve()
  const many = await fill(port)
  const refused = await listen(port, MANY)
  expect([refused.status, refused.response.headers['retry-after']]).toEqual([503, '30'])
  const other = await listen(port, OTHER)
  expect(other.status).toBe(200)
  // The newest ends as usual, with its result, so that its client may listen elsewhere; those who were there before stay.
  const last = await (many.at(-1) as Stream).end()
  expect(last.messages.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
  for (let at = 0; at < 4; at++) expect((await listen(port, MANY)).status).toBe(503)
  app.tool('new', {}, () => '')
  for (const each of [other, ...many.slice(0, -1)]) {
    await each.until(({ messages }) => messages.length > 1)
    expect(each.messages.at(-1)).toMatchObject({ method: 'notifications/tools/list_changed' })
  }
  expect(app.counts.get('listener_evicted')).toBe(1)
})

test('L.addresses an address with far fewer streams gets more of them, until it has a share', async () => {
  const { port } = await serve()
  await fill(port)
  const statuses: number[] = []
  for (let at = 0; at < 4; at++) statuses.push((await listen(port, OTHER)).status)
  expect(statuses).toEqual([200, 200, 503, 503])
})

test('L.addresses an authenticated caller has room beside anonymous ones, and they beside it', async () => {
  const { port, endpoint } = await serve()
  const answer = serveFetch(endpoint)
  const listenAs = (sub: string): Promise<Response> => {
    const request = new Request('http://localhost/mcp', { method: 'POST', ...LISTEN })
    return answer(request, { auth: { sub } })
  }
  const anonymous = await fill(port)
  const ann = await listenAs('ann')
  expect(ann.status).toBe(200)
  await (anonymous.at(-1) as Stream).end()
  for (const each of anonymous) each.drop()
  await expect.poll(() => endpoint.running).toBe(1)
  for (let at = 1; at < MOST; at++) expect((await listenAs('ann')).status).toBe(200)
  expect((await listenAs('ann')).status).toBe(503)
  expect((await listen(port, OTHER)).status).toBe(200)
})

test('a stream whose client left makes room', async () => {
  const { port, endpoint } = await serve()
  const [first] = await fill(port)
  first?.drop()
  await expect.poll(() => endpoint.running).toBe(MOST - 1)
  expect((await listen(port, MANY)).status).toBe(200)
  expect((await listen(port, MANY)).status).toBe(503)
})

test('requests to listen that are rejected take no room', async () => {
  const { port } = await serve()
  const bad = headed('subscriptions/listen', { notifications: 1 })
  for (let at = 0; at < 2 * MOST; at++)
    expect((await send(port, bad)).json).toMatchObject({ error: { code: -32602 } })
  await fill(port)
})

test('event streams of other requests take no room of listeners', async () => {
  const { port } = await serve()
  const call = headed('tools/call', { name: 'slow', _meta: { progressToken: 1 } })
  for (let at = 0; at < MOST; at++) {
    const running = await stream(port, call)
    onTestFinished(() => running.drop())
    await running.until(({ messages }) => messages.length === 1)
  }
  expect(await fill(port)).toHaveLength(MOST)
})

test('L.addresses streams that wait for others on the same connection count, too', async () => {
  const { port } = await serve()
  const head = Object.entries({ ...LISTEN.headers, 'content-length': String(LISTEN.body.length) })
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const raw = new Raw(port)
  onTestFinished(() => raw.destroy())
  raw.write(`POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n${LISTEN.body}`.repeat(2 * MOST))
  await raw.until(/acknowledged/)
  expect((await listen(port, OTHER)).status).toBe(200)
})
