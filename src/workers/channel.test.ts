import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { TASKS_TOO_LARGE } from '../errors/tasks.ts'
import { Channel, type Functions, type Port } from './channel.ts'

interface Pair {
  readonly near: Channel
  readonly far: Channel
  /** The messages that the near end sent. */
  readonly sent: object[]
  /** Sends a message that is none of ours. */
  sendOther(message: unknown): void
}

/** Two channels that are connected; `news` are those of the near one. */
function pair(
  functions: Functions,
  news?: () => unknown,
  onSend: (sent: () => void) => void = (sent) => sent(),
): Pair {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const sent: object[] = []
  const nearPort: Port = {
    send(message, done) {
      port1.postMessage(message)
      sent.push(message)
      onSend(done)
    },
    receive: (onMessage) => void port1.on('message', onMessage),
  }
  const farPort: Port = {
    send(message, done) {
      port2.postMessage(message)
      done()
    },
    receive: (onMessage) => void port2.on('message', onMessage),
  }
  return {
    near: new Channel(nearPort, {}, news),
    far: new Channel(farPort, functions),
    sent,
    sendOther: (message) => port1.postMessage(message),
  }
}

test('answers and errors come back, from functions that answer at once or later', async () => {
  const { near } = pair({
    now: (value: unknown) => value,
    later: async (value: unknown) => value,
    fails: () => {
      throw mcpError(TASKS_TOO_LARGE, { limit: 9 })
    },
    failsLater: async () => {
      throw Object.assign(new Error('in use', { cause: new Error('why') }), { code: 'EADDRINUSE' })
    },
  })
  const fields = new Map([['a', '\ud800']])
  expect(await near.call('now', fields)).toEqual(fields)
  expect(await near.call('later', undefined)).toBeUndefined()
  const { kind, code, hint, message } = mcpError(TASKS_TOO_LARGE, { limit: 9 })
  await expect(near.call('fails')).rejects.toMatchObject({ kind, code, hint, message })
  const cause = expect.objectContaining({ message: 'why' }) as unknown
  await expect(near.call('failsLater')).rejects.toMatchObject({
    message: 'in use',
    code: 'EADDRINUSE',
    cause,
  })
})

test('a function that does not exist, such as one of all objects, is an error', async () => {
  const { near } = pair({})
  await expect(near.call('toString')).rejects.toThrow('there is no function toString')
})

test('messages of the program are ignored', async () => {
  const { near, sendOther } = pair({ now: () => 1 })
  for (const other of [undefined, null, 'text', { cmd: 'mine' }, { pierhead: 'text' }]) sendOther(other)
  expect(await near.call('now')).toBe(1)
})

test('what cannot be copied fails alone, as an argument and as an answer', async () => {
  const { near } = pair({ now: () => 1, odd: () => (): number => 1 })
  await expect(near.call('now', () => 1)).rejects.toThrow('could not be cloned')
  await expect(near.call('odd')).rejects.toThrow('could not be cloned')
  expect(await near.call('now')).toBe(1)
})

test('while messages leave, entries and news are collected for the next one', async () => {
  let news: number[] = []
  const waiting: (() => void)[] = []
  const heard: unknown[] = []
  const { near, sent } = pair(
    { now: () => 1, news: (all: unknown) => void heard.push(all) },
    () => (news.length === 0 ? undefined : news.splice(0)),
    (done) => void waiting.push(done),
  )
  for (let count = 0; count < 8; count++) expect(await near.call('now')).toBe(1)
  const others = [near.call('now'), near.call('now')]
  for (let count = 0; count < 1000; count++) {
    news = [count]
    near.hasNews()
  }
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toHaveLength(8)
  waiting.shift()?.()
  await Promise.all(others)
  expect(sent).toHaveLength(9)
  expect(heard).toEqual([[999]])
})

test('calls beyond a bound fail because there are too many, and calls after the end as if the store were away', async () => {
  const { near } = pair({ never: () => new Promise(() => undefined) })
  const calls = Array.from({ length: 50_000 }, () => near.call('never').catch((error: unknown) => error))
  await expect(near.call('never')).rejects.toMatchObject({ kind: 'overloaded', retryAfterMs: 1000 })
  near.close()
  expect(await Promise.all(calls)).toEqual(
    Array.from({ length: 50_000 }, () => expect.objectContaining({ kind: 'store_unreachable' }) as unknown),
  )
})

test('what cannot be copied does not harm what travels with it', async () => {
  const heard: unknown[] = []
  const { near } = pair({
    now: (value: unknown) => value,
    odd: () => (): number => 1,
    fails: () => {
      throw new Error('on purpose')
    },
    hear: (value: unknown) => void heard.push(value),
  })
  near.tell('hear', 1)
  const calls = [near.call('now', 1), near.call('now', () => 1), near.call('odd'), near.call('fails')]
  near.tell('hear', () => 2)
  near.tell('hear', 3)
  const results = await Promise.allSettled([...calls, near.call('now', 2)])
  const reasons = results.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))
  const uncloned = expect.stringContaining('could not be cloned') as unknown
  expect(reasons).toEqual([1, uncloned, uncloned, 'Error: on purpose', 2])
  expect(heard).toEqual([1, 3])
})

test('a closed channel runs nothing more', async () => {
  const heard: unknown[] = []
  let receive: (message: unknown) => void = () => undefined
  const port: Port = { send: (_, sent) => sent(), receive: (onMessage) => void (receive = onMessage) }
  const channel = new Channel(port, { hear: (value: unknown) => void heard.push(value) })
  receive({ pierhead: [['notice', 'hear', [1]]] })
  channel.close()
  receive({
    pierhead: [
      ['notice', 'hear', [2]],
      ['call', 1, 'hear', [3]],
    ],
  })
  expect(heard).toEqual([1])
})

test('large entries travel in several messages, of which few leave at the same time', async () => {
  const leaving: (() => void)[] = []
  const messages: (readonly unknown[])[] = []
  const port: Port = {
    send(message, sent) {
      messages.push((message as { readonly pierhead: readonly unknown[] }).pierhead)
      leaving.push(sent)
    },
    receive: () => undefined,
  }
  const channel = new Channel(port, {})
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const fields = new Map(Array.from({ length: 3 }, (_, at) => [String(at), 'x'.repeat(1_000_000)]))
  for (let count = 0; count < 10; count++) channel.tell('hear', { version: 1, fields })
  const counts = (): readonly number[] => messages.map(({ length }) => length)
  await turn()
  expect(counts()).toEqual([2])
  for (let count = 0; count < 5; count++) {
    channel.tell('hear', 'small')
    await turn()
  }
  expect(counts()).toEqual([2, 2])
  for (let at = 0; at < leaving.length; at++) {
    leaving[at]!()
    await turn()
  }
  expect(counts()).toEqual([2, 2, 2, 2, 2, 5])
})
