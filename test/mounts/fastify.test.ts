import type { AddressInfo } from 'node:net'
import middie from '@fastify/middie'
import fastify, { type FastifyInstance } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type NodeListener } from '../../src/index.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { open, tools } from '../http/server.ts'
import { send, stream } from '../http/wire.ts'
import { ENDS, tour } from './tour.ts'

type Mounting = (site: FastifyInstance, serve: NodeListener) => unknown

async function portOf(mount: Mounting, app = tools()): Promise<number> {
  const site = fastify({ forceCloseConnections: true })
  onTestFinished(() => site.close())
  await mount(site, app.node())
  await site.listen({ port: 0, host: '127.0.0.1' })
  return (site.server.address() as AddressInfo).port
}

/** The ways to mount a server in Fastify whose parser has read the body. */
const PARSED: Readonly<Record<string, Mounting>> = {
  'a handler that passes on the parsed body': (site, serve) =>
    site.all('/mcp', (request, reply) => serve(request.raw, reply.raw, request.body)),
  'a handler that hijacks the reply first': (site, serve) =>
    site.all('/mcp', (request, reply) => {
      reply.hijack()
      serve(request.raw, reply.raw, request.body)
    }),
  'an async handler that hijacks the reply': (site, serve) =>
    site.all('/mcp', async (request, reply) => {
      await Promise.resolve()
      reply.hijack()
      serve(request.raw, reply.raw, request.body)
    }),
}

/** The ways in which Fastify leaves the text to the server. */
const UNPARSED: Readonly<Record<string, Mounting>> = {
  'a parser that leaves the stream': (site, serve) => {
    site.removeAllContentTypeParsers()
    site.addContentTypeParser('*', (_request, _payload, done) => done(null))
    PARSED['a handler that hijacks the reply first']?.(site, serve)
  },
  'a parser that passes on the stream': (site, serve) => {
    site.removeAllContentTypeParsers()
    site.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    PARSED['a handler that hijacks the reply first']?.(site, serve)
  },
  'a parser that passes on the bytes': (site, serve) => {
    site.removeAllContentTypeParsers()
    site.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    PARSED['a handler that hijacks the reply first']?.(site, serve)
  },
  '@fastify/middie': async (site, serve) => {
    await site.register(middie)
    site.use('/mcp', serve)
  },
}
const ALL = Object.entries({ ...PARSED, ...UNPARSED })

test.each(ALL)('Fastify 5 with %s does everything that a mount must do', async (_, mount) => {
  expect(await tour(fetch, `http://127.0.0.1:${await portOf(mount)}/mcp`)).toEqual(ENDS)
})

test.each(ALL)('Fastify 5 with %s takes batches', async (_, mount) => {
  const session = await open(await portOf(mount), '2025-03-26')
  const pings = [1, 2].map((id) => message('ping', {}, id)).join(',')
  expect((await session.post(`[${pings}]`)).json).toMatchObject([{ id: 1 }, { id: 2 }])
  expect((await session.post(`[${message('notifications/initialized')}]`)).status).toBe(202)
})

test.each(ALL)('Fastify 5 with %s cancels a call whose client disconnects', async (_, mount) => {
  let stopped: (reason: unknown) => void
  const reason = new Promise((resolve) => (stopped = resolve))
  const app = createServer({ name: 'slow', version: '1', log: () => undefined }).tool(
    'wait',
    {},
    async (_input, { signal, progress }) => {
      progress(1, 2)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      stopped(signal.reason)
      return 'stopped'
    },
  )
  const port = await portOf(mount, app)
  const { body, headers } = headed('tools/call', { name: 'wait', _meta: { progressToken: 1 } })
  const reply = await stream(port, { body, headers })
  await reply.until(() => reply.messages.length === 1)
  reply.drop()
  expect(await reason).toMatchObject({ kind: 'connection_closed' })
})

test.each(ALL)('Fastify 5 with %s resumes a stream of the session', async (_, mount) => {
  const port = await portOf(mount)
  const session = await open(port)
  const first = await session.stream(call('steps', { count: 2 }, 3, { progressToken: 'p' }))
  await first.end()
  const seen = first.events.find(({ data }) => data !== '')?.id ?? ''
  const again = await session.get(seen)
  await again.end()
  expect(again.messages.map(({ id, method }) => method ?? id)).toEqual(['notifications/progress', 3])
  // Fastify rejects an empty body that claims to be JSON.
  const headers = { 'mcp-session-id': session.id }
  expect((await send(port, { method: 'DELETE', headers })).status).toBe(200)
})

const FORGOTTEN: Readonly<Record<string, Mounting>> = {
  'a handler': (site, serve) => site.all('/mcp', (request, reply) => serve(request.raw, reply.raw)),
  'a handler that hijacks the reply': (site, serve) =>
    site.all('/mcp', (request, reply) => {
      reply.hijack()
      serve(request.raw, reply.raw)
    }),
}

test.each(Object.entries(FORGOTTEN))(
  'Fastify 5 with %s that does not pass on the body says so at once',
  async (_, mount) => {
    const reply = await send(await portOf(mount), { body: initialize(), headers: BOTH })
    expect([reply.status, reply.json]).toMatchObject([500, { error: { code: -32603 } }])
    expect(reply.text).toContain('app.node()(request, response, body)')
  },
)
