import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { BOTH, call, headed, initialize } from '../http/messages.ts'
import { Gate, start } from '../http/server.ts'
import { send, type Received } from '../http/wire.ts'
import { serve, Wire } from '../tcp/wire.ts'

/** One address opens as much as it can; the other is a client like any. */
const MANY = '127.0.0.1'
const OTHER = '127.0.0.2'

function waiting(): { readonly app: App; readonly gate: Gate; running(): number; queued(): number } {
  const gate = new Gate()
  const app = createServer({ name: 'addresses', version: '1', log: () => undefined }).tool(
    'wait',
    {},
    async (_, { ip }) => {
      if (ip === MANY) await gate.opened
      return String(ip)
    },
  )
  const { load } = serviceOf(app)
  onTestFinished(() => gate.open())
  return { app, gate, running: () => load.running, queued: () => load.waiting }
}

function hello(port: number, from: string): Promise<Received> {
  return send(port, { body: initialize('2025-11-25'), headers: BOTH, from })
}

function sessionOf({ headers }: Received): Record<string, string> {
  return {
    ...BOTH,
    'mcp-session-id': String(headers['mcp-session-id']),
    'mcp-protocol-version': '2025-11-25',
  }
}

const wait = (port: number, from: string): Promise<Received> =>
  send(port, { ...headed('tools/call', { name: 'wait' }), from })

test('L.addresses sessions from one address leave room for those from another, which keep it', async () => {
  const { app } = waiting()
  const { port } = await start(app, { limits: { sessions: 8 } })
  for (let at = 0; at < 8; at++) expect((await hello(port, MANY)).status).toBe(200)
  const other = await hello(port, OTHER)
  expect(other.status).toBe(200)
  for (let at = 0; at < 16; at++) await hello(port, MANY)
  const body = call('wait', {}, 1)
  expect((await send(port, { body, headers: sessionOf(other), from: OTHER })).json).toMatchObject({
    result: { content: [{ text: OTHER }] },
  })
})

test('L.addresses running requests from one address leave places for another', async () => {
  const { app, gate, running, queued } = waiting()
  const { port } = await start(app, { limits: { allInFlight: 64, waitMs: 600_000 } })
  const many: Promise<Received>[] = []
  for (let at = 0; at < 80; at++) many.push(wait(port, MANY))
  await expect.poll(() => running() + queued()).toBe(80)
  expect(running()).toBe(48)
  expect((await wait(port, OTHER)).json).toMatchObject({ result: { content: [{ text: OTHER }] } })
  gate.open()
  for (const { status } of await Promise.all(many)) expect(status).toBe(200)
})

test('L.addresses a queue that one address filled has room for another, whose turn comes next', async () => {
  const { app, gate, running, queued } = waiting()
  const limits = { allInFlight: 16, queued: 8, queuedPerCaller: 8, waitMs: 600_000 }
  const { port } = await start(app, { limits })
  const many: Promise<Received>[] = []
  for (let at = 0; at < 24; at++) many.push(wait(port, MANY))
  await expect.poll(() => [running(), queued()]).toEqual([16, 8])
  expect((await wait(port, MANY)).status).toBe(429)
  const other = wait(port, OTHER)
  const rejected = await Promise.race(many)
  expect([rejected.status, queued()]).toEqual([503, 8])
  gate.open()
  expect((await other).status).toBe(200)
  await Promise.all(many)
})

test('L.addresses connections from one address over http give way to those from another', async () => {
  const { app } = waiting()
  const { port } = await start(app, { limits: { connections: 4 } })
  await crowd(port, 80)
  expect((await wait(port, OTHER)).status).toBe(200)
})

test('L.addresses connections from one address over tcp give way to those from another', async () => {
  const limited = createServer({
    name: 'few',
    version: '1',
    limits: { connections: 4 },
    log: () => undefined,
  })
  const { addresses } = await serve(limited.tool('echo', {}, () => 'echo'))
  const port = Number(new URL(addresses.tcp as string).port)
  await crowd(port, 80)
  const other = new Wire(connect({ port, host: '127.0.0.1', localAddress: OTHER }))
  await other.write(`${initialize('2025-11-25')}\n`)
  expect(await other.heard(1)).toMatchObject([{ result: {} }])
})

async function crowd(port: number, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const { socket } = new Wire(connect({ port, host: '127.0.0.1', localAddress: MANY }))
    await new Promise((resolve) => socket.once('connect', resolve))
  }
}
