import { once } from 'node:events'
import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { connect, createClient } from '../../src/client.ts'
import type { ConnectOptions } from '../../src/app/connect/connect.ts'
import { createServer } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import type { AnyApp } from '../harness/connection.ts'
import { testSocket } from '../harness/sockets.ts'
import { failure } from '../hostile/peer.ts'
import { Gate } from '../http/server.ts'
import { after, serve } from './wire.ts'

function make(gate?: Gate): AnyApp {
  return createServer({ name: 'there', version: '1', log: () => undefined })
    .tool('echo', { input: { type: 'object' } }, (input) => JSON.stringify(input).length.toString())
    .tool('large', {}, () => 'x'.repeat(2_000_000))
    .tool('wait', {}, async (_, { signal }) => {
      signal.addEventListener('abort', () => gate?.open())
      await gate?.opened
      return 'waited'
    }) as AnyApp
}

/** A server of which each connection is in the hands of the test. */
async function scripted(
  onSocket: (socket: Socket) => void,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createNetServer((socket) => {
    socket.on('error', () => undefined)
    after(() => socket.destroy())
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  after(() => server.close())
  await once(server, 'listening')
  return { url: `tcp://127.0.0.1:${(server.address() as { readonly port: number }).port}`, server }
}

/** Answers what clients ask, as a server of 2025-11-25 without anything to offer. */
function behave(socket: Socket, onMethod: (method: string) => boolean = () => true): void {
  let rest = ''
  socket.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id, method } = JSON.parse(line) as { id?: unknown; method: string }
      if (id === undefined || !onMethod(method)) continue
      const opening = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 's', version: '1' },
      }
      const reply =
        method === 'server/discover'
          ? { error: { code: -32601, message: 'no such method' } }
          : { result: method === 'initialize' ? opening : {} }
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`)
    }
  })
}

async function reason(target: string, options: ConnectOptions = {}): Promise<string> {
  const error = await failure(connect(target, { probe: '1s', timeout: '1s', ...options }))
  return `${error.kind}: ${error.message}`
}

test('a missing server has its own error, which says what to do', async () => {
  const { url, server } = await scripted(() => undefined)
  server.close()
  await once(server, 'close')
  expect(await reason(url)).toMatch(
    /^connect_failed: cannot connect to tcp:.*nothing listens there; start the server/,
  )
  expect(await reason(`unix:${testSocket()}`)).toMatch(/^connect_failed: .*the socket file does not exist/)
  expect(await reason('tcp://no-such-host.invalid:4000')).toMatch(/^connect_failed: .*(name|looked up)/)
})

test('an invalid address is rejected, and the error says what to do', async () => {
  expect(await reason('tcp://127.0.0.1')).toContain('write the host and the port, e.g. tcp://127.0.0.1:4000')
  expect(await reason('tls://:4000')).toContain('write')
  expect(await reason('unix:relative.sock')).toContain('write the absolute path of the socket file')
  expect(await reason('udp://127.0.0.1:4000')).toContain(
    'is not an http, https, ws, wss, tcp, tls or unix URL',
  )
})

test('a server that closes at once, or answers with something else, does not keep the client waiting', async () => {
  const closing = await scripted((socket) => socket.end())
  expect(await reason(closing.url)).toContain('the server closed the connection')
  const web = await scripted((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  expect(await reason(web.url)).toContain('the server closed the connection')
})

test.each(REVISIONS)('a lost connection is opened again with the next request at %s', async (revision) => {
  const app = make()
  const running = await app.listen({ tcp: { port: 0 } })
  const { port } = new URL(running.addresses.tcp as string)
  const client = await connect(running.addresses.tcp as string, { revision })
  after(() => client.close())
  expect(await client.call('echo', {})).toBe('2')
  await running.close()
  await serve(app, { tcp: { port: Number(port) } })
  expect(await client.call('echo', {})).toBe('2')
})

test('pending requests fail at once when the connection is lost, and the error says so', async () => {
  const { url } = await scripted((socket) =>
    behave(socket, (method) => {
      if (method !== 'tools/call') return true
      socket.destroy()
      return false
    }),
  )
  const client = await connect(url, { revision: '2025-11-25' })
  after(() => client.close())
  const error = await failure(client.request('tools/call', { name: 'x' }))
  expect(error.kind).toBe('stream_lost')
})

test('a silent server gets a heartbeat, and times out when it does not answer [S2-10.3-7]', async () => {
  const asked: string[] = []
  let isAlive = true
  const { url } = await scripted((socket) =>
    behave(socket, (method) => {
      asked.push(method)
      return isAlive
    }),
  )
  const client = await connect(url, { revision: '2025-11-25', heartbeat: 50 })
  after(() => client.close())
  await expect.poll(() => asked.filter((method) => method === 'ping').length).toBeGreaterThan(2)
  expect(client.state).toBe('ready')
  isAlive = false
  await expect.poll(() => client.state).toBe('reconnecting')
})

test.each(REVISIONS)(
  'the heartbeat is a request that servers of %s answer, and users never see it',
  async (revision) => {
    const app = make()
    const methods: string[] = []
    app.use((call, next) => {
      methods.push((call as { readonly method: string }).method)
      return next()
    })
    const client = await connect((await serve(app)).addresses.tcp as string, { revision, heartbeat: 250 })
    after(() => client.close())
    const warnings: unknown[] = []
    client.on('warning', (text: string) => void warnings.push(text))
    const opened = methods.length
    await expect.poll(() => methods.length - opened).toBeGreaterThan(1)
    expect(await client.call('echo', {})).toBe('2')
    expect(app.counts.size).toBe(0)
    expect(warnings).toEqual([])
    expect(client.state).toBe('ready')
  },
)

test('heartbeat: false sends no heartbeats', async () => {
  const asked: string[] = []
  const { url } = await scripted((socket) => behave(socket, (method) => asked.push(method) > 0))
  const client = await connect(url, { revision: '2025-11-25', heartbeat: false })
  after(() => client.close())
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(asked).toEqual(['initialize'])
})

test('large responses, and many at once, arrive intact', async () => {
  const client = await connect((await serve(make())).addresses.tcp as string)
  after(() => client.close())
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.call('large')))
  expect(answers.map((answer) => (answer as string).length)).toEqual(
    Array.from({ length: 20 }, () => 2_000_000),
  )
})

test('a message of 20 MB goes through, in either direction of size limits', async () => {
  const client = await connect((await serve(make())).addresses.tcp as string)
  after(() => client.close())
  const text = 'x'.repeat(20_000_000)
  expect(await client.call('echo', { text })).toBe(String(text.length + 11))
})

test('when a server does not read, the write buffer is bounded by limits.clientBytes', async () => {
  const { url } = await scripted((socket) =>
    behave(socket, (method) => {
      if (method === 'initialize') setImmediate(() => socket.pause())
      return true
    }),
  )
  const limits = { clientBytes: 1_000_000 }
  const client = await connect(url, { revision: '2025-11-25', limits, recovery: false })
  after(() => client.close())
  const text = 'x'.repeat(900_000)
  const attempts = Array.from({ length: 40 }, () => client.request('tools/call', { name: 'x', text }))
  const kinds = await Promise.all(
    attempts.map((attempt) =>
      Promise.race([attempt.then(String, (error: { kind: string }) => error.kind), idle()]),
    ),
  )
  expect(kinds).toContain('overloaded')
})

const idle = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('waits'), 500))

test('closing a client closes its connection and fails its pending requests', async () => {
  const gate = new Gate()
  const app = make(gate)
  const client = await connect((await serve(app)).addresses.tcp as string)
  const waiting = failure(client.call('wait'))
  await expect.poll(() => serviceOf(app).load.running).toBe(1)
  await client.close()
  expect((await waiting).kind).toBe('closed')
  // What nobody waits for is cancelled.
  await expect.poll(() => serviceOf(app).load.running).toBe(0)
})

test('a client that connects with its first request opens nothing before', async () => {
  let opened = 0
  const { url } = await scripted((socket) => {
    opened++
    behave(socket)
  })
  const client = createClient(url, { revision: '2025-11-25' })
  after(() => client.close())
  expect(opened).toBe(0)
  await client.ping()
  expect(opened).toBe(1)
})
