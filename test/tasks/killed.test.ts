import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { sqlite } from '../../src/stores.ts'

const CHILD = fileURLToPath(new URL('queue-child.ts', import.meta.url))

test('tasks in SQLite that wait for a place when their process is killed run after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-killed-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'tasks.db')
  const child = fork(CHILD, [path], { execArgv: ['--import', 'tsx', '--conditions=pierhead-source'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [ids] = (await once(child, 'message')) as [readonly string[]]
  child.kill('SIGKILL')
  await once(child, 'exit')
  const store = sqlite(path, { lease: '1s' })
  const app = createServer({ name: 'queue', version: '1', store, log: () => undefined }).tool(
    'work',
    { task: { mode: 'required', concurrency: 1 } },
    (_, { attempt }) => `ran as attempt ${attempt}`,
  )
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  await app.work()
  const outcomes = (): Promise<readonly unknown[]> =>
    Promise.all(ids.map(async (id) => (await store.tasks.get(id))?.outcome))
  await expect
    .poll(outcomes, { timeout: 50_000 })
    .toEqual([
      expect.stringContaining('task_lost'),
      expect.stringContaining('ran as attempt 1'),
      expect.stringContaining('ran as attempt 1'),
    ])
}, 90_000)
