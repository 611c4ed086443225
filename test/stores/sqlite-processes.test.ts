import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sqlite, type DriverOf } from '../../src/stores.ts'
import { addTasks } from '../../src/testing/contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-processes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const CHILD = fileURLToPath(new URL('store-child.ts', import.meta.url))
const ENDED = [0, null]

function opened(path: string): DriverOf<'tasks'> {
  const driver = sqlite(path)
  onTestFinished(() => driver.close())
  return driver
}

/** Starts processes that share a file. */
function start(
  path: string,
  processes: number,
  work: 'create' | 'finish',
  count: number,
): readonly ChildProcess[] {
  return Array.from({ length: processes }, () => {
    const args = ['--import', 'tsx', '--conditions=pierhead-source', CHILD, path, work, String(count)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  })
}

test('several processes create and share one file', async () => {
  const path = join(folder, 'create.db')
  const ended = start(path, 3, 'create', 20).map(async (child) => once(child, 'exit'))
  const { tasks } = opened(path)
  const heard = new Set<string>()
  const all = new Promise<void>((resolve) => {
    onTestFinished(tasks.watch((id) => heard.add(id).size === 60 && resolve()))
  })
  expect(await Promise.all(ended)).toEqual([ENDED, ENDED, ENDED])
  await all
  const heads = await tasks.list({ status: 'completed', limit: 100 })
  expect(new Set(heads.map(({ id }) => id))).toEqual(heard)
})

test('of several processes that end the same tasks, one ends each, and its outcome stays', async () => {
  const path = join(folder, 'finish.db')
  const { tasks } = opened(path)
  const ids = await addTasks(tasks, 40)
  const children = start(path, 3, 'finish', ids.length)
  const results = await Promise.all(
    children.map(async (child) => {
      const [output, ended] = await Promise.all([
        text(child.stdout as NonNullable<typeof child.stdout>),
        once(child, 'exit'),
      ])
      expect(ended).toEqual(ENDED)
      const won = output.split('\n').filter((line) => line !== '')
      return won.map((id) => [id, JSON.stringify({ result: child.pid })] as const)
    }),
  )
  const winners = results.flat()
  expect(winners.map(([id]) => id).toSorted()).toEqual(ids.toSorted())
  for (const [id, outcome] of winners)
    expect(await tasks.get(id)).toMatchObject({ status: 'completed', version: 2, outcome })
})
