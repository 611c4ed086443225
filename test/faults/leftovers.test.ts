import { getEventListeners, setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import type { Running } from 'pierhead'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import { testClient } from '../../src/testing.ts'
import { createCountingApp } from './app.ts'
import { Cutter } from './cutter.ts'
import { Journal } from './journal.ts'
import { Sessions } from './session-network.ts'
import { collect } from '../harness/memory.ts'

const CALLS = 200

type Handles = ReadonlyMap<string, number>

/** What keeps this process alive, by kind. */
function handles(): Handles {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

function moreThan(before: Handles): readonly string[] {
  return [...handles()].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
}

/** What is open that was not before; what is closed may take a moment to be gone. */
async function leftSince(before: Handles): Promise<readonly string[]> {
  for (let turn = 0; turn < 150 && moreThan(before).length > 0; turn++)
    await new Promise((resolve) => setImmediate(() => setTimeout(resolve, 20)))
  return moreThan(before)
}

async function overHttp(
  revision: NonNullable<ConnectOptions['revision']>,
  trouble: (client: Client, network: Sessions, cutter: Cutter) => Promise<unknown>,
): Promise<void> {
  const { app } = createCountingApp()
  const running: Running = await app.listen({ http: { port: 0 } })
  const cutter = await Cutter.before(running.url as string)
  const network = new Sessions(running.url as string)
  const client = await connect(cutter.url, { revision, fetch: network.fetch })
  await trouble(client, network, cutter)
  await client.close()
  await cutter[Symbol.asyncDispose]()
  await running.close()
}

async function flood(client: Client, name: string, signal: AbortSignal): Promise<void> {
  setMaxListeners(0, signal)
  await Promise.allSettled(
    Array.from({ length: CALLS }, (_, index) => client.call(name, { key: `k${index}` }, { signal })),
  )
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
}

test.each(['2025-11-25', '2026-07-28'] as const)(
  'nothing is left of a client of %s over HTTP whose connections were cut under 200 calls',
  async (revision) => {
    const before = handles()
    const { signal } = new AbortController()
    await overHttp(revision, async (client, _, cutter) => {
      for (let turn = 0; turn < 3; turn++) {
        const flooding = flood(client, 'safe', signal)
        await new Promise((resolve) => setTimeout(resolve, 30))
        cutter.cutAll()
        await flooding
      }
      expect(await client.call('safe', { key: 'after' })).toBe('safe after')
    })
    expect(await leftSince(before)).toEqual([])
  },
)

test('nothing is left of a client over HTTP whose session was lost under 200 calls', async () => {
  const before = handles()
  const { signal } = new AbortController()
  await overHttp('2025-11-25', async (client, network) => {
    for (let turn = 0; turn < 3; turn++) {
      const flooding = flood(client, 'once', signal)
      await network.forget()
      await flooding
    }
  })
  expect(await leftSince(before)).toEqual([])
})

test('nothing is left of a client whose server program was killed under 200 calls [R063]', async () => {
  const before = handles()
  const { signal } = new AbortController()
  using journal = new Journal()
  const mortal = new URL('./mortal.mjs', import.meta.url).pathname
  const client = await connect(
    { command: process.execPath, args: [mortal, journal.path, 'ran', '3'] },
    { revision: '2025-11-25' },
  )
  for (let turn = 0; turn < 4; turn++) await flood(client, 'do', signal)
  await client.close()
  expect(await leftSince(before)).toEqual([])
})

test('200 calls that wait, are cancelled and time out cost no memory once they are over', async () => {
  const { app } = createCountingApp()
  app.tool(
    'wait',
    {},
    (_, { signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  )
  const client = await testClient(app)
  const { signal } = new AbortController()
  const round = async (): Promise<void> => {
    const stop = new AbortController()
    setMaxListeners(0, stop.signal, signal)
    const calls = Array.from({ length: CALLS }, (_, index) =>
      client
        .call(
          'wait',
          { key: 'x'.repeat(1000) },
          { signal: index % 2 === 0 ? stop.signal : signal, timeout: 20 },
        )
        .catch(() => undefined),
    )
    stop.abort()
    await Promise.all(calls)
    client.events.length = 0
  }
  const heap = async (): Promise<number> => {
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      collect()
    }
    return process.memoryUsage().heapUsed
  }
  for (let turn = 0; turn < 5; turn++) await round()
  const before = await heap()
  for (let turn = 0; turn < 20; turn++) await round()
  const grown = (await heap()) - before
  // 4000 calls of a kilobyte each: anything kept of them would show.
  expect(grown).toBeLessThan(2_000_000)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  await client.close()
})
