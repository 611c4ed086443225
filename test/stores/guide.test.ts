import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import {
  memory,
  postgres as openDatabase,
  redis as openRedis,
  sqlite as openFile,
  type DriverOf,
  type StoreDriver,
} from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startPostgres } from '../harness/postgres.ts'
import { startRedis } from '../harness/redis.ts'

test('a server keeps its tasks in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const sqlite = (name: string): DriverOf<'tasks'> => openFile(join(folder, name))
  const app = createServer({ name: 'films', version: '1.0.0', store: sqlite('films.db') })
  app.tool('render', { task: 'required' }, () => 'done')
  await app.close()
  const store = sqlite('films.db')
  expect(await store.tasks.list({ limit: 1 })).toEqual([])
  await store.close()
})

test('a server keeps its tasks in PostgreSQL', { timeout: 60_000 }, async () => {
  const server = await startPostgres()
  onTestFinished(() => server.close())
  const driver = openDatabase(server.url)
  onTestFinished(() => driver.close())
  const postgres = (_url: string): DriverOf<'tasks'> => driver
  const app = createServer({
    name: 'films',
    version: '1.0.0',
    store: postgres('postgres://ada@10.0.0.8/films'),
  })
  onTestFinished(() => app.close())
  const task = sampleTask({
    tool: 'render',
    node: 'dead',
    request: JSON.stringify({ revision: '2026-07-28', params: { name: 'render' }, capabilities: {} }),
  })
  await driver.tasks.create(task, ROOMY)
  app.tool('render', { task: { onRestart: 'retry' } }, () => 'done')
  await app.listen({ http: { port: 0 } })
  const { id } = task
  await expect
    .poll(async () => driver.tasks.head(id), { timeout: 30_000 })
    .toMatchObject({ status: 'completed' })
})

test('nodes share Redis, and take over tasks from each other', { timeout: 60_000 }, async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  const driver = openRedis(server.url)
  const redis = (_url: string): ReturnType<typeof openRedis> => driver
  const app = createServer({ name: 'films', version: '1.0.0', store: redis('redis://10.0.0.7:6379') })
  onTestFinished(async () => {
    await app.close()
    await driver.close()
  })
  const request = JSON.stringify({ revision: '2026-07-28', params: { name: 'render' }, capabilities: {} })
  const task = sampleTask({ node: 'dead', request })
  await driver.tasks.create(task, ROOMY)
  app.tool('render', { task: { onRestart: 'retry' } }, () => 'done')
  await app.listen({ http: { port: 0 } })
  await expect
    .poll(async () => driver.tasks.head(task.id), { timeout: 30_000 })
    .toMatchObject({ status: 'completed' })
})

test('nodes share Redis and PostgreSQL', { timeout: 60_000 }, async () => {
  const cache = await startRedis()
  onTestFinished(() => cache.close())
  const database = await startPostgres()
  onTestFinished(() => database.close())
  const opened: StoreDriver[] = []
  const keep = <Driver extends StoreDriver>(driver: Driver): Driver => (opened.push(driver), driver)
  onTestFinished(async () => {
    for (const driver of opened) await driver.close()
  })
  const redis = (_url: string): ReturnType<typeof openRedis> => keep(openRedis(cache.url))
  const postgres = (_url: string): DriverOf<'tasks'> => keep(openDatabase(database.url))
  const start = async (): Promise<string> => {
    const app = createServer({
      name: 'films',
      version: '1.0.0',
      store: { ...redis('redis://10.0.0.7:6379'), tasks: postgres('postgres://ada@10.0.0.8/films').tasks },
    })
    app.tool('count', {}, async (_, { session }) => {
      const count = ((await session?.get<number>('count')) ?? 0) + 1
      await session?.set('count', count)
      return `${count}`
    })
    app.tool('render', { task: 'required' }, () => 'done')
    onTestFinished(() => app.close())
    return (await app.listen({ http: { port: 0 } })).url as string
  }
  const urls = [await start(), await start()]
  let requests = 0
  const fetchOfNext: typeof fetch = (input, init) => {
    const url = new URL(input as string | URL)
    url.port = new URL(urls[requests++ % 2] as string).port
    return fetch(url, init)
  }
  await using client = await connect(urls[0] as string, { revision: '2025-11-25', fetch: fetchOfNext })
  for (const count of ['1', '2', '3', '4']) expect(await client.call('count')).toBe(count)
  expect(await client.call('render')).toBe('done')
})

describe('the contract', () => {
  const myStore = (_place: string): DriverOf<'tasks'> => memory()

  for (const { name, run } of taskStoreContract({ open: (place) => myStore(place).tasks }))
    test(`${name}`, async () => expect(await run()).toBeUndefined())
})
