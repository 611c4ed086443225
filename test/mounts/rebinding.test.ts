import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type App, type MountOptions } from '../../src/index.ts'
import { headed } from '../http/messages.ts'
import { send, type Received } from '../http/wire.ts'
import { startUnder } from './runtimes.ts'
import { listen } from './tour.ts'

/** A server that counts how often its tool ran. */
function counting(): App {
  let ran = 0
  return createServer({ name: 'counting', version: '1', log: () => undefined })
    .tool('mark', {}, () => String(++ran))
    .tool('count', {}, () => String(ran))
}

const portOf = (url: string): number => Number(new URL(url).port)

/** Every way to mount a server; each starts one on loopback and returns its port. */
const MOUNTS: Readonly<Record<string, (options: MountOptions) => Promise<number>>> = {
  'node:http': async (options) => portOf(await listen(createHttp(counting().node(options)))),
  'Express with app.node()': async (options) => {
    const site = express()
    site.use('/mcp', counting().node(options))
    return portOf(await listen(createHttp(site)))
  },
  'Fastify with app.node()': async (options) => {
    const site = fastify()
    onTestFinished(() => site.close())
    const serve = counting().node(options)
    site.all('/mcp', (request, reply) => {
      reply.hijack()
      serve(Object.assign(request.raw, { body: request.body }), reply.raw)
    })
    await site.listen({ port: 0, host: '127.0.0.1' })
    return (site.server.address() as AddressInfo).port
  },
  'Hono on Node with app.fetch': async (options) => {
    const serve = counting().fetchWith(options)
    const site = new Hono()
    site.all('/mcp', (context) => serve(context.req.raw))
    return new Promise((resolve) => {
      const server = serveHono({ fetch: site.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
        resolve(port),
      )
      onTestFinished(() => void server.close())
    })
  },
}
const RUNTIMES: typeof MOUNTS = {
  'Bun with app.fetch': () => startUnder('bun'),
  'Deno with app.fetch': () => startUnder('deno'),
}

function call(port: number, name: string, from: Readonly<Record<string, string>> = {}): Promise<Received> {
  const { body, headers } = headed('tools/call', { name })
  return send(port, { body, headers: { ...headers, ...from } })
}

const content = (text: string): object => ({ result: { content: [{ text }] } })

test.each(Object.entries({ ...MOUNTS, ...RUNTIMES }))(
  'H.origin-rebound %s without hosts: a page whose name was made to point to this machine is refused',
  async (_, start) => {
    const port = await start({})
    const host = `evil.example:${port}`
    for (const from of [
      { host, origin: `http://${host}` },
      { host: host.toUpperCase(), origin: `http://${host}` },
      { host, origin: 'null' },
      { origin: `http://${host}` },
      { origin: 'https://evil.example' },
    ]) {
      const reply = await call(port, 'mark', from)
      expect([from, reply.status]).toEqual([from, 403])
      expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
    }
    // A page sends no origin with GET to its own host, but its browser says that it is a page.
    const read = async (from: Readonly<Record<string, string>>): Promise<number> =>
      (await send(port, { method: 'GET', headers: { accept: 'text/event-stream', ...from } })).status
    for (const site of ['same-origin', 'same-site', 'cross-site'])
      expect([site, await read({ host, 'sec-fetch-site': site })]).toEqual([site, 403])
    // Without a page, with one of this machine, or by a link that its page cannot follow, it is only that nothing is here.
    for (const from of [
      { host },
      { host, 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin' },
      { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ])
      expect([from, await read(from as Readonly<Record<string, string>>)]).not.toEqual([from, 403])
    const origin = 'http://localhost:5173'
    const local = await call(port, 'count', { origin })
    expect([local.status, local.headers['access-control-allow-origin']]).toEqual([200, origin])
    expect(local.json).toMatchObject(content('0'))
    expect((await call(port, 'mark')).json).toMatchObject(content('1'))
  },
)

test.each(Object.entries(MOUNTS))('%s with hosts serves its own pages', async (_, start) => {
  const port = await start({ hosts: ['mcp.example'] })
  const host = `mcp.example:${port}`
  const own = await call(port, 'mark', { host, origin: `http://${host}` })
  expect(own.json).toMatchObject(content('1'))
  expect((await call(port, 'mark', { host, origin: 'https://evil.example' })).status).toBe(403)
  expect((await call(port, 'mark', { host: `evil.example:${port}` })).status).toBe(403)
  expect((await call(port, 'count', { host })).json).toMatchObject(content('1'))
})
