import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { postgres, type TaskRecord } from '../../src/stores.ts'
import { addTasks, OWN, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'

const CHILD = fileURLToPath(new URL('store-child.ts', import.meta.url))
const ENDED = [0, null]

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server.close())

interface Place {
  readonly driver: ReturnType<typeof postgres>
  readonly schema: string
  /** Starts a process that shares the place. */
  start(work: 'create' | 'finish' | 'hold', count: number): ChildProcess
}

function place(): Place {
  const schema = `s-${crypto.randomUUID()}`
  const options = { connectionString: server.url, schema, commandTimeout: 30_000 }
  const driver = postgres(options)
  onTestFinished(() => driver.close())
  return {
    driver,
    schema,
    start(work, count) {
      const args = ['--import', 'tsx', '--conditions=pierhead-source', CHILD, JSON.stringify(options), work]
      const child = spawn(process.execPath, [...args, String(count)], { stdio: ['pipe', 'pipe', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    },
  }
}

test('several processes create the tables and share them', { timeout: 60_000 }, async () => {
  const { driver, start } = place()
  const ended = [1, 2, 3].map(async () => once(start('create', 20), 'exit'))
  const heard = new Set<string>()
  const all = new Promise<void>((resolve) => {
    onTestFinished(driver.tasks.watch((id) => heard.add(id).size === 60 && resolve()))
  })
  expect(await Promise.all(ended)).toEqual([ENDED, ENDED, ENDED])
  await all
  expect(await driver.tasks.list({ status: 'completed', limit: 100 })).toHaveLength(60)
})

test('of several processes that end the same tasks, one ends each', { timeout: 60_000 }, async () => {
  const { driver, start } = place()
  const ids = await addTasks(driver.tasks, 40)
  const outputs = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = start('finish', ids.length)
      return [await text(child.stdout as NonNullable<typeof child.stdout>), child.pid] as const
    }),
  )
  const won = outputs.flatMap(([output, pid]) => output.split('\n').flatMap((id) => (id ? [[id, pid]] : [])))
  expect(won.map(([id]) => String(id)).toSorted()).toEqual(ids.toSorted())
  for (const [id, pid] of won)
    expect(await driver.tasks.get(String(id))).toMatchObject({
      version: 2,
      outcome: JSON.stringify({ result: pid }),
    })
})

test('the tasks of a process that is killed are taken over', { timeout: 60_000 }, async () => {
  const { driver, start } = place()
  const ids = await addTasks(driver.tasks, 10, () => ({ node: '' }))
  const child = start('hold', 10)
  const [output] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [Buffer]
  expect(output.toString().trim().split('\n').toSorted()).toEqual(ids.toSorted())
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  expect(await driver.tasks.claim('two', 999, 99, OWN)).toEqual([])
  const claimed = await driver.tasks.claim('two', 1000, 99, OWN)
  expect(claimed.map(({ id, version }) => `${id} ${version}`).toSorted()).toEqual(
    ids.map((id) => `${id} 3`).toSorted(),
  )
})

const HEADS = 'UPDATE pierhead_tasks SET'
const TEXTS = 'UPDATE pierhead_task_texts SET'
const OF = 'WHERE seq = (SELECT seq FROM pierhead_tasks WHERE id = $1)'
const DAMAGES: Readonly<Record<string, string>> = {
  'a request whose mark has nothing behind it': `${TEXTS} request = chr(1) || 'a secret' ${OF}`,
  'an outcome whose mark has nothing behind it': `${TEXTS} outcome = chr(1) || 'a secret' ${OF}`,
  'no texts': `DELETE FROM pierhead_task_texts ${OF}`,
  'an unknown status': `${HEADS} status = 'paused' WHERE id = $1`,
  'a time of creation that no calendar has': `${HEADS} created_at = 9e15 WHERE id = $1`,
  'a time of change that is not a number': `${HEADS} updated_at = 'NaN' WHERE id = $1`,
  'a time that is due and never comes': `${HEADS} due_at = 'NaN' WHERE id = $1`,
  'an owner whose mark has nothing behind it': `${HEADS} owner = chr(1) || 'a secret' WHERE id = $1`,
}

test.each(Object.entries(DAMAGES))('a task with %s fails alone, and once', async (_, damage) => {
  const { driver, schema } = place()
  const { tasks } = driver
  const given: readonly TaskRecord[] = [1, 2, 3].map(() => sampleTask({ node: 'dead' }))
  for (const task of given) await tasks.create(task, ROOMY)
  const id = given[1]?.id ?? ''
  await server.sql(damage.replaceAll('pierhead_', `"${schema}".pierhead_`), id)
  const claimed = await tasks.claim('node', 1, 9, OWN)
  expect(claimed.map((task) => task.id).toSorted()).toEqual(given.map((task) => task.id).toSorted())
  const failed = { id, status: 'failed', node: '' }
  expect(claimed.filter(({ status }) => status === 'failed')).toMatchObject([failed])
  expect(JSON.stringify(claimed)).not.toContain('a secret')
  expect(await tasks.get(id)).toMatchObject({
    ...failed,
    outcome: expect.stringContaining('task_damaged') as string,
  })
  expect(await tasks.list({ status: 'failed', limit: 9 })).toMatchObject([failed])
  expect(await tasks.claim('other', 1, 9, OWN)).toHaveLength(2)
  expect(await tasks.claim('other', 1, 9, OWN)).toEqual([])
})
