import { expect, onTestFinished, test, vi } from 'vitest'
import { createServer, serviceOf } from '../../../app/app.ts'
import { toLimits } from '../../../base/limits.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { Endpoint } from './endpoint.ts'
import type { EventStream } from './event-stream.ts'
import { serveFetch } from './fetch.ts'
import { Sweeper } from './sweeper.ts'

function useFakeIntervals(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** A sweeper over as many sessions as the test says, which counts what it does. */
function sweep(limits: Partial<Limits> = {}): {
  readonly sweeper: Sweeper
  readonly sessions: { size: number }
  readonly streams: Set<EventStream>
  readonly done: string[]
} {
  useFakeIntervals()
  const done: string[] = []
  const sessions = {
    size: 1,
    sweep: () => void done.push('sweep'),
    keepAlive: () => void done.push('keep alive'),
  }
  const streams = new Set<EventStream>()
  return { sweeper: new Sweeper(toLimits(limits), sessions as never, streams), sessions, streams, done }
}

test('sessions are looked at and kept alive at every interval, however often it is begun', () => {
  const { sweeper, done } = sweep({ keepAliveMs: 1000 })
  sweeper.begin()
  sweeper.begin()
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(999)
  expect(done).toEqual([])
  vi.advanceTimersByTime(1)
  expect(done).toEqual(['sweep', 'keep alive'])
  vi.advanceTimersByTime(1000)
  expect(done).toHaveLength(4)
  sweeper.end()
})

test('without comments idle sessions are still closed, every half a minute', () => {
  const { sweeper, done } = sweep({ keepAliveMs: Infinity })
  sweeper.begin()
  vi.advanceTimersByTime(29_999)
  expect(done).toEqual([])
  vi.advanceTimersByTime(1)
  expect(done).toEqual(['sweep'])
  sweeper.end()
})

test('the timer stops when there are neither sessions nor streams, and can begin again', () => {
  const { sweeper, sessions, streams, done } = sweep({ keepAliveMs: 1000 })
  const stream = { keepAlive: () => void done.push('comment') } as EventStream
  streams.add(stream)
  sessions.size = 0
  sweeper.begin()
  vi.advanceTimersByTime(1000)
  expect([done.at(-1), vi.getTimerCount()]).toEqual(['comment', 1])
  streams.delete(stream)
  sessions.size = 1
  vi.advanceTimersByTime(1000)
  expect(vi.getTimerCount()).toBe(1)
  sessions.size = 0
  vi.advanceTimersByTime(1000)
  expect(vi.getTimerCount()).toBe(0)
  sweeper.begin()
  expect(vi.getTimerCount()).toBe(1)
  sweeper.end()
  expect(vi.getTimerCount()).toBe(0)
})

test('an endpoint that was closed leaves no timer behind', async () => {
  useFakeIntervals()
  const service = serviceOf(createServer({ name: 'swept', version: '1' }))
  const options = { limits: toLimits({}), hosts: ['loopback'], cors: [], sessions: true }
  const endpoint = new Endpoint(service, options)
  const before = vi.getTimerCount()
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  }
  const reply = await serveFetch(endpoint)(
    new Request('http://localhost/mcp', {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    }),
  )
  expect([reply.status, endpoint.sessions.size]).toEqual([200, 1])
  expect(vi.getTimerCount()).toBeGreaterThan(before)
  await endpoint.close()
  expect([endpoint.sessions.size, vi.getTimerCount()]).toEqual([0, 0])
})
