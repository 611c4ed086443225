import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type App, type ServerStore } from '../../src/index.ts'
import { memory, redis, sqlite, type StoreDriver } from '../../src/stores.ts'
import { startRedis } from '../harness/redis.ts'
import { call } from '../http/messages.ts'
import { open, Session } from '../http/server.ts'

interface Kept {
  readonly result: { readonly content: readonly [{ readonly text: string }] }
}

/** A node with a driver of its own, as if it were another process. Answers its port. */
async function startNode(store: ServerStore): Promise<number> {
  const app = createServer({ name: 'option', version: '1', log: () => undefined, store })
  app.tool('keep', {}, async (_, { session }) => {
    const last = (await session?.get<number>('count')) ?? 0
    await session?.set('count', last + 1)
    return String(last + 1)
  })
  onTestFinished(() => (app as App).close())
  const { url } = await app.listen({ http: { port: 0 } })
  return Number(new URL(url as string).port)
}

async function driversOf(kind: 'Redis' | 'SQLite'): Promise<() => StoreDriver> {
  if (kind === 'Redis') {
    const server = await startRedis()
    onTestFinished(() => server.close())
    return () => closing(redis(server.url))
  }
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-option-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return () => closing(sqlite(join(folder, 'nodes.db'), { shared: true }))
}

function closing(driver: StoreDriver): StoreDriver {
  onTestFinished(async () => driver.close())
  return driver
}

describe.each(['Redis', 'SQLite'] as const)('with stores of %s that are named one by one', (kind) => {
  test('nodes share sessions as with the driver itself', async () => {
    const driver = await driversOf(kind)
    const named = (): ServerStore => {
      const { sessions, events, tasks, changes, cache, rates } = driver()
      return { sessions, events, tasks, changes, cache, rates }
    }
    const ports = [await startNode(named()), await startNode(named()), await startNode(driver())]
    const session = await open(ports[0] as number)
    for (const [at, port] of ports.entries()) {
      const { json } = await new Session(port, session.headers).post(call('keep'))
      expect((json as unknown as Kept).result.content[0].text).toBe(String(at + 1))
    }
  })

  test('a second node does not start if a kind is missing', async () => {
    const driver = await driversOf(kind)
    const { sessions, events, changes, cache } = driver()
    await startNode({ sessions, events, changes, cache })
    const { sessions: ofSecond } = driver()
    await expect(startNode({ sessions: ofSecond })).rejects.toMatchObject({
      kind: 'store_not_shared',
      message: expect.stringMatching(
        /this process keeps in its own memory: events, changes, cache$/,
      ) as string,
    })
  })

  test.each(['sessions', 'events', 'changes', 'cache'] as const)(
    'a second node with the %s of memory() does not start',
    async (name) => {
      const driver = await driversOf(kind)
      await startNode(driver())
      await expect(startNode({ ...driver(), [name]: memory()[name] })).rejects.toMatchObject({
        kind: 'store_not_shared',
        message: expect.stringMatching(
          new RegExp(`this process keeps in its own memory: ${name}$`),
        ) as string,
      })
    },
  )
})
