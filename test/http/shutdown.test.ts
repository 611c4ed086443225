import { once } from 'node:events'
import { Agent, type OutgoingHttpHeaders } from 'node:http'
import { Agent as SecureAgent, request } from 'node:https'
import { connect as connectNet, createServer as createNet, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'
import { testTls } from '../harness/sockets.ts'
import { BOTH, call, headed, initialize, message } from './messages.ts'
import { Gate, open, start, tools } from './server.ts'
import { post, send, stream } from './wire.ts'

const AT = { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] } as const
const CLOSING = {
  message: 'the server is shutting down',
  data: { refusal: { code: 1077, retryable: true, retryAfterMs: 5000 } },
}

test('running requests finish, and new ones get 503 with Retry-After [S2-8.5-6] [S4-5-10] [S2-9.4-11]', async () => {
  const gate = new Gate()
  const app = tools().tool('wait', {}, async () => {
    gate.enter()
    await gate.opened
    return 'finished'
  })
  const { port, server } = await start(app)
  const session = await open(port)
  const running = session.post(call('wait'))
  await gate.entered
  const closed = server.close()
  const refused = await session.post(message('ping', {}, 9))
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
  expect(refused.json['error']).toMatchObject({ data: { refusal: { code: 1077 } } })
  expect((await send(port, { method: 'GET', path: '/readyz' })).status).toBe(503)
  expect((await send(port, { method: 'GET', path: '/healthz' })).status).toBe(200)
  gate.open()
  expect((await running).json).toMatchObject({ result: { content: [{ text: 'finished' }] } })
  await closed
  await expect(post(port, initialize(), BOTH)).rejects.toThrow(/ECONNREFUSED/)
})

test('closing the app ends with the last response, not at the time limit', async () => {
  const gate = new Gate()
  const app = createServer({ name: 'x', version: '1', limits: { drainMs: 600_000 } }).tool(
    'wait',
    {},
    async () => {
      gate.enter()
      await gate.opened
      return 'finished'
    },
  )
  const { url } = await app.listen({ http: { port: 0 } })
  const port = Number(new URL(url as string).port)
  const session = await open(port)
  const running = session.post(call('wait'))
  await gate.entered
  const closed = app.close()
  gate.open()
  expect((await running).json).toMatchObject({ result: { content: [{ text: 'finished' }] } })
  await closed
})

test('requests in the queue when the server closes are rejected with a time to retry, and every one gets an answer', async () => {
  const app = createServer({ name: 'busy', version: '1.0.0' }).tool('spin', {}, () => {
    const until = performance.now() + 60
    while (performance.now() < until);
    return 'done'
  })
  const { port, server } = await start(app)
  const session = await open(port)
  const first = session.post(call('spin', {}, 1))
  const others = Array.from({ length: 19 }, (_, at) => session.post(call('spin', {}, at + 2)))
  await first
  await server.close()
  const statuses = (await Promise.all(others)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(statuses).toContain(503)
})

test('a large reply that is still leaving arrives whole', async () => {
  const gate = new Gate()
  const text = 'x'.repeat(8_000_000)
  const app = tools().tool('large', {}, async () => {
    gate.enter()
    await gate.opened
    return text
  })
  const { port, server } = await start(app)
  const { body, headers } = headed('tools/call', { name: 'large' })
  const reply = post(port, body, headers)
  await gate.entered
  const closed = server.close()
  gate.open()
  expect((await reply).json).toMatchObject({ result: { content: [{ text }] } })
  await closed
})

test('a large reply that is still leaving over TLS arrives whole', async () => {
  const gate = new Gate()
  const text = 'x'.repeat(8_000_000)
  const app = tools().tool('large', {}, async () => {
    gate.enter()
    await gate.opened
    return text
  })
  const server = await app.listen({ http: { port: 0, tls: testTls() } })
  onTestFinished(() => server.close())
  const { body, headers } = headed('tools/call', { name: 'large' })
  const reply = postSecurely(server.addresses.http as string, { body, headers })
  await gate.entered
  const closed = server.close()
  gate.open()
  expect(JSON.parse(await reply)).toMatchObject({ result: { content: [{ text }] } })
  await closed
})

test('connections over TLS that wait for another request are closed with the server', async () => {
  const server = await tools().listen({ http: { port: 0, tls: testTls() } })
  const agent = new SecureAgent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  await postSecurely(server.addresses.http as string, { body: initialize(), headers: BOTH, agent })
  const [socket] = Object.values(agent.freeSockets).flat()
  const ended = new Promise((resolve) => socket!.once('close', resolve))
  await server.close()
  expect(await ended).toBe(false)
})

test('a connection that never began TLS does not delay the end, and is closed', async () => {
  const app = createServer({ name: 'patient', version: '1', limits: { headersMs: 600_000 } })
  const server = await app.listen({ http: { port: 0, tls: testTls() } })
  const socket = connectNet(Number(new URL(server.addresses.http as string).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  const ended = new Promise((resolve) => socket.once('close', resolve))
  socket.resume()
  await server.close()
  await ended
  expect(socket.destroyed).toBe(true)
})

test('closing leaves no timer behind', async () => {
  const { server } = await start()
  const set = vi.spyOn(globalThis, 'setTimeout')
  const clear = vi.spyOn(globalThis, 'clearTimeout')
  onTestFinished(() => void vi.restoreAllMocks())
  await server.close()
  const timers = set.mock.results.map(({ value }) => value as NodeJS.Timeout)
  expect(timers).not.toEqual([])
  for (const timer of timers) expect(clear).toHaveBeenCalledWith(timer)
})

test('listening ends with an empty result that carries its id, sessions end their streams [R230] [S4-5-10]', async () => {
  const { port, server } = await start()
  const listening = await stream(
    port,
    headed('subscriptions/listen', { notifications: { toolsListChanged: true } }, 7),
  )
  const session = await (await open(port)).get()
  await listening.until(({ messages }) => messages.length === 1)
  await server.close()
  await Promise.all([listening.end(), session.end()])
  expect(listening.messages.at(-1)).toMatchObject({ id: 7, result: { _meta: { [META.subscriptionId]: 7 } } })
})

test.each([
  ['does not stop', () => new Promise<never>(() => undefined)],
  ['stops', (signal: AbortSignal) => new Promise<never>((_, reject) => onAbort(signal, reject))],
  [
    'returns',
    (signal: AbortSignal) => new Promise<string>((resolve) => onAbort(signal, () => resolve('late'))),
  ],
])(
  'a handler that does not finish in time is stopped, and its client told; one that %s',
  async (_what, wait) => {
    const gates = [new Gate(), new Gate(), new Gate()] as const
    let stopped = 0
    const app = tools().tool('hang', { input: AT }, ({ at }, { signal, progress }) => {
      onAbort(signal, () => stopped++)
      if (at === 2) progress(1, 2)
      ;(gates[at] as Gate).enter()
      return wait(signal)
    })
    const { port, server } = await start(app, { limits: { drainMs: 1 } })
    const session = await open(port)
    const { body, headers } = headed('tools/call', { name: 'hang', arguments: { at: 0 } })
    const replies = [post(port, body, headers), session.post(call('hang', { at: 1 }, 2))]
    const streamed = session.stream(call('hang', { at: 2 }, 3, { progressToken: 't' }))
    await Promise.all(gates.map(({ entered }) => entered))
    await server.close()
    for (const reply of await Promise.all(replies)) {
      expect([reply.status, reply.headers['retry-after']]).toEqual([503, '5'])
      expect(reply.json['error']).toMatchObject(CLOSING)
    }
    expect((await (await streamed).end()).messages).toMatchObject([
      { params: { progress: 1 } },
      { error: CLOSING },
    ])
    expect(stopped).toBe(3)
  },
)

test('requests that are still queued when time is up are told too', async () => {
  const gate = new Gate()
  const begun: unknown[] = []
  const app = tools().tool('hang', { input: AT }, ({ at }) => {
    begun.push(at)
    gate.enter()
    return new Promise(() => undefined)
  })
  const { port, server } = await start(app, { limits: { drainMs: 1, allInFlight: 1 } })
  const session = await open(port)
  const replies = [session.post(call('hang', { at: 0 }, 2))]
  await gate.entered
  replies.push(session.post(call('hang', { at: 1 }, 3)), session.post(call('hang', { at: 2 }, 4)))
  await expect.poll(() => serviceOf(app).load.waiting).toBe(2)
  await server.close()
  for (const { status, json } of await Promise.all(replies))
    expect([status, json]).toMatchObject([503, { error: CLOSING }])
  expect(begun).toEqual([0])
})

test('connections that wait for another request do not delay the end', async () => {
  const { port, server } = await start(tools(), { limits: { drainMs: 600_000, idleMs: 600_000 } })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  await send(port, { body: initialize(), headers: BOTH, agent })
  expect(Object.values(agent.freeSockets)).toHaveLength(1)
  await server.close()
  await expect.poll(() => Object.values(agent.freeSockets)).toHaveLength(0)
})

test('closing twice is closing once', async () => {
  const app = tools()
  const running = await app.listen({ http: { port: 0 } })
  const first = running.close()
  expect(running.close()).toBe(first)
  await Promise.all([first, running.closed])
})

test('a port in use is named in the error, with what to do', async () => {
  const taken = createNet()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  await expect(tools().listen({ http: { port } })).rejects.toThrow(
    `port ${port} is in use; choose another, or 0 for any`,
  )
  const hint = `Choose another port, such as ${(port % 65_535) + 1}, or end the program that uses this one.`
  for (const options of [{ http: { port } }, { ws: { port } }, { tcp: { port } }])
    await expect(tools().listen(options)).rejects.toMatchObject({ kind: 'bad_option', hint })
  taken.close()
})

test('an address that this machine does not have is an error with a hint of its own', async () => {
  const elsewhere = { host: '192.0.2.1', hosts: ['mcp.example.com'], port: 0 }
  await expect(tools().listen({ http: elsewhere })).rejects.toMatchObject({
    hint: "Use an address of this machine, such as host: '127.0.0.1'.",
  })
})

test('healthz and readyz tell that all is well, unknown paths are 404', async () => {
  const { port } = await start()
  for (const path of ['/healthz', '/readyz', '/healthz?now=1']) {
    expect((await send(port, { method: 'GET', path })).status).toBe(200)
  }
  const unknown = await send(port, { path: '/other', body: initialize(), headers: BOTH })
  expect([unknown.status, unknown.json['error']]).toMatchObject([
    404,
    { message: 'nothing is served at /other; MCP is served at /mcp' },
  ])
})

test.each([
  '/mcp/',
  '/MCP',
  '//mcp',
  '/mcp/../mcp',
  '/%6dcp',
  '/mcp%00',
  '/mcp;x',
  '*',
  '/',
  '/mcp/.',
  '/..%2fmcp',
])('H.paths the odd target %s is no failure of ours', async (path) => {
  const { port } = await start()
  const reply = await send(port, { path, body: initialize(), headers: BOTH })
  expect(reply.status).toBe(404)
})

test('a query does not change the path', async () => {
  const { port } = await start()
  expect((await send(port, { path: '/mcp?x=1', body: initialize(), headers: BOTH })).status).toBe(200)
})

function onAbort(signal: AbortSignal, act: (reason: Error) => void): void {
  signal.addEventListener('abort', () => act(signal.reason as Error))
}

/** Posts over TLS, whoever the server is, and gives back the body of the reply. */
function postSecurely(
  url: string,
  { body, headers, agent }: { body: string; headers: OutgoingHttpHeaders; agent?: SecureAgent },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, rejectUnauthorized: false, agent: agent ?? false }
    const asked = request(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

test('a connection that was accepted before the listener closed gets an answer', async () => {
  const { server, port } = await start()
  const early = connectNet(port, '127.0.0.1')
  await once(early, 'connect')
  // It is accepted once a later one is answered.
  await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } })
  const closing = server.close()
  const isRefused = (): Promise<boolean> =>
    new Promise((resolve) => {
      const late = connectNet(port, '127.0.0.1')
      late.on('error', () => resolve(true))
      late.once('connect', () => resolve(false))
      late.once('connect', () => late.destroy())
    })
  while (!(await isRefused())) await new Promise((resolve) => void setImmediate(resolve))
  early.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n\r\n{}`)
  const [bytes] = (await once(early, 'data')) as [Buffer]
  expect(bytes.toString()).toMatch(/^HTTP\/1\.1 503 /)
  await closing
})
