import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { findEngine } from '../../src/store/sqlite-engine.ts'
import { sqlite, type DriverOf, type TaskRecord } from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-damage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

/** A file with tasks of a dead process, changed by `damage`, which is SQL with the id of one of them as its parameter. */
async function damaged(damage: string): Promise<{
  readonly driver: DriverOf<'tasks'>
  readonly path: string
  readonly tasks: readonly TaskRecord[]
}> {
  const path = join(folder, `${++files}.db`)
  const driver = sqlite(path)
  onTestFinished(() => driver.close())
  const request = JSON.stringify({
    revision: '2026-07-28',
    params: { name: 'work', arguments: { token: 'a secret' } },
    capabilities: {},
  })
  const tasks = [1, 2, 3].map(() => sampleTask({ tool: 'work', node: 'dead', request }))
  for (const task of tasks) await driver.tasks.create(task, ROOMY)
  const database = findEngine()(path)
  database.prepare(damage).run(tasks[1]?.id ?? '')
  database.close()
  return { driver, path, tasks }
}

const TEXTS = 'UPDATE pierhead_task_texts SET'
const HEADS = 'UPDATE pierhead_task_heads SET'
const OF = 'WHERE seq = (SELECT seq FROM pierhead_task_heads WHERE id = ?)'

const DAMAGES: Readonly<Record<string, string>> = {
  'a request that is not JSON': `${TEXTS} request = '{"params":{"a secret' ${OF}`,
  'a request that is not an object': `${TEXTS} request = '5' ${OF}`,
  'a request that is a blob': `${TEXTS} request = x'00ff' ${OF}`,
  'a state that is not JSON': `${TEXTS} state = '{"answers":[a secret' ${OF}`,
  'a state of another form': `${TEXTS} state = '{"answers":5}' ${OF}`,
  'a state with a kept value that is a number': `${TEXTS} state = '{"answers":[],"once":[5],"questions":[],"asked":0}' ${OF}`,
  'a state with an answer to no question': `${TEXTS} state = '{"answers":[["a secret",null,{}]],"once":[],"questions":[],"asked":1}' ${OF}`,
  'a state with a question that is a text': `${TEXTS} state = '{"answers":[],"once":[],"questions":[["a","a secret"]],"asked":1}' ${OF}`,
  'a state with refusals that are no list': `${TEXTS} state = '{"answers":[],"once":[],"questions":[],"asked":1,"refusals":{}}' ${OF}`,
  'a state with failures that are a text': `${TEXTS} state = '{"answers":[],"once":[],"questions":[],"asked":1,"failures":"a secret"}' ${OF}`,
  'an outcome whose mark has nothing behind it': `${TEXTS} outcome = char(1) || 'a secret' ${OF}`,
  'no texts': `DELETE FROM pierhead_task_texts ${OF}`,
  'an unknown status': `${HEADS} status = 'paused' WHERE id = ?`,
  'a status that is a blob': `${HEADS} status = x'00' WHERE id = ?`,
  'a time of creation that is a text': `${HEADS} created_at = 'yesterday' WHERE id = ?`,
  'a time of creation that no calendar has': `${HEADS} created_at = 9e15 WHERE id = ?`,
  'a time of change that no calendar has': `${HEADS} updated_at = 9e15 WHERE id = ?`,
  'a time that is due and a text': `${HEADS} due_at = 'soon' WHERE id = ?`,
  'a version that is a text': `${HEADS} version = 'first' WHERE id = ?`,
  'a server that is a blob': `${HEADS} server = x'00' WHERE id = ?`,
  'a tool that is a blob': `${HEADS} tool = x'00' WHERE id = ?`,
  'an owner whose mark has nothing behind it': `${HEADS} owner = char(1) || 'a secret' WHERE id = ?`,
}

interface Log {
  readonly message: string
  readonly facts: string
}

/** Serves the file, until so many tasks have run. */
async function serve(store: DriverOf<'tasks'>, runs: number, logs: Log[]): Promise<App> {
  let ran = 0
  const app = createServer({
    name: 'films',
    version: '1.0.0',
    store,
    log: (_, message, facts) => void logs.push({ message, facts: JSON.stringify(facts) }),
  })
  onTestFinished(() => app.close())
  const all = new Promise<void>((resolve) => {
    app.tool('work', { input: { type: 'object' }, task: { onRestart: 'retry' } }, () => {
      if (++ran === runs) resolve()
      return 'done'
    })
    if (runs === 0) resolve()
  })
  await app.listen({ http: { port: 0 } })
  await all
  return app
}

test.each(Object.entries(DAMAGES))(
  'a task with %s has failed for operators, is reported once, and stops no other',
  async (_, damage) => {
    const { driver, path, tasks } = await damaged(damage)
    const logs: Log[] = []
    const app = await serve(driver, 2, logs)
    const id = tasks[1]?.id ?? ''
    await expect
      .poll(async () => app.tasks.list({ status: 'failed' }), { timeout: 30_000 })
      .toMatchObject([{ id }])
    const shown = await app.tasks.show(id)
    expect(shown).toMatchObject({ status: 'failed', outcome: { error: { kind: 'task_damaged' } } })
    await app.close()
    await driver.close()
    // Another process sees it as failed, too, and does not report it again.
    const again = sqlite(path)
    onTestFinished(() => again.close())
    const later = await serve(again, 0, logs)
    expect(await later.tasks.list({ status: 'failed' })).toMatchObject([{ id }])
    expect(await later.tasks.list()).toHaveLength(3)
    expect(
      await again.tasks.claim('node', Number.MAX_SAFE_INTEGER, 10, { server: 'films', tools: ['work'] }),
    ).toEqual([])
    const reports = logs.filter(({ message }) => message.includes('damaged'))
    expect(reports).toHaveLength(1)
    expect(reports[0]?.facts).toContain(id)
    expect(JSON.stringify(logs)).not.toContain('a secret')
  },
)

test('a damaged task that nobody claims can be read as failed', async () => {
  const { driver, tasks } = await damaged(`${HEADS} status = 'paused' WHERE id = ?`)
  const { tasks: store } = driver
  expect((await store.list({ limit: 9 })).map(({ status }) => status)).toEqual([
    'working',
    'failed',
    'working',
  ])
  expect(await store.head(tasks[1]?.id ?? '')).toMatchObject({ status: 'failed' })
})

test('lives of nodes and changes that cannot be read stop no claim and no watcher', async () => {
  const { driver, path, tasks } = await damaged(
    `INSERT INTO pierhead_nodes SELECT 'dead', 'never' FROM pierhead_task_heads WHERE id = ?`,
  )
  const claimed = await driver.tasks.claim('node', 1, 10, { server: 'films', tools: ['work'] })
  expect(new Set(claimed.map(({ id }) => id))).toEqual(new Set(tasks.map(({ id }) => id)))
  const heard = new Set<string>()
  const all = new Promise<void>((resolve) => {
    onTestFinished(driver.tasks.watch((id) => heard.add(id).size === 3 && resolve()))
  })
  const database = findEngine()(path)
  database.exec(`INSERT INTO pierhead_task_changes (writer, ids) VALUES ('another process', '["')`)
  database.close()
  await all
})
