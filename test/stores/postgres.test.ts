import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres, type TaskStore } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'
import { KITS } from './kits.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server.close())

const opened = (schema: string): ReturnType<typeof postgres> =>
  postgres({ connectionString: server.url, schema, commandTimeout: '30s' })

describe('tasks in PostgreSQL', () => {
  const open = (schema: string): TaskStore => opened(schema).tasks

  test.each(taskStoreContract({ open, durable: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

const { cache, rates, nodes } = KITS

describe.each(Object.entries({ cache, rates, nodes }))('%s in PostgreSQL', (_kind, kit) => {
  test.each(kit({ open: opened, shared: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})
