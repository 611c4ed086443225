import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { claimSql } from '../../src/store/tasks-postgres-sql.ts'
import { memory, postgres, redis, sqlite, type TaskStore } from '../../src/stores.ts'
import { OWN, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const NOW = 1_800_000_000_000
const folder = mkdtempSync(join(tmpdir(), 'pierhead-turns-'))

let database: TestPostgres
let server: TestRedis
beforeAll(async () => {
  database = await startPostgres()
  server = await startRedis()
}, 60_000)
afterAll(async () => {
  await database.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

let count = 0

/** The stores, each with no tasks. */
const STORES: Readonly<Record<string, () => TaskStore>> = {
  memory: () => memory().tasks,
  SQLite: () => sqlite(join(folder, `${++count}.db`)).tasks,
  PostgreSQL: () =>
    postgres({ connectionString: database.url, schema: `turns_${++count}`, commandTimeout: '30s' }).tasks,
  Redis: () =>
    redis({ url: server.url, prefix: `turns${++count}`, commandTimeout: '30s', warn: () => {} }).tasks,
}

function opened(kind: string): TaskStore {
  const store = STORES[kind]!()
  onTestFinished(async () => store.close())
  return store
}

/** Adds tasks that wait, each of a caller, or of the network of an anonymous one. */
async function add(store: TaskStore, ...callers: readonly string[]): Promise<void> {
  for (const [position, caller] of callers.entries()) {
    const whose = caller.includes('.')
      ? { owner: '', scope: `session ${caller} ${position}`, network: caller }
      : { owner: caller, scope: caller }
    const id = store.newId === undefined ? {} : { id: store.newId() }
    await store.create(sampleTask({ ...id, ...whose, node: '', dueAt: NOW + position }), ROOMY)
  }
}

/** The callers whose tasks single claims answer. */
async function claimed(store: TaskStore, times: number, now = NOW + 100): Promise<string[]> {
  const callers: string[] = []
  for (let time = 0; time < times; time++)
    for (const { owner, network } of await store.claim('node-2', now, 1, OWN)) callers.push(network || owner)
  return callers
}

describe.each(Object.keys(STORES))('claims in %s', (kind) => {
  test('callers take turns', async () => {
    const store = opened(kind)
    const network = '192.0.2.1'
    await add(store, 'ann', 'ann', 'ann', 'ann', network, network, network, 'bob')
    const first = await claimed(store, 3)
    expect(first.toSorted()).toEqual([network, 'ann', 'bob'])
    const second = await claimed(store, 2)
    expect(second.toSorted()).toEqual([network, 'ann'])
    expect((await claimed(store, 9)).toSorted()).toEqual([network, 'ann', 'ann'])
  })

  test('tasks of one caller come in the order of their times, and none before it is due', async () => {
    const store = opened(kind)
    await add(store, 'ann', 'bob', 'ann', 'ann')
    const times: number[] = []
    for (const now of [NOW, NOW, NOW + 2, NOW + 2, NOW + 3])
      for (const { dueAt } of await store.claim('node-2', now, 1, OWN)) times.push(dueAt - NOW)
    expect(times[0]).toBe(0)
    expect(times.toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3])
    expect(times.indexOf(2)).toBeLessThan(times.indexOf(3))
  })

  test('a dead node with many tasks of one caller does not keep those of others waiting', async () => {
    const store = opened(kind)
    for (let task = 0; task < 5; task++)
      await store.create(sampleTask({ node: 'dead', owner: 'ann', scope: 'ann' }), ROOMY)
    await add(store, 'bob')
    // A store in memory has one node.
    expect(await claimed(store, kind === 'memory' ? 6 : 2)).toContain('bob')
  })

  test('many callers whose tasks are not due do not keep the turns from others', async () => {
    const store = opened(kind)
    await add(store, ...Array.from({ length: 8 }, () => 'ann'), 'zoe')
    const later = Array.from({ length: 150 }, (_, position) => `bob-${String(position).padStart(3, '0')}`)
    for (const scope of later) {
      const id = store.newId === undefined ? {} : { id: store.newId() }
      await store.create(sampleTask({ ...id, owner: scope, scope, node: '', dueAt: NOW + 1000 }), ROOMY)
    }
    expect(await claimed(store, 5)).toContain('zoe')
  })

  test('callers take turns across their tools', async () => {
    const store = opened(kind)
    for (const tool of [...Array.from({ length: 20 }, () => 'mix'), 'render', 'render']) {
      const scope = tool === 'mix' ? 'ann' : 'bob'
      const id = store.newId === undefined ? {} : { id: store.newId() }
      await store.create(sampleTask({ ...id, owner: scope, scope, tool, node: '', dueAt: NOW }), ROOMY)
    }
    const callers = (await store.claim('node-2', NOW, 4, OWN)).map(({ owner }) => owner)
    expect(callers.toSorted()).toEqual(['ann', 'ann', 'bob', 'bob'])
  })

  test('a claim of many takes turns, too, and the next one goes on', async () => {
    const store = opened(kind)
    const others = ['bob', 'bob', 'bob', 'bob', 'cid', 'dan']
    await add(store, ...Array.from({ length: 40 }, () => 'ann'), ...others)
    const many = async (limit: number): Promise<string[]> =>
      (await store.claim('node-2', NOW + 100, limit, OWN)).map(({ owner }) => owner).toSorted()
    expect(await many(6)).toEqual(['ann', 'ann', 'bob', 'bob', 'cid', 'dan'])
    expect(await many(4)).toEqual(['ann', 'ann', 'bob', 'bob'])
    expect(await many(50)).toHaveLength(36)
  })

  test('one claim of many answers all of them', async () => {
    const store = opened(kind)
    await add(store, ...Array.from({ length: 12 }, (_, task) => (task < 9 ? 'ann' : 'bob')))
    expect(await store.claim('node-2', NOW + 100, 8, OWN)).toHaveLength(8)
    expect(await store.claim('node-2', NOW + 100, 8, OWN)).toHaveLength(4)
  })
})

type Plan = Readonly<Record<string, unknown>>

/** The cost from which PostgreSQL compiles a statement (`jit_above_cost`). */
const COMPILED_FROM = 100_000

/** How many tasks the steps of a plan of PostgreSQL read, those that they passed over included. */
function tasksRead(plan: Plan): number {
  const steps = (plan['Plans'] ?? []) as readonly Plan[]
  const inner = steps.reduce((sum, step) => sum + tasksRead(step), 0)
  if (plan['Relation Name'] !== 'pierhead_tasks' || plan['Node Type'] === 'ModifyTable') return inner
  const each = Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0)
  return inner + each * Number(plan['Actual Loops'])
}

test('a claim in PostgreSQL reads no tasks of other tools, whatever their number, and is not compiled', async () => {
  const store = opened('PostgreSQL')
  const schema = `turns_${count}`
  await add(store, 'ann')
  const tasks = `${schema}.pierhead_tasks`
  let position = 0
  const sql = claimSql(`''::text`)
    .replaceAll(/\bpierhead_/g, `${schema}.$&`)
    .replaceAll('?', () => `$${++position}`)
  const planOf = async (...tools: readonly string[]): Promise<Plan> => {
    const values = [['', 'films'], 'node-2', NOW + 100, tools, 8, 'mark', '0']
    const [row] = await database.sql(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, ...values)
    const [{ Plan: plan }] = row!['QUERY PLAN'] as readonly [{ readonly Plan: Plan }]
    // Compiling takes longer than all the rest.
    expect(Number(plan['Total Cost'])).toBeLessThan(COMPILED_FROM)
    return plan
  }
  await planOf('mix')
  const [columns] = await database.sql(
    `SELECT string_agg(column_name, ', ') AS names FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'pierhead_tasks' AND column_name NOT IN ('seq', 'id')`,
    schema,
  )
  const names = String(columns?.['names'])
  await database.sql(
    `INSERT INTO ${tasks} (id, ${names}) SELECT id || n, ${names} FROM ${tasks}, generate_series(1, 5000) AS n`,
  )
  await database.sql(`ANALYZE ${tasks}`)
  expect(tasksRead(await planOf('mix'))).toBeLessThan(100)
  await planOf('mix', 'render')
})
