import { createServer as createHttp, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { BOTH, initialize } from '../http/messages.ts'
import { tools } from '../http/server.ts'
import { ENDS, listen, tour } from './tour.ts'

test('plain node:http takes app.node() as its listener', async () => {
  expect(await tour(fetch, await listen(createHttp(tools().node())))).toEqual(ENDS)
})

test('Express 5 takes app.node() under a path', async () => {
  const app = express()
  app.use('/mcp', tools().node())
  expect(await tour(fetch, await listen(createHttp(app)))).toEqual(ENDS)
})

test('Express 5 may have parsed the body before', async () => {
  const app = express()
  app.use(express.json())
  app.use('/mcp', tools().node())
  const url = await listen(createHttp(app))
  const post = (body: string): Promise<Response> => fetch(url, { method: 'POST', body, headers: { ...BOTH } })
  expect(await (await post(initialize())).json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`
  for (const body of [deep, '[]', '{}', '{"jsonrpc":"2.0","id":1,"method":1}'])
    expect((await post(body)).status).toBe(400)
  expect(await tour(fetch, url)).toEqual(ENDS)
})

test('limits.keys limits.stringLength hold for a body that Express parsed before', async () => {
  const app = express()
  app.use(express.json())
  const limits = { keys: 20, stringLength: 100 }
  const server = createServer({ name: 'small', version: '1', limits, log: () => undefined })
  app.use('/mcp', server.node())
  const url = await listen(createHttp(app))
  const post = async (params: object): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params })
    const { error } = (await (await fetch(url, { method: 'POST', body, headers: { ...BOTH } })).json()) as {
      readonly error: { readonly message: string }
    }
    return error.message
  }
  const many = Array.from({ length: 30 }, (_, at) => ({ [`k${at}`]: at }))
  expect(await post({ many })).toContain('more than 20 object members')
  expect(await post({ long: 'x'.repeat(101) })).toContain('longer than 100 characters')
  expect(await post({ ['x'.repeat(101)]: 1 })).toContain('longer than 100 characters')
  expect(await post({ long: 'x'.repeat(100) })).toContain('Mcp-Session-Id')
})

test('Fastify 5 hands over its raw request, with the body it parsed', async () => {
  const serve = tools().node()
  const app = fastify()
  onTestFinished(() => app.close())
  app.all('/mcp', (request, reply) => {
    reply.hijack()
    serve(Object.assign(request.raw, { body: request.body }), reply.raw)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  expect(await tour(fetch, `http://127.0.0.1:${port}/mcp`)).toEqual(ENDS)
})

test('Fastify 5 may leave the body to us', async () => {
  const serve = tools().node()
  const app = fastify()
  onTestFinished(() => app.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.all('/mcp', (request, reply) => {
    reply.hijack()
    serve(request.raw, reply.raw)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  expect(await tour(fetch, `http://127.0.0.1:${port}/mcp`)).toEqual(ENDS)
})

test('Hono takes app.fetch', async () => {
  const mcp = tools()
  const app = new Hono()
  app.all('/mcp', (context) => mcp.fetch(context.req.raw))
  expect(await tour((request) => app.fetch(request), 'http://localhost/mcp')).toEqual(ENDS)
})

test('app.fetch alone answers web requests', async () => {
  const { fetch: serve } = tools()
  expect(await tour((request) => serve(request), 'http://localhost/mcp')).toEqual(ENDS)
})

test('a mounted server can do without sessions', async () => {
  const url = await listen(createHttp(tools().node({ sessions: false })))
  const reply = await fetch(url, { method: 'POST', body: initialize(), headers: { ...BOTH } })
  expect([reply.status, reply.headers.get('mcp-session-id')]).toEqual([200, null])
  expect((await fetch(url)).status).toBe(405)
})

test('a web request that breaks off is refused and not thrown', async () => {
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"jsonrpc"'))
      controller.error(new Error('gone'))
    },
  })
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    body,
    headers: BOTH,
    duplex: 'half',
  } as RequestInit)
  expect((await tools().fetch(request)).status).toBe(400)
})

test('a mounted server rejects options it does not know', () => {
  expect(() => tools().node({ host: 'x' } as never)).toThrow(/host/)
})

test('H.origin-rebound a mount refuses a page whose own name was made to point to this machine', async () => {
  const server = createHttp(tools().node())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const statusOf = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { host, origin: `http://${host}`, 'content-type': 'application/json' }
      const sent = request({ port, method: 'POST', path: '/', headers }, (reply) => {
        reply.resume()
        resolve(reply.statusCode)
      })
      sent.on('error', reject)
      sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    })
  expect(await statusOf(`evil.example:${port}`)).toBe(403)
  expect(await statusOf(`localhost:${port}`)).toBe(400)
  await new Promise((resolve) => server.close(resolve))
})
