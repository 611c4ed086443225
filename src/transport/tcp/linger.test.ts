import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { linger } from './linger.ts'

/** Both ends of a connection; the other end does not close by itself. */
async function pair(): Promise<readonly [ours: Socket, theirs: Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const theirs = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [ours] = (await once(server, 'connection')) as [Socket]
  for (const socket of [ours, theirs]) onTestFinished(() => void socket.destroy())
  return [ours, theirs]
}

test('a connection stays open until the other side closes it too, and reads further input', async () => {
  const [ours, theirs] = await pair()
  let heard = 0
  ours.on('data', () => heard++)
  ours.pause()
  ours.write('last words')
  const ended = linger(ours, Infinity)
  const said = (await once(theirs, 'data')) as [Buffer]
  theirs.resume()
  await once(theirs, 'end')
  expect([String(said[0]), ours.destroyed]).toEqual(['last words', false])
  theirs.end('too late')
  await ended
  expect([ours.destroyed, ours.bytesRead, heard]).toEqual([true, 8, 0])
})

test('a peer that never closes is aborted after the timeout', async () => {
  const [ours] = await pair()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const ended = linger(ours, 100)
  await vi.advanceTimersByTimeAsync(99)
  expect(ours.destroyed).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await ended
  expect(ours.destroyed).toBe(true)
})

test('a closed connection is not waited for', async () => {
  const [ours] = await pair()
  ours.destroy()
  await once(ours, 'close')
  await linger(ours, Infinity)
  expect(ours.destroyed).toBe(true)
})
