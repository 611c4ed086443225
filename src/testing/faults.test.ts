import { describe, expect, test } from 'vitest'
import { createServer } from '../index.ts'
import { everyRevision, testClient, type TestClient } from './test-client.ts'

async function start(
  revision: Parameters<Parameters<typeof everyRevision>[0]>[0],
): Promise<{ readonly client: TestClient; readonly runs: () => number }> {
  let runs = 0
  const app = createServer({ name: 'faulty', version: '1', log: () => undefined }).tool(
    'run',
    {},
    (_, { progress }) => {
      runs++
      for (let step = 1; step <= 3; step++) progress(step)
      return 'ran'
    },
  )
  return { client: await testClient(app, { revision }), runs: () => runs }
}

function statesOf(client: TestClient): readonly unknown[] {
  return client.events.filter(({ kind }) => kind === 'state').map(({ value }) => value)
}

everyRevision((revision) =>
  describe(`at ${revision}`, () => {
    test('a dropped connection is opened anew with the next request', async () => {
      const { client } = await start(revision)
      client.faults.drop()
      expect(client.state).toBe('reconnecting')
      expect(await client.call('run')).toBe('ran')
      expect([client.faults.opened, ...statesOf(client)]).toEqual([2, 'ready', 'reconnecting', 'ready'])
      await client.close()
    })

    test('a connection that drops after some messages fails the call that may not be repeated', async () => {
      const { client, runs } = await start(revision)
      client.faults.drop(2)
      await expect(client.call('run')).rejects.toMatchObject({ kind: 'connection_closed' })
      expect(runs()).toBe(1)
      expect(await client.call('run', {}, { idempotent: true })).toBe('ran')
      client.faults.drop(2)
      expect(await client.call('run', {}, { idempotent: true })).toBe('ran')
      expect([runs(), client.faults.opened]).toEqual([4, 3])
      await client.close()
    })

    test('a lost session is opened anew, and the request that met it is sent again [S2-13-C11]', async () => {
      const { client, runs } = await start(revision)
      client.faults.loseSession()
      expect(await client.call('run')).toBe('ran')
      expect([runs(), client.faults.opened]).toEqual([1, 2])
      await client.close()
    })

    test('a slow server is waited for, as long as somebody wants to', async () => {
      const { client } = await start(revision)
      client.faults.slow(30)
      const began = performance.now()
      expect(await client.call('run')).toBe('ran')
      expect(performance.now() - began).toBeGreaterThan(25)
      client.faults.slow(500)
      await expect(client.call('run', {}, { timeout: 40 })).rejects.toMatchObject({ kind: 'timeout' })
      await client.close()
    })
  }),
)
