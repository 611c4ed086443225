import { expect, onTestFinished, test, vi } from 'vitest'
import { openEndpoint } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { listenHttp } from '../../src/transport/http/server/listen.ts'
import { serveWs } from '../../src/transport/ws/server.ts'
import { headed } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { frame, handshake, OPCODE, Raw } from './raw.ts'
import { open, start } from './server.ts'

function waiting(gate: Gate): App {
  return createServer({ name: 'shutdown', version: '1', log: () => undefined }).tool(
    'wait',
    {},
    async (_, { signal }) => {
      gate.enter()
      await Promise.race([gate.opened, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      return signal.aborted ? 'stopped' : 'done'
    },
  )
}

const CALL = frame(headed('tools/call', { name: 'wait', arguments: {} }, 1).body)

test('a server that stops answers what is running, then says 1001', async () => {
  const gate = new Gate()
  const { port, running } = await start(waiting(gate))
  const idle = await open(port)
  const busy = await open(port)
  busy.write(CALL)
  await gate.entered
  const closing = running.close()
  expect(await idle.closeCode()).toBe(1001)
  expect(busy.frames).toEqual([])
  busy.write(frame(headed('tools/call', { name: 'wait', arguments: {} }, 2).body))
  await busy.until(() => busy.texts.length === 1)
  expect(JSON.parse(busy.texts[0] as string)).toMatchObject({ id: 2, error: { code: 1077 } })
  gate.open()
  expect(await busy.closeCode()).toBe(1001)
  expect(JSON.parse(busy.texts[1] as string)).toMatchObject({
    id: 1,
    result: { content: [{ text: 'done' }] },
  })
  for (const raw of [idle, busy]) raw.write(frame(Buffer.from([3, 0xe9]), { opcode: OPCODE.close }))
  await closing
})

test('a client that does not complete the closing handshake is aborted', async () => {
  const { port, running } = await start(waiting(new Gate()), { ws: { port: 0 } })
  const raw = await open(port)
  await running.close()
  await raw.closed
  expect(raw.frames.map(({ opcode }) => opcode)).toEqual([OPCODE.close])
})

test('a client that does not complete the closing handshake is aborted, and its requests are cancelled, before close resolves', async () => {
  let signal: AbortSignal | undefined
  const gate = new Gate()
  const app = createServer({ name: 'shutdown', version: '1', log: () => undefined }).tool(
    'hang',
    {},
    (_, context) => {
      signal = context.signal
      gate.enter()
      return new Promise(() => undefined)
    },
  )
  const endpoint = await openEndpoint(app, { hosts: ['loopback'], cors: [], sessions: false, sse: false })
  const server = await listenHttp(endpoint, { host: '127.0.0.1', port: 0, path: '/mcp', upgradesOnly: true })
  onTestFinished(() => server.close())
  const ws = await serveWs(server.upgrades)
  server.upgrade('/mcp', ws)
  const raw = await open(server.port)
  raw.write(frame(headed('tools/call', { name: 'hang', arguments: {} }, 1).body))
  await gate.entered
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const closing = ws.close().then(() => signal?.aborted)
  await vi.advanceTimersByTimeAsync(app.limits.drainMs)
  expect(await raw.closeCode()).toBe(1001)
  expect(signal?.aborted).toBe(false)
  vi.advanceTimersByTime(2000)
  expect(await closing).toBe(true)
})

test('while a server stops, new connections are rejected', async () => {
  const gate = new Gate()
  const { port, running } = await start(waiting(gate))
  const busy = await open(port)
  busy.write(CALL)
  await gate.entered
  const closing = running.close()
  const late = new Raw(port)
  expect(await late.ask(handshake(port))).toBe(503)
  gate.open()
  await busy.closeCode()
  busy.socket.destroy()
  await closing
})

test('a client that goes away cancels what it asked for', async () => {
  const gate = new Gate()
  const app = waiting(gate)
  let ended: (value: unknown) => void
  const result = new Promise((resolve) => (ended = resolve))
  app.use('tools/call', async (_request, next) => {
    const answer = await next()
    ended(answer)
    return answer
  })
  const { port } = await start(app)
  const raw = await open(port)
  raw.write(CALL)
  await gate.entered
  raw.socket.destroy()
  expect(await result).toMatchObject({ content: [{ text: 'stopped' }] })
})
