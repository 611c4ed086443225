import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { official } from 'pierhead/profiles'
import { testClient } from 'pierhead/testing'
import { expect, test } from 'vitest'
import { createEverything } from '../client/app.ts'
import { BOTH, initialize } from '../http/messages.ts'

test('a limit that is undefined keeps its default', () => {
  const limits = { inFlight: undefined, depth: 7 }
  expect(createServer({ name: 'x', version: '1', limits }).limits).toEqual(
    createServer({ name: 'x', version: '1', limits: { depth: 7 } }).limits,
  )
})

test('a mount whose options are undefined has sessions and the usual checks', async () => {
  const serve = createServer({ name: 'x', version: '1' }).fetchWith({
    sessions: undefined,
    cors: undefined,
    hosts: undefined,
    sse: undefined,
    gist: undefined,
  })
  const post = (headers: HeadersInit): Promise<Response> =>
    serve(new Request('http://x/mcp', { method: 'POST', headers, body: initialize() }))
  const opened = await post(BOTH)
  expect(opened.status).toBe(200)
  expect(opened.headers.get('mcp-session-id')).toMatch(/./)
  expect((await post({ ...BOTH, origin: 'https://evil.example' })).status).toBe(403)
})

test('WebSocket with undefined options shares the port of HTTP', async () => {
  const app = createServer({ name: 'x', version: '1' })
  const { addresses, close } = await app.listen({
    http: { port: 0, host: undefined, cors: undefined },
    ws: { port: undefined, path: undefined, hosts: undefined },
    tcp: undefined,
  })
  expect(new URL(addresses.ws as string).port).toBe(new URL(addresses.http as string).port)
  expect(Object.keys(addresses)).toEqual(['http', 'ws'])
  await close()
})

test('a choice that is undefined is not a change of a profile', () => {
  expect(official.with({ batch: undefined, timeouts: undefined }).choices).toEqual(official.choices)
})

test('annotations and hints that are undefined are left out, and so are keywords of a schema', async () => {
  const app = createServer({ name: 'x', version: '1' })
  const input = {
    type: 'object',
    properties: undefined,
    required: undefined,
    description: undefined,
  } as const
  app.tool('t', { input, hints: { readOnly: true, destructive: undefined } }, () => 'x')
  app.resource('a://b', { annotations: { audience: undefined, priority: 1 } }, () => '')
  await using client = await testClient(app)
  const [tool] = await client.tools().toArray()
  expect(tool).toEqual({ name: 't', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } })
  const [resource] = await client.resources().toArray()
  expect(resource).toEqual({ uri: 'a://b', name: 'b', annotations: { priority: 1 } })
  expect(await client.call('t', { a: 1 })).toBe('x')
})

test.each([
  [undefined, 2],
  [false, 1],
])(
  'a read with idempotent: %j during which the connection breaks runs so often',
  async (idempotent, runs) => {
    const app = createServer({ name: 'x', version: '1' })
    let count = 0
    app.resource('a://b', {}, () => {
      if (++count === 1) client.faults.drop()
      return 'x'
    })
    await using client = await testClient(app, { revision: '2025-11-25' })
    const outcome = await client.read('a://b', { idempotent }).then(
      () => 'read',
      () => 'failed',
    )
    expect([count, outcome]).toEqual([runs, runs === 2 ? 'read' : 'failed'])
  },
)

test('middleware that passes on undefined changes nothing', async () => {
  await using client = await connect(createEverything())
  client.use((_request, next) => next({ params: undefined, options: undefined }))
  expect(await client.call('echo', { text: 'x' })).toBe('x')
})
