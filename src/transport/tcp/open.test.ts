import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openSocket } from './open.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
})

/** A server that accepts connections and stays silent. */
async function silent(): Promise<readonly [server: Server, port: number]> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return [server, (server.address() as AddressInfo).port]
}

test.each([
  ['ten seconds', undefined, 10],
  ['ten seconds, even if more is allowed,', 60_000, 10],
  ['the time that is allowed', 3000, 3],
])('a server that does not complete the handshake within %s times out', async (_, timeoutMs, seconds) => {
  const [server, port] = await silent()
  const came = once(server, 'connection') as Promise<[Socket]>
  let error: unknown
  const opening = openSocket(new URL(`tls://127.0.0.1:${port}`), {}, timeoutMs)().catch(
    (thrown: unknown) => (error = thrown),
  )
  const [socket] = await came
  const gone = once(socket.resume(), 'close')
  await vi.advanceTimersByTimeAsync(seconds * 1000 - 1)
  expect(error).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(error).toMatchObject({
    kind: 'connect_failed',
    message: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:\\d+.*no response within ${seconds} seconds`)),
  })
  await Promise.all([opening, gone])
})

test('no timer remains once the server accepted or refused the connection', async () => {
  const [server, port] = await silent()
  const open = openSocket(new URL(`tcp://127.0.0.1:${port}`), {})
  const opening = open()
  expect(vi.getTimerCount()).toBe(1)
  const socket = await opening
  expect([vi.getTimerCount(), socket.destroyed]).toEqual([0, false])
  socket.destroy()
  await new Promise((resolve) => server.close(resolve))
  await expect(open()).rejects.toMatchObject({ kind: 'connect_failed', cause: { code: 'ECONNREFUSED' } })
  expect(vi.getTimerCount()).toBe(0)
})

test('errors after connecting are left to the user of the socket', async () => {
  const [, port] = await silent()
  const socket = await openSocket(new URL(`tcp://127.0.0.1:${port}`), {})()
  const gone = new Promise((resolve) => socket.once('close', resolve))
  socket.destroy(new Error('broken'))
  expect(await gone).toBe(true)
})
