import { createServer as createListener } from 'node:net'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, type Client, type ConnectOptions, type State } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import { readLimits } from '../../src/base/limits.ts'
import { CLIENT_LIMITS } from '../../src/protocol/client-limits.ts'
import { connectWs } from '../../src/transport/ws/client.ts'
import { dial } from '../../src/transport/ws/node-socket.ts'
import { next } from '../client/gather.ts'
import { Gate } from '../http/server.ts'
import { scripted } from './peer.ts'
import { start } from './server.ts'

const kindOf = (error: unknown): string => (error as { kind: string }).kind

async function client(url: string, options: ConnectOptions = {}): Promise<Client> {
  const one = await connect(url, options)
  onTestFinished(() => one.close())
  return one
}

function waiting(gate: Gate = new Gate()): App {
  return createServer({ name: 'waiting', version: '1', log: () => undefined }).tool('once', {}, async () => {
    gate.enter()
    await gate.opened
    return 'done'
  })
}

const INSIST: ConnectOptions = { revision: '2025-11-25', limits: { reconnectFirstMs: 10 } }

const LIMITS = readLimits(CLIENT_LIMITS, { clientBytes: 1000, depth: 10 })
const PLAIN = { headers: {}, tls: {}, heartbeatMs: 1000, limits: LIMITS }

test('messages that arrive with the upgrade are read', async () => {
  const { url, server } = await scripted(() => undefined)
  server.on('connection', (socket) => socket.send('{"jsonrpc":"2.0","method":"notifications/message"}'))
  const heard = new Promise((resolve) => {
    const events = { onMessage: resolve, onDown: () => undefined }
    const line = connectWs(new URL(url), PLAIN)(events)
    onTestFinished(async () => (await line).close())
  })
  expect(await heard).toMatchObject({ method: 'notifications/message' })
})

test('connect takes ws URLs, offers mcp, and agrees on the newest revision [S1-1.2-3]', async () => {
  const { url, running } = await start(waiting())
  const one = await client(url)
  expect((await one.server()).revision).toBe('2026-07-28')
  const { value } = await one.tools().next()
  expect(value).toMatchObject({ name: 'once' })
  expect(running.addresses.ws).toBe(url)
})

test('progress comes before the answer, and changes are pushed without a request [S1-1.2-3]', async () => {
  const app = createServer({ name: 'live', version: '1' }).tool('steps', {}, (_, { progress }) => {
    for (const step of [1, 2, 3]) progress(step, 3)
    return 'done'
  })
  const { url } = await start(app)
  const one = await client(url, INSIST)
  const told: unknown[] = []
  const answer = await one.call('steps', {}, { onProgress: ({ progress }) => told.push(progress) })
  expect([...told, answer]).toEqual([1, 2, 3, 'done'])
  const pushed = next(one, 'change')
  app.tool('late', {}, () => 'late')
  expect(await pushed).toEqual({ kind: 'tools' })
})

test('headers go with the upgrade', async () => {
  const { url, server } = await scripted(() => undefined)
  const upgraded = once(server, 'connection')
  const target = { url, headers: { authorization: 'Bearer one' } }
  const one = await connect(target, { ...INSIST, headers: { 'x-two': '2' } })
  onTestFinished(() => one.close())
  const [socket, request] = await upgraded
  expect(request.headers).toMatchObject({ authorization: 'Bearer one', 'x-two': '2' })
  expect(request.headers['sec-websocket-protocol']).toBe('mcp,mcp.v1')
  expect(request.headers['sec-websocket-extensions']).toBeUndefined()
  expect(socket.protocol).toBe('mcp')
})

test.each(['mcp', 'mcp.v1'])(
  'a server that speaks only the sub-protocol %s is spoken with, though mcp is offered first [S2-10.5-2]',
  async (spoken) => {
    const { url, server } = await scripted((asked, socket) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: {} })),
    )
    const offers: string[][] = []
    server.options.handleProtocols = (offered) => {
      offers.push([...offered])
      return offered.has(spoken) ? spoken : false
    }
    const upgraded = once(server, 'connection')
    const one = await client(url, INSIST)
    expect(offers).toEqual([['mcp', 'mcp.v1']])
    const [socket] = await upgraded
    expect(socket.protocol).toBe(spoken)
    await one.ping()
  },
)

describe('a server that cannot be reached', () => {
  test('fails to connect, and says what to do', async () => {
    const refused = await connect('ws://127.0.0.1:1/mcp').catch((error: Error) => error)
    expect([kindOf(refused), (refused as Error).message]).toEqual([
      'connect_failed',
      expect.stringContaining('nothing listens there'),
    ])
  })

  test('tells the status when it speaks HTTP only', async () => {
    const { running } = await start(waiting(), { http: { port: 0 }, ws: { port: 0 } })
    const url = (running.url as string).replace('http', 'ws')
    const failed = await connect(url).catch((error: Error) => error)
    expect(failed).toMatchObject({ kind: 'connect_failed', data: { status: 400 } })
  })

  test('is not waited for without end when it says nothing', async () => {
    const silent = createListener().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    await expect(connect(`ws://127.0.0.1:${port}`, { timeout: 50 })).rejects.toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('it did not answer within 50 ms') as string,
    })
  })
})

describe('when the connection is lost', () => {
  test('requests fail, and the next opens a new connection with a new handshake [S1-1.2-3]', async () => {
    const gate = new Gate()
    const app = waiting(gate)
    const { url, running, port } = await start(app)
    const one = await client(url, INSIST)
    const states: State[] = []
    one.on('state', (state) => states.push(state))
    const call = one.call('once').catch(kindOf)
    await gate.entered
    gate.open()
    expect(await call).toBe('done')
    await running.close()
    expect(await one.call('once').catch(kindOf)).toBe('connect_failed')
    await start(app, { http: { port }, ws: true })
    await expect.poll(() => one.call('once').catch(kindOf)).toBe('done')
    expect(states).toContain('reconnecting')
    expect(states.at(-1)).toBe('ready')
  })

  test('what is safe is repeated on the new one, and what is not is not', async () => {
    let calls = 0
    const { url } = await scripted((asked, socket) => {
      if (asked.method === 'tools/call' && calls++ % 2 === 0) return socket.terminate()
      const result = { tools: [], content: [{ type: 'text', text: 'again' }] }
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }))
    })
    const one = await client(url, INSIST)
    expect(await one.call('anything').catch(kindOf)).toBe('stream_lost')
    expect(await one.call('anything')).toBe('again')
    expect(await one.call('anything', {}, { idempotent: true })).toBe('again')
    expect(calls).toBe(4)
  })
})

describe('the end that a server makes has a kind', () => {
  test.each([
    [1000, 'stream_lost'],
    [1001, 'stream_lost'],
    [1008, 'stream_lost'],
    [1009, 'too_large'],
    [1011, 'stream_lost'],
    [1013, 'overloaded'],
  ])('%d is %s', async (code, kind) => {
    const { url } = await scripted((_asked, socket) => socket.close(code, 'because'))
    const one = await client(url, INSIST)
    const error = await one.call('anything').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind })
  })
})

describe('answers that are wrong', () => {
  test('one that is too large fails its request while it comes', async () => {
    const { url } = await scripted((asked, socket) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: { content: 'x'.repeat(20_000) } })),
    )
    const one = await client(url, { ...INSIST, limits: { clientBytes: 10_000 } })
    expect(await one.call('anything').catch(kindOf)).toBe('answer_too_large')
  })

  test('binary frames end the connection', async () => {
    const { url } = await scripted((_asked, socket) => socket.send(Buffer.from('{}'), { binary: true }))
    const one = await client(url, INSIST)
    expect(await one.call('anything').catch(kindOf)).toBe('bad_answer')
  })

  test('invalid messages are reported once, and do no harm', async () => {
    const { url } = await scripted((asked, socket) => {
      for (const text of ['hello', '', '{}']) socket.send(text)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: { content: [] } }))
    })
    const one = await client(url, INSIST)
    const warnings: string[] = []
    one.on('warning', (text) => warnings.push(text))
    expect(await one.call('anything')).toEqual([])
    expect(warnings).toHaveLength(1)
  })
})

test('a server that is gone without a word is noticed by the heartbeat', async () => {
  const { url } = await scripted((_asked, socket) => socket.pause())
  const one = await client(url, { ...INSIST, heartbeat: 50 })
  expect(await one.call('anything').catch(kindOf)).toBe('stream_lost')
})

test('a server that sends pings and reads no answers makes none pile up', async () => {
  let left = 200_000
  const { url, server } = await scripted(() => undefined)
  server.on('connection', (socket) => {
    socket.pause()
    const more = (): void => {
      for (let nth = 1; nth < 1000; nth++) socket.ping('x'.repeat(125))
      socket.ping('', false, () => (left -= 1000) > 0 && more())
    }
    more()
  })
  const socket = dial(new URL(url), { ...PLAIN, protocols: ['mcp'], maxBytes: 1000 })
  onTestFinished(() => socket.terminate?.())
  await expect.poll(() => left).toBe(0)
  expect(socket.bufferedAmount).toBeLessThan(1000)
})

test('closing says 1000, and nothing is left', async () => {
  const { url, server } = await scripted(() => undefined)
  const upgraded = once(server, 'connection')
  const one = await connect(url, INSIST)
  const [socket] = await upgraded
  const closed = once(socket, 'close')
  const call = one.call('anything').catch(kindOf)
  await one.close()
  expect((await closed)[0]).toBe(1000)
  expect(await call).toBe('closed')
})
