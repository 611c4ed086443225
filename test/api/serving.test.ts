import { createServer as createHttpServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'pierhead'
import { expect, test } from 'vitest'

const app = createServer({ name: 'served', version: '1' })
app.tool('hello', {}, (_input, ctx) => `hello at ${ctx.revision}`)

const META = 'io.modelcontextprotocol'
const call: RequestInit = {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'hello',
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'hello',
      _meta: { [`${META}/protocolVersion`]: '2026-07-28', [`${META}/clientCapabilities`]: {} },
    },
  }),
}

async function expectHello(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ result: { content: [{ text: 'hello at 2026-07-28' }] } })
}

test('a server listens, says where, and closes', async () => {
  const running = await app.listen({ http: { port: 0, path: '/orders', cors: ['https://app.example'] } })
  expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/orders$/)
  await expectHello(await fetch(running.url ?? '', call))
  await running.close()
  await running.closed
  await expect(fetch(running.url ?? '', call)).rejects.toThrow('fetch failed')
})

test('a server is a fetch handler, as Workers, Deno, Bun and Next want it', async () => {
  const { fetch: handle } = app
  await expectHello(await handle(new Request('http://localhost/mcp', call)))
})

test('a server is a request listener of node:http', async () => {
  const server = createHttpServer(app.node()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    await expectHello(await fetch(`http://127.0.0.1:${port}/`, call))
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('handlers that are made for each request share their sessions, and those with other options do not', async () => {
  const own = createServer({ name: 'mounted', version: '1' })
  expect(own.node()).toBe(own.node({}))
  expect(own.node({ hosts: ['a.example'] })).toBe(own.node({ hosts: ['a.example'] }))
  expect(own.node({ hosts: ['a.example'] })).not.toBe(own.node())
  const before = own.fetchWith({ sessions: true })
  expect(own.fetchWith({ sessions: true })).toBe(before)
  expect(() => own.node({ host: [] } as never)).toThrow('"hosts"')
  await own.close()
  const reply = await own.fetchWith({ sessions: true })(new Request('http://localhost/mcp', call))
  expect(reply.status).toBe(503)
})

test('the same server serves several ways at once', async () => {
  const [one, two] = await Promise.all([app.listen({ http: { port: 0 } }), app.listen({ http: { port: 0 } })])
  await expectHello(await fetch(one.url ?? '', call))
  await one.close()
  await expectHello(await fetch(two.url ?? '', call))
  await two.close()
})

test('without options a server opens the transports that it was made with [S1-11-3]', async () => {
  const taken = createHttpServer().listen(3000, '127.0.0.1')
  // Somebody else may hold the port; either way it cannot be had.
  await Promise.race([once(taken, 'listening'), once(taken, 'error')]).catch(() => undefined)
  try {
    await expect(createServer({ id: 'both', version: '1', transports: ['http'] }).listen()).rejects.toThrow(
      /3000/,
    )
  } finally {
    taken.close()
  }
})
