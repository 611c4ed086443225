import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { memory, postgres as openDatabase, sqlite as openFile, type DriverOf } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startPostgres } from '../harness/postgres.ts'

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

describe('the contract', () => {
  const myStore = (_place: string): DriverOf<'tasks'> => memory()

  for (const { name, run } of taskStoreContract({ open: (place) => myStore(place).tasks }))
    test(`${name}`, async () => expect(await run()).toBeUndefined())
})
