import { expect, onTestFinished, test, vi } from 'vitest'
import { ChangeQueue } from './change-queue.ts'
import { McpError } from '../errors/error.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import type { Change, Watched } from './watched.ts'
import { Watcher, type WatcherEvents } from './watcher.ts'
import { processorMs } from '../../test/harness/processor.ts'

const LIMIT = 1000
const LONGEST = 8191

const EVENTS: WatcherEvents = {
  onSubscribed: () => undefined,
  onStale: () => undefined,
  warn: () => undefined,
}

/** A watcher with this many unread changes; `rest` reads the changes after them. */
function watch(watched: Watched, unread = 0): { change(change: Change): void; rest(): Promise<unknown[]> } {
  const queue = new ChangeQueue()
  const watcher = new Watcher({} as ReconnectingConnection, watched, queue, EVENTS)
  for (let at = 0; at < unread; at++) watcher.onChange({ kind: 'resource', uri: `note://all/${at}` })
  return {
    change: (change) => watcher.onChange(change),
    async rest() {
      queue.end()
      const read: string[] = []
      for await (const change of queue.read())
        read.push(change.kind === 'resource' ? change.uri : change.kind)
      return read.slice(unread)
    },
  }
}

test('an acknowledgement is read once, however many resources are watched', () => {
  const uris = Array.from({ length: 50 }, (_, at) => `note://${at}`)
  const queue = new ChangeQueue()
  const watcher = new Watcher({} as ReconnectingConnection, { resources: uris }, queue, EVENTS)
  let reads = 0
  const others = Array.from({ length: 1000 }, (_, at) => `other://${at}`)
  const accepted = new Proxy([...others, ...uris], {
    get(list, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++
      return Reflect.get(list, key) as unknown
    },
  })
  const params = { notifications: { resourceSubscriptions: accepted } }
  watcher.onNotification({ method: 'notifications/subscriptions/acknowledged', params })
  expect(reads).toBeLessThanOrEqual(accepted.length)
  expect(queue.signal.aborted).toBe(false)
})

const NOTES = { resources: ['note://all', 'note://all/old/', 'note://al'] }

test('the queue holds a thousand changes; after that only the watched resource is reported as changed', async () => {
  const within = watch(NOTES, LIMIT - 1)
  within.change({ kind: 'resource', uri: 'note://all/new' })
  expect(await within.rest()).toEqual(['note://all/new'])
  const beyond = watch(NOTES, LIMIT)
  for (const name of ['new', 'newer']) beyond.change({ kind: 'resource', uri: `note://all/${name}` })
  expect(await beyond.rest()).toEqual(['note://all'])
})

test('a full queue reports only the watched resources that contain the change', async () => {
  const watcher = watch(NOTES, LIMIT)
  watcher.change({ kind: 'resource', uri: 'note://all/old/1' })
  watcher.change({ kind: 'resource', uri: 'note://alley' })
  expect(await watcher.rest()).toEqual(['note://all/old/', 'note://all'])
})

test('a full queue does not read all watched URIs that contain a change again for each', async () => {
  const cost = (count: number): Promise<number> => {
    const parents = Array.from(
      { length: count },
      (_, at) => `note://all/${'x'.repeat(6000)}/${'a/'.repeat(at)}`,
    )
    const watcher = watch({ resources: ['note://all', ...parents] }, LIMIT)
    const uri = `note://all/${'x'.repeat(6000)}/${'a/'.repeat(999)}`
    return processorMs(() => {
      for (let at = 0; at < 200; at++) watcher.change({ kind: 'resource', uri: `${uri}${at}` })
    })
  }
  await cost(10)
  const few = await cost(10)
  expect(await cost(999)).toBeLessThan(20 * few)
})

test('for a URI that is too long, the watched resource is reported as changed', async () => {
  const watcher = watch(NOTES)
  const uri = 'note://al/'.padEnd(LONGEST, 'x')
  watcher.change({ kind: 'resource', uri })
  watcher.change({ kind: 'resource', uri: `${uri}x` })
  expect(await watcher.rest()).toEqual([uri, 'note://al'])
})

test('a full queue still takes changes of lists, but only of those that are watched', async () => {
  const watcher = watch({ ...NOTES, tools: true }, LIMIT)
  for (const kind of ['tools', 'prompts', 'resources'] as const) watcher.change({ kind })
  expect(await watcher.rest()).toEqual(['tools'])
})

test('after a stream ends, everything watched is reported as changed once the next one is acknowledged', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const streams: (() => void)[] = []
  const connection = {
    agreement: async () => ({ revision: LATEST }),
    request: async (_method: string, _params: object, { onId }: { onId(id: number): void }) => {
      onId(streams.length)
      await new Promise<void>((resolve) => streams.push(resolve))
    },
  } as unknown as ReconnectingConnection
  const queue = new ChangeQueue()
  let acknowledged = 0
  const watcher = new Watcher(connection, { tools: true }, queue, {
    ...EVENTS,
    onSubscribed: () => acknowledged++,
  })
  const acknowledge = (): void =>
    watcher.onNotification({ method: 'notifications/subscriptions/acknowledged', params: {} })
  await watcher.subscribe()
  await vi.advanceTimersByTimeAsync(0)
  acknowledge()
  expect([acknowledged, queue.size]).toEqual([1, 0])
  streams[0]?.()
  await vi.advanceTimersByTimeAsync(999)
  expect(streams.length).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect([streams.length, queue.size]).toEqual([2, 0])
  acknowledge()
  expect([acknowledged, queue.size]).toEqual([2, 1])
  queue.end()
})

test('after a login that may be repeated only later, the server is asked again only then', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let asked = 0
  const connection = {
    agreement: async () => ({ revision: LATEST }),
    async request() {
      asked++
      throw new McpError('login_failed', 'too many logins', { retryable: true, retryAfterMs: 40_000 })
    },
  } as unknown as ReconnectingConnection
  const queue = new ChangeQueue()
  await new Watcher(connection, { tools: true }, queue, EVENTS).subscribe()
  await vi.advanceTimersByTimeAsync(39_999)
  expect(asked).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(asked).toBe(2)
  expect(queue.signal.aborted).toBe(false)
  queue.end()
})
