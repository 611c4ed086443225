import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { serviceOf } from '../../src/app/app.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { headed, message } from '../http/messages.ts'
import { frame, handshake, OPCODE } from '../ws/raw.ts'

const MIB = 1_048_576
const { body: CALL } = headed('tools/call', { name: 'much', arguments: {} }, 1)

function server(limits: Partial<Limits> = {}): App {
  const bounds = { bodyMs: 300, unparsedBytes: MIB, ...limits }
  return createServer({ name: 'drips', version: '1', log: () => undefined, limits: bounds }).tool(
    'much',
    {},
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return 'x'.repeat(20 * MIB)
    },
  )
}

/** A client that reads nothing. */
async function deaf(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).pause()
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Sends something again and again, until the test is over. */
function drip(socket: Socket, drop: Uint8Array | string): void {
  const timer = setInterval(() => void (socket.destroyed || socket.write(drop)), 50)
  onTestFinished(() => clearInterval(timer))
}

interface Way {
  readonly transport: 'tcp' | 'ws' | 'http'
  readonly what: string
  ask(socket: Socket, port: number): void
  readonly drop: Uint8Array | string
}

const post =
  (path: string, body: string, more = '') =>
  (socket: Socket, port: number) =>
    void socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`,
    )
const HEADERS = Object.entries(headed('tools/call', { name: 'much', arguments: {} }, 1).headers)
  .filter(([name]) => /^mcp-/i.test(name))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')
const ENVELOPE = JSON.stringify({ request_id: crypto.randomUUID(), tool_id: 'much', arguments: {} })

const WAYS: readonly Way[] = [
  { transport: 'tcp', what: 'TCP', ask: (socket) => void socket.write(`${CALL}\n`), drop: '\n' },
  {
    transport: 'ws',
    what: 'WebSocket',
    ask: (socket, port) => void socket.write(Buffer.concat([Buffer.from(handshake(port)), frame(CALL)])),
    drop: frame('', { opcode: OPCODE.pong }),
  },
  { transport: 'http', what: 'HTTP', ask: post('/mcp', CALL, HEADERS), drop: '\r\n' },
  { transport: 'http', what: 'the gist route', ask: post('/gist', ENVELOPE), drop: '\r\n' },
]

async function start(app: App): Promise<(transport: Way['transport']) => number> {
  const options = { tcp: { port: 0 }, http: { port: 0, gist: true }, ws: true, onUncaught: 'exit' } as const
  const running = await app.listen(options)
  onTestFinished(() => running.close())
  return (transport) => Number(new URL(running.addresses[transport] as string).port)
}

test.each(WAYS)(
  'a client that takes nothing of its answer is cut off, though it sends a little all the time · $what',
  async ({ transport, ask, drop }) => {
    const app = server()
    const portOf = await start(app)
    const socket = await deaf(portOf(transport))
    ask(socket, portOf(transport))
    drip(socket, drop)
    await expect.poll(() => app.counts.get('slow_reader')).toBe(1)
  },
)

/** Time for the server to read what it would read: that it does not read has no event. */
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300))

test('over a WebSocket, a paused sender is not read while it reads nothing', async () => {
  const app = server({ bodyMs: 30_000 })
  const port = (await start(app))('ws')
  const half = (mebibytes: number): Buffer => frame(`{"a":"${'x'.repeat(mebibytes * MIB)}`, { fin: false })
  const rest = frame('"}', { opcode: OPCODE.more })
  const other = await deaf(port)
  other.write(Buffer.concat([Buffer.from(handshake(port)), half(0.6)]))
  await soon()
  const socket = await deaf(port)
  socket.write(Buffer.concat([Buffer.from(handshake(port)), frame(CALL), half(0.2)]))
  // Its answer comes while it waits.
  await expect.poll(() => budgetsOf(serviceOf(app), app.limits).write.total).toBeGreaterThan(MIB)
  other.write(rest)
  await soon()
  socket.write(rest)
  const note = frame(message('notifications/nothing', { text: 'x'.repeat(60_000) }))
  for (let sent = 0; sent < 32 * MIB; sent += note.length) socket.write(note)
  await soon()
  expect(socket.writableLength).toBeGreaterThan(16 * MIB)
})
