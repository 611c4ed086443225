import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { PendingRequests } from './pending-requests.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Asks a question, and records what is sent about it. */
function ask(pending: PendingRequests, { timeoutMs = 1000, send = (_: number): void => undefined } = {}) {
  const controller = new AbortController()
  const sent: number[] = []
  const cancelled: number[] = []
  const answer = pending.ask('roots/list', (id) => (sent.push(id), send(id)), {
    signal: controller.signal,
    timeoutMs,
    cancel: (id) => void cancelled.push(id),
  })
  answer.catch(() => undefined)
  return { answer, sent, cancelled, abort: () => controller.abort(new Error('stopped')) }
}

/** Every way in which a question ends without being given up. */
const ENDINGS: readonly (readonly [string, (pending: PendingRequests) => void, JsonObject])[] = [
  ['a result', (pending) => pending.settle({ id: 1, result: { roots: [] } }), { roots: [] }],
  [
    'an error',
    (pending) => pending.settle({ id: 1, error: { code: -1, message: 'no' } }),
    { kind: 'ask_refused' },
  ],
  ['the end of the connection', (pending) => pending.close(), { kind: 'connection_closed' }],
]

test.each(ENDINGS)(
  'after %s nothing is left of a question: no abort or timeout cancels it any more',
  async (_, end, expected) => {
    const pending = new PendingRequests()
    const question = ask(pending)
    end(pending)
    expect(await question.answer.catch((error: unknown) => error)).toMatchObject(expected)
    expect([pending.size, vi.getTimerCount()]).toEqual([0, 0])
    question.abort()
    vi.advanceTimersByTime(10_000)
    expect([question.sent, question.cancelled]).toEqual([[1], []])
  },
)

test('an abandoned request is cancelled once, and a late response to it is ignored', async () => {
  const pending = new PendingRequests()
  const [stopped, late, other] = [ask(pending), ask(pending), ask(pending, { timeoutMs: 2000 })]
  stopped.abort()
  await expect(stopped.answer).rejects.toThrow('stopped')
  vi.advanceTimersByTime(1000)
  await expect(late.answer).rejects.toMatchObject({
    kind: 'ask_refused',
    message: expect.stringContaining('no answer within 1000 ms') as string,
  })
  late.abort()
  expect([stopped.cancelled, late.cancelled, other.cancelled]).toEqual([[1], [2], []])
  for (const id of [1, 2, 99]) pending.settle({ id, result: {} })
  expect(pending.size).toBe(1)
  pending.settle({ id: 3, result: { heard: true } })
  expect(await other.answer).toEqual({ heard: true })
})

test('nothing is sent for a caller that has already cancelled, or on a closed connection', async () => {
  const pending = new PendingRequests()
  const send = vi.fn<(id: number) => void>()
  const options = {
    signal: AbortSignal.abort(new Error('gone')),
    timeoutMs: 1000,
    cancel: vi.fn<(id: number) => void>(),
  }
  await expect(pending.ask('roots/list', send, options)).rejects.toThrow('gone')
  pending.close()
  const { answer, sent, cancelled } = ask(pending)
  await expect(answer).rejects.toMatchObject({ kind: 'connection_closed' })
  expect([send.mock.calls, options.cancel.mock.calls, sent, cancelled]).toEqual([[], [], [], []])
  expect([pending.size, vi.getTimerCount()]).toEqual([0, 0])
})

test('a timeout too long for a timer never fires', () => {
  const pending = new PendingRequests()
  for (const timeoutMs of [2 ** 31, Infinity]) ask(pending, { timeoutMs })
  vi.advanceTimersByTime(86_400_000)
  expect([pending.size, vi.getTimerCount()]).toEqual([2, 0])
})

test('a request that cannot be sent fails at once and is not cancelled later', async () => {
  const pending = new PendingRequests()
  const fail = (): never => {
    throw new TypeError('no JSON')
  }
  const { answer, cancelled, abort } = ask(pending, { send: fail })
  await expect(answer).rejects.toThrow('no JSON')
  expect([pending.size, vi.getTimerCount()]).toEqual([0, 0])
  abort()
  vi.advanceTimersByTime(10_000)
  expect(cancelled).toEqual([])
})

test('a timer that nobody could stop does not cancel a question that was answered', async () => {
  const stop = vi.spyOn(globalThis, 'clearTimeout').mockImplementation(() => undefined)
  const pending = new PendingRequests()
  const { answer, cancelled } = ask(pending)
  pending.settle({ id: 1, result: { roots: [] } })
  expect([await answer, vi.getTimerCount()]).toEqual([{ roots: [] }, 1])
  vi.advanceTimersByTime(1000)
  expect(cancelled).toEqual([])
  stop.mockRestore()
})
