import { expect } from 'vitest'
import type { Progress, State } from '../../src/client.ts'
import { failure, next } from './gather.ts'
import { scenario } from './scenario.ts'

let names = 0

scenario('progress is reported while a call runs [S2-13-C5]', async (client, { revision }) => {
  const told: Progress[] = []
  expect(await client.call('count', {}, { onProgress: (progress) => told.push(progress) })).toBe('counted')
  const message = (step: number): object => (revision >= '2025-03-26' ? { message: `step ${step}` } : {})
  expect(told).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3, ...message(progress) })))
})

scenario(
  'a signal cancels a call, of which the server hears in the way of the revision [R067]',
  async (client) => {
    const name = `cancel ${++names} ${Math.random()}`
    const stop = new AbortController()
    const reason = new Error('enough')
    const options = { signal: stop.signal, onProgress: () => stop.abort(reason) }
    expect(await failure(client.call('wait', { name }, options))).toMatchObject({
      kind: 'cancelled',
      cause: reason,
    })
    expect(await client.call('ended', { name })).toBe('cancelled')
    expect(await failure(client.call('echo', { text: 'x' }, { signal: stop.signal }))).toMatchObject({
      kind: 'cancelled',
    })
  },
)

scenario('silence ends a call and cancels it on the server [R054] [S2-13-C10]', async (client) => {
  const name = `silent ${++names} ${Math.random()}`
  const error = await failure(client.call('wait', { name }, { timeout: 60 }))
  expect(error).toMatchObject({ kind: 'timeout' })
  expect(await client.call('ended', { name })).toBe('cancelled')
})

scenario(
  'progress begins the silence anew, and a total ends even a lively call [R054] [S2-13-C10]',
  async (client) => {
    expect(await client.call('tick', { ms: 220 }, { timeout: 1000 })).toBe('ticked')
    expect(await failure(client.call('tick', { ms: 220 }, { timeout: 1000, total: 500 }))).toMatchObject({
      kind: 'timeout',
    })
  },
)

scenario('a server that is there answers a ping', async (client) => {
  expect(await client.ping()).toBeUndefined()
})

scenario('log messages come from the level on that was set [S2-13-C5]', async (_, { join }) => {
  const client = await join()
  const logs: string[] = []
  client.on('log', ({ level, data }) => logs.push(`${level} ${String(data)}`))
  await client.setLogLevel('error')
  const loud = next(client, 'log')
  await client.call('speak')
  await loud
  expect(logs).toEqual(['error loud'])
  await client.setLogLevel('debug')
  const quiet = next(client, 'log')
  await client.call('speak')
  await quiet
  expect(logs[1]).toBe('debug quiet')
})

scenario('a client shows its state and reports when it changes', async (_, { join }) => {
  const client = await join()
  const states: State[] = []
  const off = client.on('state', (state) => states.push(state))
  expect(client.state).toBe('ready')
  await client.close()
  expect(states).toEqual(['closed'])
  off()
})
