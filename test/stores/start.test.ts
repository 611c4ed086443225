import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createServer, type ServerStore } from '../../src/index.ts'
import { postgres, redis, sqlite } from '../../src/stores.ts'
import { freePort } from '../harness/free-port.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.close())

type Driver = ServerStore & { close(): unknown }

function opened<Opened extends Driver>(driver: Opened): Opened {
  onTestFinished(async () => void (await driver.close()))
  return driver
}

const shared = (prefix: string): ReturnType<typeof redis> =>
  opened(redis({ url: server.url, prefix, warn() {} }))

/** A PostgreSQL that nobody runs. */
async function noPostgres(): Promise<ReturnType<typeof postgres>> {
  const connectionString = `postgres://ann:geheim@127.0.0.1:${await freePort()}/films`
  return opened(postgres({ connectionString, commandTimeout: 100 }))
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'pierhead-start-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Starts a server. Answers the error if it does not start. */
async function start(store: ServerStore, hasTasks = true): Promise<unknown> {
  const app = createServer({ name: 'films', version: '1.0.0', store, log() {} })
  app.tool('render', hasTasks ? { task: 'optional' } : {}, () => 'done')
  onTestFinished(() => app.close())
  return app.listen({ http: { port: 0 } }).then(
    () => 'started',
    (error: unknown) => error,
  )
}

test('a server with tasks does not start while their store cannot be reached', async () => {
  const { tasks } = await noPostgres()
  for (const store of [{ ...shared('away'), tasks }, { tasks }])
    expect(await start(store)).toMatchObject({
      kind: 'store_unreachable',
      hint: expect.stringContaining('127.0.0.1') as string,
    })
})

test('a server without tasks starts without their store', async () => {
  const { tasks } = await noPostgres()
  expect(await start({ ...shared('none'), tasks }, false)).toBe('started')
})

test('a node that keeps tasks in another store than the other nodes does not start', async () => {
  const path = folder()
  const files = (['one.db', 'two.db', 'one.db'] as const).map((name) => opened(sqlite(join(path, name))))
  const nodes = files.map(({ tasks }) => ({ ...shared('kept'), tasks }))
  expect(await start(nodes[0]!)).toBe('started')
  const differs = { kind: 'store_differs', message: expect.stringContaining('tasks') as string }
  expect(await start(nodes[1]!)).toMatchObject(differs)
  expect(await start(shared('kept'))).toMatchObject(differs)
  expect(await start(nodes[2]!)).toBe('started')
  // A version of the server without tasks may run beside them.
  expect(await start(shared('kept'), false)).toBe('started')
})

test('nodes that keep tasks in one Redis start beside each other', async () => {
  expect(await start(shared('both'))).toBe('started')
  expect(await start(shared('both'))).toBe('started')
  expect(await start({ ...shared('both'), tasks: shared('other').tasks })).toMatchObject({
    kind: 'store_differs',
  })
})
