import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CLIENT_LIMITS } from '../../../protocol/client-limits.ts'
import { readLimits } from '../../../base/limits.ts'
import { Deadline } from '../../../rpc/deadline.ts'
import type { ClientTransport } from '../../../rpc/client-transport.ts'
import { connectHttp } from './client.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const NONE = { onMessage: () => undefined, onDown: () => undefined }

/** A line with a session, to a server that ends it as the test says. */
async function open(end: (signal: AbortSignal) => Promise<Response>): Promise<ClientTransport> {
  const limits = readLimits(CLIENT_LIMITS)
  const fetch = async (_: unknown, { method, signal }: RequestInit = {}): Promise<Response> => {
    if (method === 'DELETE') return end(signal as AbortSignal)
    const headers = { 'content-type': 'application/json', 'mcp-session-id': 'one' }
    return new Response('{"jsonrpc":"2.0","id":1,"result":{}}', { headers })
  }
  const line = await connectHttp('http://127.0.0.1/mcp', { limits, fetch })(NONE)
  const method = 'initialize'
  const cancel = new Deadline({ method, idleMs: Infinity, totalMs: Infinity, signal: undefined })
  const text = '{"jsonrpc":"2.0","id":1,"method":"initialize"}'
  await line.request({ id: 1, method, text, headers: () => ({}), cancel, onMessage: () => undefined })
  line.agree('2025-11-25')
  return line
}

test.each([
  ['ends', () => Promise.resolve(new Response(null, { status: 204 }))],
  ['does not end', () => Promise.reject(new TypeError('fetch failed'))],
])('a line whose session the server %s leaves no timer behind', async (_, end) => {
  const line = await open(end)
  await line.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('a server that does not answer is waited for two seconds, and then left', async () => {
  let asked: AbortSignal | undefined
  const line = await open((signal) => {
    asked = signal
    return new Promise(() => undefined)
  })
  const closed = vi.fn<() => void>()
  const closing = line.close().then(closed)
  await vi.advanceTimersByTimeAsync(1999)
  expect([asked?.aborted, closed.mock.calls.length]).toEqual([false, 0])
  await vi.advanceTimersByTimeAsync(1)
  await closing
  expect([asked?.aborted, vi.getTimerCount()]).toEqual([true, 0])
})
