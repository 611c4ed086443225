import { once } from 'node:events'
import { createServer as createHttp, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { listen } from './tour.ts'

/** A server with an endpoint that tells what it was sent. */
function echoing(logged: string[] = []): App {
  const app = createServer({ name: 'web', version: '1', log: (_level, text) => void logged.push(text) })
  return app.use({
    endpoints: {
      '/echo': async (request) => {
        const { method, url, headers } = request
        const length = headers.get('content-length')
        const body = await request.text()
        const isTrue = length === null || Number(length) === new TextEncoder().encode(body).length
        return Response.json([method, new URL(url).pathname, body, isTrue])
      },
    },
  })
}

const SITES: Readonly<Record<string, (app: App) => Promise<string>>> = {
  'Express without a parser': (app) => listen(createHttp(express().use('/mcp', app.node()))),
  'Express with every parser': (app) =>
    listen(
      createHttp(
        express()
          .use(express.json({ strict: false }), express.urlencoded({ extended: false }), express.text())
          .use(express.raw())
          .use('/mcp', app.node()),
      ),
    ),
  'Express with a parser of nested forms': (app) =>
    listen(
      createHttp(
        express()
          .use(express.urlencoded({ extended: true }))
          .use('/mcp', app.node()),
      ),
    ),
  Fastify: async (app) => {
    const site = fastify({ forceCloseConnections: true })
    onTestFinished(() => site.close())
    const serve = app.node()
    const parse = { parseAs: 'string' } as const
    site.addContentTypeParser('application/x-www-form-urlencoded', parse, (_request, body, done) =>
      done(null, Object.fromEntries(formOf(String(body)))),
    )
    site.addContentTypeParser('*', parse, (_request, body, done) => done(null, body))
    site.all('/mcp/*', (request, reply) => {
      reply.hijack()
      serve(request.raw, reply.raw, request.body)
    })
    await site.listen({ port: 0, host: '127.0.0.1' })
    return `http://127.0.0.1:${(site.server.address() as AddressInfo).port}/mcp`
  },
}

/** The fields of a form, each with its value, or its values if there are several. */
function formOf(text: string): [string, string | string[]][] {
  const form = new URLSearchParams(text)
  return [...new Set(form.keys())].map((name) => {
    const all = form.getAll(name)
    return [name, all.length === 1 ? (all[0] as string) : all]
  })
}

test.each(Object.entries(SITES))(
  '%s: an endpoint of a plug-in gets the body as it was sent',
  async (_, start) => {
    const url = `${await start(echoing())}/echo`
    for (const [type, body] of [
      ['application/json', '{"a":[1,"ü"]}'],
      ['application/json; charset=utf-8', '{"a":null}'],
      ['application/vnd.api+json', '{"a":1}'],
      ['application/x-www-form-urlencoded', 'a=1&a=2&b=x+%26+y%C3%BC&c='],
      ['text/plain', 'a=1'],
      ['application/octet-stream', 'plain'],
    ] as const) {
      const reply = await fetch(url, { method: 'POST', body, headers: { 'content-type': type } })
      expect([type, await reply.json()]).toEqual([type, ['POST', '/mcp/echo', body, true]])
    }
    expect(await (await fetch(url)).json()).toEqual(['GET', '/mcp/echo', '', true])
  },
)

test('a body that cannot be restored from what the parser made of it is not passed on in another form', async () => {
  const logged: string[] = []
  const site = express()
    .use((request, _response, next) => {
      request.resume().once('end', () => {
        Object.assign(request, { body: { file: {} } })
        next()
      })
    })
    .use('/mcp', echoing(logged).node())
  const url = `${await listen(createHttp(site))}/echo`
  for (const type of ['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']) {
    const reply = await fetch(url, { method: 'POST', body: 'some', headers: { 'content-type': type } })
    expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining('body parser')])
  }
  expect(logged).toHaveLength(1)
})

test('an endpoint of a plug-in in Hono gets the body that the site has read', async () => {
  const serve = echoing().fetchWith({})
  const site = new Hono().post('/mcp/echo', async ({ req }) => serve(req.raw, { body: await req.json() }))
  const headers = { 'content-type': 'application/json' }
  const reply = await site.request('/mcp/echo', { method: 'POST', body: '{"a":1}', headers })
  expect(await reply.json()).toEqual(['POST', '/mcp/echo', '{"a":1}', true])
})

test.each(['/\\evil.example/where', '//evil.example/where', '/\\/evil.example/where'])(
  'the host that an endpoint sees is that of the Host header, whatever the target %s looks like',
  async (path) => {
    const app = createServer({ name: 'web', version: '1', log: () => undefined })
    app.use({ endpoints: { '/where': ({ url }) => new Response(new URL(url).host) } })
    const server = createHttp(app.node({ hosts: ['mcp.example'] })).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const asked = request({ port, path, headers: { host: 'mcp.example' }, agent: false }).end()
    const [reply] = (await once(asked, 'response')) as [IncomingMessage]
    expect(await text(reply)).toBe('mcp.example')
  },
)

test.each(['a:b@c', 'a@c', 'a b', 'c/x', 'c:99999', '[::1', 'c#x'])(
  'a Host header that is no host, such as %o, is nothing that an endpoint must fail for',
  async (host) => {
    const logged: string[] = []
    const app = createServer({ name: 'web', version: '1', log: (_level, line) => void logged.push(line) })
    app.use({ endpoints: { '/where': ({ url }) => new Response(new URL(url).host) } })
    const server = createHttp(app.node()).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const asked = request({ port, path: '/where', headers: { host }, agent: false }).end()
    const [reply] = (await once(asked, 'response')) as [IncomingMessage]
    expect([reply.statusCode, await text(reply), logged]).toEqual([200, 'localhost', []])
  },
)
