import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { readLimits } from '../../src/base/limits.ts'
import { CLIENT_LIMITS } from '../../src/protocol/client-limits.ts'
import { CLOSE } from '../../src/transport/ws/close-codes.ts'
import { connectWs } from '../../src/transport/ws/client.ts'
import { dial } from '../../src/transport/ws/node-socket.ts'
import { scripted } from './peer.ts'

const LIMITS = readLimits(CLIENT_LIMITS)
const BEAT_MS = 1000

/** A client's socket whose beats come when the test says so, and the server's end of it. */
async function beating(): Promise<{ readonly client: WebSocket; readonly server: WebSocket }> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { url, server } = await scripted(() => undefined)
  server.options.autoPong = false
  const accepted = once(server, 'connection')
  const options = { protocols: ['mcp'], headers: {}, tls: {}, maxBytes: 1000, heartbeatMs: BEAT_MS }
  const client = dial(new URL(url), options as unknown as Parameters<typeof dial>[1]) as unknown as WebSocket
  onTestFinished(() => client.terminate())
  client.on('error', () => undefined)
  await once(client, 'open')
  return { client, server: (await accepted)[0] as WebSocket }
}

test.each(['message', 'ping', 'pong'] as const)('a server that sends a %s is alive', async (way) => {
  const { client, server } = await beating()
  const say = { message: () => server.send('{}'), ping: () => server.ping(), pong: () => server.pong() }[way]
  let pings = 0
  server.on('ping', () => pings++)
  for (let beats = 0; beats < 4; beats++) {
    vi.advanceTimersByTime(BEAT_MS)
    const heard = once(client, way)
    say()
    await heard
  }
  expect([client.readyState, pings]).toEqual([client.OPEN, 0])
})

test('a server that says nothing is asked once, and left at the next beat', async () => {
  const { client, server } = await beating()
  const asked = once(server, 'ping')
  vi.advanceTimersByTime(2 * BEAT_MS)
  await asked
  expect(client.readyState).toBe(client.OPEN)
  const gone = once(client, 'close')
  vi.advanceTimersByTime(BEAT_MS)
  await gone
  expect(vi.getTimerCount()).toBe(0)
})

test('a client that closes waits until the server agreed', async () => {
  const { url, server } = await scripted(() => undefined)
  const accepted = once(server, 'connection')
  const open = connectWs(new URL(url), { headers: {}, tls: {}, heartbeatMs: BEAT_MS, limits: LIMITS })
  const line = await open({ onMessage: () => undefined, onDown: () => undefined })
  const [socket] = (await accepted) as [WebSocket]
  socket.pause()
  let isClosed = false
  const closed = line.close().then(() => (isClosed = true))
  for (let turns = 0; turns < 10; turns++) await turn()
  expect(isClosed).toBe(false)
  const left = once(socket, 'close')
  socket.resume()
  await closed
  expect((await left)[0]).toBe(CLOSE.done)
})
