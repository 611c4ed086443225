import {
  createServer as createHttp,
  request as ask,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { Readable } from 'node:stream'
import { arrayBuffer, text } from 'node:stream/consumers'
import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import express4 from 'express4'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer, type App, type NodeListener } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { BOTH, headed, initialize, message } from '../http/messages.ts'
import { Gate, tools } from '../http/server.ts'
import { ENDS, listen, tour } from './tour.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

const post = (
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = BOTH,
): Promise<Response> => fetch(url, { method: 'POST', body, headers: { ...headers } })

/** What a body parser of the site leaves behind, and what the site passes on. */
const PARSERS: Readonly<Record<string, (serve: NodeListener) => Listener>> = {
  'Express 4 without a parser': (serve) => express4().use('/mcp', serve),
  'Express 4 with express.json()': (serve) => express4().use(express4.json()).use('/mcp', serve),
  'Express 4 with a parser of forms, which leaves {}': (serve) =>
    express4()
      .use(express4.urlencoded({ extended: true }))
      .use('/mcp', serve),
  'Express 5 with express.json()': (serve) => express().use(express.json()).use('/mcp', serve),
  'Express 5 with express.raw()': (serve) =>
    express()
      .use(express.raw({ type: '*/*' }))
      .use('/mcp', serve),
  'Express 5 with express.text()': (serve) =>
    express()
      .use(express.text({ type: '*/*' }))
      .use('/mcp', serve),
  'node:http that passes text': (serve) => async (request, response) =>
    serve(request, response, await text(request)),
  'node:http that passes an ArrayBuffer': (serve) => async (request, response) =>
    serve(request, response, await arrayBuffer(request)),
  'node:http that passes a view of bytes': (serve) => async (request, response) => {
    const bytes = await arrayBuffer(request)
    const around = new Uint8Array(bytes.byteLength + 2)
    around.set(new Uint8Array(bytes), 1)
    serve(request, response, new DataView(around.buffer, 1, bytes.byteLength))
  },
  'Express 5 with a parser of forms': (serve) =>
    express()
      .use(express.urlencoded({ extended: true }))
      .use('/mcp', serve),
  'Express 5 with text that came before': (serve) =>
    express().use((request, _response, next) => (request.setEncoding('utf8'), next()), serve),
  'Koa without a parser': (serve) =>
    new Koa()
      .use((context) => {
        context.respond = false
        serve(context.req, context.res)
      })
      .callback(),
  'Koa with @koa/bodyparser': (serve) =>
    Object.assign(new Koa(), { silent: true })
      .use(bodyParser())
      .use((context) => {
        context.respond = false
        serve(context.req, context.res, context.request.body)
      })
      .callback(),
  'node:http with a parser of its own': (serve) => async (request, response) => {
    const body = await text(request)
    try {
      serve(request, response, body === '' ? undefined : JSON.parse(body))
    } catch {
      response.writeHead(400).end()
    }
  },
}

test.each(Object.entries(PARSERS))('%s: the mount does everything that it must do', async (_, mount) => {
  expect(await tour(fetch, await listen(createHttp(mount(tools().node()))))).toEqual(ENDS)
})

/** Sites that read the body and keep it. */
const FORGETFUL: Readonly<Record<string, (app: App) => Listener>> = {
  'node:http': (app) => async (request, response) => {
    await text(request)
    app.node()(request, response)
  },
  'node:http that still reads': (app) => (request, response) => {
    request.once('data', () => app.node()(request, response))
  },
  Express: (app) =>
    express().use((request, _response, next) => void text(request).then(() => next()), app.node()),
  Koa: (app) =>
    Object.assign(new Koa(), { silent: true })
      .use(bodyParser())
      .use((context) => {
        context.respond = false
        app.node()(context.req, context.res)
      })
      .callback(),
}

describe.each(Object.entries(FORGETFUL))('%s that keeps the body for itself', (_, mount) => {
  test('gets an answer at once, and the log says what to do', async () => {
    const logged: string[] = []
    const app = createServer({ name: 'x', version: '1', log: (_level, said) => void logged.push(said) })
    const url = await listen(createHttp(mount(app)))
    for (let round = 0; round < 3; round++) {
      const reply = await post(url, initialize())
      expect([reply.status, await reply.json()]).toMatchObject([500, { error: { code: -32603 } }])
    }
    expect(logged).toEqual([expect.stringContaining('app.node()(request, response, body)')])
  })
})

test('a web request whose body was read gets an answer that says what to do', async () => {
  const app = tools()
  const site = new Hono().all('/mcp', async ({ req }) => {
    await req.json()
    return app.fetch(req.raw)
  })
  const asked = new Request('http://localhost/mcp', { method: 'POST', body: initialize(), headers: BOTH })
  const reply = await site.fetch(asked)
  expect([reply.status, await reply.text()]).toEqual([
    500,
    expect.stringContaining('app.fetchWith({})(request, { body })'),
  ])
})

test('a web handler takes the body that the framework parsed, its text and its bytes', async () => {
  const serve = tools().fetchWith({})
  const site = new Hono()
    .post('/mcp', async ({ req }) => serve(req.raw, { body: await req.json() }))
    .post('/text', async ({ req }) => serve(req.raw, { body: await req.text() }))
    .post('/buffer', async ({ req }) => serve(req.raw, { body: await req.arrayBuffer() }))
    .post('/bytes', async ({ req }) => serve(req.raw, { body: new Uint8Array(await req.arrayBuffer()) }))
  for (const path of ['/mcp', '/text', '/buffer', '/bytes']) {
    const url = `http://localhost${path}`
    const reply = await site.fetch(new Request(url, { method: 'POST', body: initialize(), headers: BOTH }))
    expect(await reply.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  }
})

/** What the server cannot read a body from. */
const OTHERS: Readonly<Record<string, () => unknown>> = {
  'a Blob': () => new Blob([initialize()]),
  'a web stream': () => new Response(initialize()).body,
  'a form': () => new FormData(),
  'a Map': () => new Map(Object.entries(JSON.parse(initialize()))),
}

test.each(Object.entries(OTHERS))('%s is not a body, and the log says what is', async (_, body) => {
  const logged: string[] = []
  const create = (): App =>
    createServer({ name: 'x', version: '1', log: (_level, said) => void logged.push(said) })
  const serve = create().node()
  const url = await listen(createHttp((request, response) => serve(request, response, body())))
  const asked = new Request('http://localhost/mcp', { method: 'POST', body: initialize(), headers: BOTH })
  for (const reply of [await post(url, initialize()), await create().fetchWith({})(asked, { body: body() })])
    expect([reply.status, await reply.json()]).toMatchObject([500, { error: { code: -32603 } }])
  expect(logged).toEqual(Array(2).fill(expect.stringContaining('parsed, as text or as bytes')))
})

test('a stream is no body for a web handler', async () => {
  const asked = new Request('http://localhost/mcp', { method: 'POST', body: initialize(), headers: BOTH })
  const reply = await tools().fetchWith({})(asked, { body: Readable.from([initialize()]) })
  expect([reply.status, await reply.text()]).toEqual([
    500,
    expect.stringContaining('app.fetchWith({})(request, { body })'),
  ])
})

test('a web request whose body somebody else is about to read gets the same answer', async () => {
  const asked = new Request('http://localhost/mcp', { method: 'POST', body: initialize(), headers: BOTH })
  asked.body?.getReader()
  const reply = await tools().fetch(asked)
  expect([reply.status, await reply.text()]).toEqual([
    500,
    expect.stringContaining('app.fetchWith({})(request, { body })'),
  ])
})

test('an empty body is unreadable, even if somebody else read it', async () => {
  const serve = tools().node()
  const url = await listen(
    createHttp((request, response) => void text(request).then(() => serve(request, response))),
  )
  expect((await post(url, '')).status).toBe(400)
})

test('bytes that are not UTF-8 are unreadable, whoever read them', async () => {
  const site = express()
    .use(express.raw({ type: '*/*' }))
    .use('/mcp', tools().node())
  const body = Buffer.from([0x22, 0xff, 0x22])
  const url = await listen(createHttp(site))
  const reply = await fetch(url, { method: 'POST', body, headers: { ...BOTH } })
  expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code: -32700 } }])
})

test.each([null, 'text', 7, true, []])(
  'a passed body that is not a message (%j) is rejected',
  async (body) => {
    const serve = tools().node()
    const url = await listen(createHttp((request, response) => serve(request, response, body)))
    expect((await post(url, initialize())).status).toBe(400)
  },
)

test('a body that is passed on counts, whatever the framework left on the request', async () => {
  const serve = tools().node()
  const url = await listen(
    createHttp((request, response) =>
      serve(Object.assign(request, { body: { not: 'this' } }), response, JSON.parse(initialize())),
    ),
  )
  expect((await post(url, message('ping', {}, 1))).status).toBe(200)
})

const SMALL: Partial<Limits> = { httpBytes: 2000, depth: 8, values: 50, keys: 20, stringLength: 1000 }
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])

/** Everything that a parsed body may exceed. */
const EXCESS: readonly (readonly [keyof Limits, unknown, number, string])[] = [
  ['httpBytes', ['x'.repeat(999), 'x'.repeat(999)], 413, 'larger than 2000 bytes'],
  ['httpBytes', { ['x'.repeat(999)]: 1, ['y'.repeat(999)]: 1 }, 413, 'larger than 2000 bytes'],
  ['depth', nested(9), 400, 'deeper than 8 levels'],
  ['values', Array(60).fill(0), 400, 'more than 50 values'],
  [
    'keys',
    Object.fromEntries(Array.from({ length: 30 }, (_, at) => [at, 1])),
    400,
    'more than 20 object members',
  ],
  ['stringLength', 'x'.repeat(1001), 400, 'longer than 1000 characters'],
  ['stringLength', { ['x'.repeat(1001)]: 1 }, 400, 'longer than 1000 characters'],
]

/** Mounts a server behind a body parser of Express. */
const behind = (parser: express.RequestHandler, app: App): Promise<string> =>
  listen(createHttp(express().use(parser).use(app.node())))

const GIVEN: Readonly<Record<string, (app: App) => (body: string) => Promise<Response>>> = {
  'request.body': (app) => async (body) => {
    const url = await listen(createHttp(express().use(express.json()).use('/mcp', app.node())))
    return fetch(url, {
      method: 'POST',
      body: chunked(body),
      headers: { ...BOTH },
      duplex: 'half',
    } as RequestInit)
  },
  'the third argument': (app) => async (body) => {
    const serve = app.node()
    const url = await listen(
      createHttp((request, response) => {
        void text(request).then((read) => serve(request, response, JSON.parse(read)))
      }),
    )
    return post(url, body)
  },
  'the bytes': (app) => async (body) => post(await behind(express.raw({ type: '*/*' }), app), body),
  'its text': (app) => async (body) => post(await behind(express.text({ type: '*/*' }), app), body),
  '{ body } of a web handler': (app) => async (body) =>
    app.fetchWith({})(new Request('http://localhost/mcp', { method: 'POST', headers: { ...BOTH } }), {
      body: JSON.parse(body),
    }),
}

function chunked(body: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(body))
      controller.close()
    },
  })
}

describe.each(Object.entries(GIVEN))('a body that is passed on as %s', (_, mount) => {
  test.each(EXCESS)('is subject to limits.%s', async (_limit, data, status, words) => {
    const app = createServer({ name: 'small', version: '1', limits: SMALL, log: () => undefined })
    const reply = await mount(app)(message('ping', { data: data as never }, 1))
    expect([reply.status, await reply.text()]).toEqual([status, expect.stringContaining(words)])
  })

  test('is served up to the limits', async () => {
    const app = createServer({ name: 'small', version: '1', limits: SMALL, log: () => undefined })
    const data = { deep: nested(5), long: 'x'.repeat(1000), many: Array(30).fill(0) }
    const reply = await mount(app)(message('ping', { data: data as never }, 1))
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('Mcp-Session-Id')])
  })
})

test('limits.inFlightBytes a parsed body counts while it runs, even if its length was not announced', async () => {
  const gate = new Gate()
  const input = { type: 'object', properties: { text: { type: 'string' } } } as const
  const limits = { inFlightBytes: 50_000 }
  const app = createServer({ name: 'busy', version: '1', limits, log: () => undefined }).tool(
    'wait',
    { input },
    async () => {
      gate.enter()
      await gate.opened
      return 'done'
    },
  )
  const url = await listen(createHttp(express().use(express.json()).use('/mcp', app.node())))
  const { body, headers } = headed('tools/call', { name: 'wait', arguments: { text: 'x'.repeat(40_000) } })
  const send = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = ask(
        url,
        { method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' } },
        (reply) => {
          reply.resume()
          resolve(reply.statusCode)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  const first = send()
  await gate.entered
  expect(await send()).toBe(429)
  gate.open()
  expect(await first).toBe(200)
})

test('the body of a client that has left is read no further, through fetch', async () => {
  const app = createServer({
    name: 'bodies',
    version: '1',
    limits: { bodyMs: 600_000 },
    log: () => undefined,
  })
  const isRead = new Deferred<undefined>()
  const isCancelled = new Deferred<undefined>()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
    pull: () => isRead.resolve(undefined),
    cancel: () => isCancelled.resolve(undefined),
  })
  const leaving = new AbortController()
  const init = { method: 'POST', headers: BOTH, body, signal: leaving.signal, duplex: 'half' }
  const answer = app.fetch(new Request('http://127.0.0.1/mcp', init as RequestInit))
  await isRead.promise
  leaving.abort()
  await isCancelled.promise
  expect((await answer).status).toBe(408)
})
