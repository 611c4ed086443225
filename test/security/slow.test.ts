import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import type { ListenOptions } from '../../src/app/options.ts'
import type { AnyApp } from '../harness/connection.ts'
import { testTls } from '../harness/sockets.ts'
import { headed } from '../http/messages.ts'
import { send } from '../http/wire.ts'
import { dial, echo } from '../tcp/wire.ts'
import { frame, handshake, OPCODE } from '../ws/raw.ts'
import { target } from './target.ts'

const SLOW = { headersMs: 400, bodyMs: 400, idleMs: 400, pingMs: 300, pongMs: 200, keepAliveMs: 200 }

/** Something that a client does slowly, or not at all: what it says first, and the letters it drips. */
interface Slow {
  readonly what: string
  readonly listen: ListenOptions
  readonly at: 'tcp' | 'http' | 'ws'
  begin(port: number): string | Uint8Array
  readonly drip?: string | Uint8Array
  /** Whether what it says comes through TLS. */
  readonly secure?: boolean
}

const HTTP: ListenOptions = { http: { port: 0, sse: true }, ws: true }
const TCP: ListenOptions = { tcp: { port: 0 } }
const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 5000\r\n\r\n`
const opened = (port: number): string => handshake(port)

const TABLE: readonly Slow[] = [
  { what: 'tcp: says nothing', listen: TCP, at: 'tcp', begin: () => '' },
  { what: 'tcp: a line that never ends', listen: TCP, at: 'tcp', begin: () => '{', drip: ' ' },
  {
    what: 'tls: no handshake',
    listen: { tcp: { port: 0, tls: testTls() } },
    at: 'tcp',
    begin: () => '',
  },
  {
    what: 'tls: half a handshake',
    listen: { tcp: { port: 0, tls: testTls() } },
    at: 'tcp',
    begin: () => Uint8Array.of(0x16, 3, 1, 2, 0, 1),
    drip: Uint8Array.of(0),
  },
  {
    what: 'tls: a line that never ends',
    listen: { tcp: { port: 0, tls: testTls() } },
    at: 'tcp',
    begin: () => '{',
    drip: ' ',
    secure: true,
  },
  {
    what: 'https: no handshake',
    listen: { http: { port: 0, tls: testTls() } },
    at: 'http',
    begin: () => '',
  },
  { what: 'http: says nothing', listen: HTTP, at: 'http', begin: () => '' },
  {
    what: 'http: a slow head',
    listen: HTTP,
    at: 'http',
    begin: () => 'POST /mcp HTTP/1.1\r\nx: ',
    drip: 'y',
  },
  { what: 'http: a slow body', listen: HTTP, at: 'http', begin: () => post('/mcp'), drip: ' ' },
  { what: 'sse: a slow head', listen: HTTP, at: 'http', begin: () => 'GET /sse HTTP/1.1\r\nx: ', drip: 'y' },
  {
    what: 'ws: a slow upgrade',
    listen: HTTP,
    at: 'ws',
    begin: () => 'GET /mcp HTTP/1.1\r\nupgrade: ',
    drip: 'w',
  },
  {
    what: 'ws on its own port: a slow upgrade',
    listen: { ws: { port: 0 } },
    at: 'ws',
    begin: () => 'GET /mcp HTTP/1.1\r\nupgrade: ',
    drip: 'w',
  },
  { what: 'ws: no answer to pings', listen: HTTP, at: 'ws', begin: opened },
  {
    what: 'ws: a frame that never ends',
    listen: HTTP,
    at: 'ws',
    begin: (port) => Buffer.concat([Buffer.from(opened(port)), frame('x', { announced: 5000n })]),
    drip: ' ',
  },
  {
    what: 'ws: a message that never ends',
    listen: HTTP,
    at: 'ws',
    begin: (port) => Buffer.concat([Buffer.from(opened(port)), frame('[', { fin: false })]),
    drip: frame(' ', { fin: false, opcode: OPCODE.more }),
  },
]

const SERVED = { id: 5, result: {} }

function dialSlow({ secure = false, begin, drip }: Slow, port: number): { readonly closed: Promise<void> } {
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false }
  const socket: Socket = secure ? connectTls(options) : connect(options)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(begin(port))
  const timer = setInterval(() => drip !== undefined && socket.writable && socket.write(drip), 50)
  onTestFinished(() => {
    clearInterval(timer)
    socket.destroy()
  })
  return { closed }
}

describe('H.slowloris', () => {
  test.each(TABLE)('fifty slow clients are aborted, and others served · $what', async (slow) => {
    const app = target(SLOW).app as AnyApp
    const running = await app.listen({ ...slow.listen, onUncaught: 'exit' })
    onTestFinished(() => running.close())
    const port = Number(new URL(running.addresses[slow.at] as string).port)
    const clients = Array.from({ length: 50 }, () => dialSlow(slow, port))
    const addresses = running.addresses as Readonly<Record<string, string>>
    expect(await answerOf(slow.at, addresses)).toMatchObject(SERVED)
    await Promise.all(clients.map(({ closed }) => closed))
    expect(serviceOf(app).load.running).toBe(0)
    expect(app.counts.get('slow_sender') ?? 0).toBeGreaterThanOrEqual(
      slow.what.includes('handshake') ? 50 : 0,
    )
  })
})

test.each([
  ['tcp', TCP],
  ['http', HTTP],
] as const)(
  'limits.connections a flood of connections to a port of %s is dropped beyond the limit, and there is room again after it',
  async (at, listen) => {
    const { app } = target({ connections: 20 })
    const running = await app.listen({ ...listen, onUncaught: 'exit' })
    onTestFinished(() => running.close())
    const port = Number(new URL(running.addresses[at] as string).port)
    const sockets = Array.from({ length: 300 }, () => connect({ port, host: '127.0.0.1' }))
    for (const socket of sockets) socket.on('error', () => undefined).resume()
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    await expect.poll(() => app.counts.get('too_many_connections') ?? 0).toBeGreaterThanOrEqual(300 - 20 - 64)
    sockets.forEach((socket) => socket.destroy())
    const addresses = running.addresses as Readonly<Record<string, string>>
    const served = (): Promise<unknown> => answerOf(at, addresses).catch(() => undefined)
    await expect.poll(served).toMatchObject(SERVED)
  },
)

/** What another client on the same port is answered; nothing where only WebSocket or TLS of HTTP is served. */
async function answerOf(at: Slow['at'], addresses: Readonly<Record<string, string>>): Promise<unknown> {
  if (at === 'tcp') {
    const wire = await dial(addresses['tcp'])
    await wire.write(`${echo('2026-07-28', 5)}\n`)
    const [reply] = await wire.heard(1)
    wire.socket.destroy()
    return reply
  }
  if (addresses['http']?.startsWith('http:') !== true) return SERVED
  const request = headed('tools/call', { name: 'echo', arguments: { text: 'x' } }, 5)
  return (await send(Number(new URL(addresses['http']).port), request)).json
}
