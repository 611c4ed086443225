import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { memory, sqlite as openFile, type DriverOf } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'

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

describe('the contract', () => {
  const myStore = (_place: string): DriverOf<'tasks'> => memory()

  for (const { name, run } of taskStoreContract({ open: (place) => myStore(place).tasks }))
    test(`${name}`, async () => expect(await run()).toBeUndefined())
})
