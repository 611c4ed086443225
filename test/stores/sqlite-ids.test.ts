import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { findEngine } from '../../src/store/sqlite-engine.ts'
import { sqlite } from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { ODD_TEXTS } from '../../src/testing/odd-texts.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-ids-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function open(path: string): ReturnType<typeof sqlite> {
  const driver = sqlite(path)
  onTestFinished(() => driver.close())
  return driver
}

test('tasks that are removed have the ids that they were created with, here and in other processes', async () => {
  const path = join(folder, 'expired.db')
  const { tasks } = open(path)
  const { tasks: other } = open(path)
  const ids = ODD_TEXTS.map((text, index) => `${text}${index}`)
  for (const id of ids) await tasks.create(sampleTask({ id, ttlMs: 1 }), ROOMY)
  const here = new Set<string>()
  const there = new Set<string>()
  onTestFinished(tasks.watch((id) => void here.add(id)))
  onTestFinished(other.watch((id) => void there.add(id)))
  expect(new Set(await tasks.expire(Number.MAX_SAFE_INTEGER, 1000))).toEqual(new Set(ids))
  expect(here).toEqual(new Set(ids))
  await expect.poll(() => there).toEqual(new Set(ids))
})

test('a damaged id in the changes of another process hides no other change', async () => {
  const path = join(folder, 'damaged.db')
  const { tasks } = open(path)
  const heard: string[] = []
  onTestFinished(tasks.watch((id) => void heard.push(id)))
  const database = findEngine()(path)
  onTestFinished(() => void database.close())
  const insert = database.prepare('INSERT INTO pierhead_task_changes (writer, ids) VALUES (?, ?)')
  insert.run('another process', JSON.stringify(['\u0001not JSON', 'task-2']))
  await expect.poll(() => heard).toContain('task-2')
})
