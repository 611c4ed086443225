import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect, createClient } from '../../src/client.ts'
import { everyRevision, testClient } from '../../src/testing.ts'
import { createCountingApp } from './app.ts'
import { Journal } from './journal.ts'

const kindOf = (error: unknown): string => (error as { kind: string }).kind
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** An HTTP server that shakes hands and then says nothing to anything. */
async function silentAfterHandshake(): Promise<string> {
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string }
      if (method === 'notifications/initialized') return response.writeHead(202).end()
      if (request.method === 'GET') return response.writeHead(405).end()
      if (method !== 'initialize') return undefined
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'silent', version: '1' },
      }
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' })
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

describe('a server that says nothing', () => {
  test('keeps no call waiting beyond its time, although it does not take the cancellation either [R054] [S2-13-C10]', async () => {
    const client = await connect(await silentAfterHandshake(), { revision: '2025-11-25' })
    ends.push(() => client.close())
    const kinds = await Promise.all(
      Array.from({ length: 200 }, () => client.call('any', {}, { timeout: 100 }).catch(kindOf)),
    )
    expect(new Set(kinds)).toEqual(new Set(['timeout']))
    const signal = AbortSignal.timeout(50)
    expect(await client.call('any', {}, { signal }).catch(kindOf)).toBe('cancelled')
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('keeps nobody from closing, even before it said anything at all', async () => {
    const url = await silentAfterHandshake()
    const client = createClient(url, { revision: '2026-07-28' })
    const opening = client.open().catch(kindOf)
    const calling = client.call('any').catch(kindOf)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await client.close()
    expect(await Promise.all([opening, calling])).toEqual(['closed', 'closed'])
    expect(await client.ping().catch(kindOf)).toBe('closed')
  })

  test('as a program keeps nobody from closing, and calls that wait end', async () => {
    using journal = new Journal()
    const mortal = new URL('./mortal.mjs', import.meta.url).pathname
    const client = await connect(
      { command: process.execPath, args: [mortal, journal.path, 'never', '0'] },
      { revision: '2025-11-25' },
    )
    const calls = Array.from({ length: 200 }, (_, index) =>
      client.call('silent', { key: `k${index}` }).catch(kindOf),
    )
    await client.close()
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['closed']))
  })
})

/** Lets time pass only when the test says so. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

describe('the time of a call', () => {
  everyRevision((revision) => {
    test(`ends in all at ${revision}, however lively the server is [S2-13-C10]`, async () => {
      const { app } = createCountingApp()
      app.tool('lively', {}, async (_, { progress, signal }) => {
        for (let step = 1; !signal.aborted; step++) {
          progress(step)
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      })
      await using client = await testClient(app, { revision })
      stopClock()
      for (const [timeout, total] of [
        [200, 300],
        [300, 300],
      ] as const) {
        const told: unknown[] = []
        const onProgress = ({ progress }: { readonly progress?: number | undefined }): void =>
          void told.push(progress)
        let end: unknown
        void client.call('lively', {}, { timeout, total, onProgress }).catch((error) => (end = kindOf(error)))
        await vi.advanceTimersByTimeAsync(299)
        expect([end, told.length > 20]).toEqual([undefined, true])
        await vi.advanceTimersByTimeAsync(1)
        expect(end).toBe('timeout')
      }
    })
  })

  test('ends with silence, which progress breaks', async () => {
    const { app } = createCountingApp()
    app.tool('slow', {}, async (_, { progress }) => {
      for (let step = 1; step <= 4; step++) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        progress(step)
      }
      return 'done'
    })
    await using client = await testClient(app)
    stopClock()
    const patient = client.call('slow', {}, { timeout: 250 })
    await vi.advanceTimersByTimeAsync(400)
    expect(await patient).toBe('done')
    const hasty = client.call('slow', {}, { timeout: 50 }).catch(kindOf)
    await vi.advanceTimersByTimeAsync(50)
    expect(await hasty).toBe('timeout')
  })

  test('given up by the caller tells the server, and a late answer reaches nobody', async () => {
    const counting = createCountingApp()
    await using client = await testClient(counting.app, { revision: '2025-11-25' })
    const stop = new AbortController()
    const call = client.call('hold', { key: 'a' }, { signal: stop.signal }).catch(kindOf)
    await counting.holding(1)
    stop.abort()
    expect(await call).toBe('cancelled')
    counting.release()
    expect(await client.call('once', { key: 'b' })).toBe('once b')
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
  })
})

test('a question that nobody can be answered any more is given up [S2-9.4-8]', async () => {
  const { app } = createCountingApp()
  app.tool('ask', {}, async (_, { elicit }) => {
    await elicit('Who?', { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] })
  })
  let asked: (signal: AbortSignal) => void = () => undefined
  const question = new Promise<AbortSignal>((resolve) => (asked = resolve))
  const client = await testClient(app, {
    revision: '2025-11-25',
    answers: {
      elicit: (_, signal) => {
        asked(signal)
        return new Promise(() => undefined)
      },
    },
  })
  const call = client.call('ask').catch(kindOf)
  const signal = await question
  expect(signal.aborted).toBe(false)
  client.faults.drop()
  expect(await call).toBe('connection_closed')
  expect(signal.aborted).toBe(true)
  await client.close()
})
