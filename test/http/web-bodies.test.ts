import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer, type App, type Plugin } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { LISTENERS } from './listeners.ts'

const MB = 1 << 20

function appWith(
  endpoints: NonNullable<Plugin['endpoints']>,
  limits: Partial<Limits> = {},
  logged: string[] = [],
): App {
  const log = (_level: string, message: string): void => void logged.push(message)
  return createServer({ name: 'web', version: '1', log, limits }).use({ endpoints })
}

const EACH = Object.keys(LISTENERS) as (keyof typeof LISTENERS)[]

async function get(port: number, path: string): Promise<IncomingMessage> {
  const asking = request({ port, path, host: '127.0.0.1', agent: false }).end()
  const [reply] = (await once(asking, 'response')) as [IncomingMessage]
  reply.on('error', () => undefined)
  onTestFinished(() => void asking.destroy())
  return reply
}

/** A body of `count` equal pieces that are there at once, and what happened to it. */
function pieces(
  count: number,
  size: number,
): { body: ReadableStream; made: () => number; left: Promise<void> } {
  let made = 0
  const left = new Deferred<void>()
  const body = new ReadableStream({
    pull(controller) {
      if (made++ < count) controller.enqueue(new Uint8Array(size))
      else controller.close()
    },
    cancel: () => left.resolve(),
  })
  return { body, made: () => made, left: left.promise }
}

test.each(EACH)('%s: a body arrives piece by piece, also its head alone', async (adapter) => {
  let feed!: ReadableStreamDefaultController
  const body = new ReadableStream({ start: (controller) => void (feed = controller) })
  const port = await LISTENERS[adapter](appWith({ '/feed': () => new Response(body, { status: 203 }) }))
  const reply = await get(port, '/feed')
  expect([reply.statusCode, reply.headers['content-length']]).toEqual([203, undefined])
  for (const piece of ['one', 'two']) {
    feed.enqueue(new TextEncoder().encode(piece))
    expect(String((await once(reply, 'data'))[0])).toBe(piece)
  }
  feed.close()
  await once(reply, 'end')
})

test('fetch: a body arrives piece by piece, and is cancelled when it is not wanted', async () => {
  let feed!: ReadableStreamDefaultController
  const left = new Deferred<void>()
  const body = new ReadableStream({
    start: (controller) => void (feed = controller),
    cancel: () => left.resolve(),
  })
  const app = appWith({ '/feed': () => new Response(body) })
  const reader = (await app.fetch(new Request('http://localhost/feed'))).body!.getReader()
  feed.enqueue(Uint8Array.of(1))
  expect(await reader.read()).toEqual({ done: false, value: Uint8Array.of(1) })
  await reader.cancel()
  await left.promise
})

test.each(EACH)('%s: a body that is there at once has a length', async (adapter) => {
  const port = await LISTENERS[adapter](appWith({ '/five': () => new Response('12345') }))
  const reply = await get(port, '/five')
  expect([reply.headers['content-length'], await text(reply)]).toEqual(['5', '12345'])
})

test.each(EACH)(
  '%s: a body is cancelled when the client leaves, also before it has begun',
  async (adapter) => {
    for (const begins of [true, false]) {
      const left = new Deferred<void>()
      const body = new ReadableStream({
        start: (controller) => void (begins && controller.enqueue(Uint8Array.of(1))),
        cancel: () => left.resolve(),
      })
      const port = await LISTENERS[adapter](appWith({ '/feed': () => new Response(body) }))
      const reply = await get(port, '/feed')
      reply.destroy()
      expect(await left.promise).toBeUndefined()
    }
  },
)

test.each(EACH)('%s: a body is not read once the client left during the handler', async (adapter) => {
  const asked = new Deferred<void>()
  const { body, made, left } = pieces(1000, MB)
  const handler = async ({ signal }: Request): Promise<Response> => {
    asked.resolve()
    await once(signal, 'abort')
    return new Response(body)
  }
  const port = await LISTENERS[adapter](appWith({ '/export': handler }))
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write('GET /export HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await asked.promise
  socket.destroy()
  await left
  expect(made()).toBeLessThan(10)
})

test.each(EACH)(
  '%s: a body waits for its client, and one that reads nothing is disconnected',
  async (adapter) => {
    const { body, made, left } = pieces(200, MB)
    const app = appWith({ '/export': () => new Response(body) }, { bodyMs: 200 })
    const port = await LISTENERS[adapter](app)
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    socket.pause().write('GET /export HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await left
    expect(made()).toBeLessThan(100)
    expect(app.counts.get('slow_reader')).toBe(1)
  },
)

test.each(EACH)('%s: a long body leaves time for other clients, and arrives complete', async (adapter) => {
  const { body, made } = pieces(200_000, 100)
  const app = appWith({ '/export': () => new Response(body), '/other': () => new Response('other') })
  const port = await LISTENERS[adapter](app)
  let size = 0
  const reply = await get(port, '/export')
  const whole = (async () => {
    for await (const piece of reply) size += (piece as Uint8Array).length
  })()
  expect(await text(await get(port, '/other'))).toBe('other')
  expect(made()).toBeLessThan(200_000)
  await whole
  expect(size).toBe(20_000_000)
})

test.each(EACH)(
  '%s: a body that breaks, or is no bytes, breaks the reply, and the log says why',
  async (adapter) => {
    for (const broken of [new Error('disk full'), 'text']) {
      const logged: string[] = []
      let feed!: ReadableStreamDefaultController
      const body = new ReadableStream({ start: (controller) => void (feed = controller) })
      const port = await LISTENERS[adapter](appWith({ '/export': () => new Response(body) }, {}, logged))
      const reply = await get(port, '/export')
      if (typeof broken === 'string') feed.enqueue(broken)
      else feed.error(broken)
      await expect(text(reply)).rejects.toThrow('aborted')
      expect(logged).toHaveLength(1)
    }
  },
)

test.each(EACH)('%s: a handler cannot say how its reply is sent on the connection', async (adapter) => {
  const headers = {
    'transfer-encoding': 'chunked',
    connection: 'close, x-hop',
    'keep-alive': 'timeout=99',
    'x-hop': '1',
    upgrade: 'x',
    'x-kept': '2',
  }
  const app = appWith({
    '/hop': () => new Response('12345', { headers }),
    '/none': () => new Response(null, { status: 204 }),
    '/same': () => new Response(null, { status: 304 }),
  })
  const port = await LISTENERS[adapter](app)
  const reply = await get(port, '/hop')
  expect(await text(reply)).toBe('12345')
  expect(reply.headers).toMatchObject({ 'content-length': '5', 'x-kept': '2' })
  for (const name of ['transfer-encoding', 'x-hop', 'upgrade'])
    expect([name, reply.headers[name]]).toEqual([name, undefined])
  expect(reply.headers['keep-alive']).not.toBe('timeout=99')
  for (const path of ['/none', '/same'])
    expect([path, (await get(port, path)).headers['content-length']]).toEqual([path, undefined])
})

test.each(EACH)('%s: HEAD cancels a long body, and does not claim that it is empty', async (adapter) => {
  const { body, made, left } = pieces(1000, MB)
  const port = await LISTENERS[adapter](appWith({ '/export': () => new Response(body) }))
  const asking = request({ port, method: 'HEAD', path: '/export', host: '127.0.0.1', agent: false }).end()
  const [reply] = (await once(asking, 'response')) as [IncomingMessage]
  expect([reply.statusCode, reply.headers['content-length'], await text(reply)]).toEqual([200, undefined, ''])
  await left
  expect(made()).toBeLessThan(10)
})

test.each(EACH)('%s: a long body with a header that HTTP cannot carry is cancelled', async (adapter) => {
  const { body, left } = pieces(1000, MB)
  const response = new Response(body, { headers: { 'x-own': '\x01' } })
  const port = await LISTENERS[adapter](appWith({ '/export': () => response }))
  expect((await get(port, '/export')).statusCode).toBe(500)
  await left
})

test.each(EACH)(
  '%s: nothing is reported when a client leaves while the next piece is awaited',
  async (adapter) => {
    const logged: string[] = []
    const left = new Deferred<void>()
    const stream = (): Response =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new Uint8Array(10)),
          cancel: () => left.resolve(),
        }),
      )
    const app = appWith({ '/events': stream, '/other': () => new Response('ok') }, {}, logged)
    const port = await LISTENERS[adapter](app)
    const reply = await get(port, '/events')
    await once(reply, 'data')
    reply.destroy()
    await left.promise
    expect(await text(await get(port, '/other'))).toBe('ok')
    expect(logged.filter((line) => line.includes('failed'))).toEqual([])
  },
)
