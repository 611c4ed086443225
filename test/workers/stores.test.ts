import { afterAll, describe, expect, test } from 'vitest'
import { taskStoreContract } from '../../src/testing.ts'
import { OWN, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { Lifetime } from '../../src/store/lifetime.ts'
import { MemoryNodeStore } from '../../src/store/nodes-memory.ts'
import { KITS } from '../stores/kits.ts'
import { StoreParent } from './connection.ts'

const parent = new StoreParent()
afterAll(() => parent.close())
const LONG_MS = 3_600_000
const FILMS = { server: 'films', inMemory: [] }

describe('tasks in the parent process', () => {
  const kit = taskStoreContract({ open: (place) => parent.connect(place).driver.tasks, durable: true })
  test.each(kit)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

describe.each(Object.entries(KITS))('%s in the parent process', (_kind, kit) => {
  test.each(kit({ open: (place) => parent.connect(place).driver, shared: true }))(
    '$name',
    async ({ run }) => {
      await expect(run()).resolves.toBeUndefined()
    },
  )
})

test('steps of one turn travel in one message', async () => {
  const { driver, sent } = parent.connect('batch')
  await driver.cache.get('first')
  const before = sent()
  await Promise.all(Array.from({ length: 100 }, async (_, index) => driver.cache.get(`${index}`)))
  expect(sent() - before).toBe(1)
})

test('errors arrive with all that programs read of them', async () => {
  const { driver } = parent.connect('errors')
  await expect(driver.sessions.use(null as never, undefined, 1)).resolves.toBeUndefined()
  const step = (): unknown => driver.sessions.create(null as never, { sessions: 1, freshMs: 0 })
  await expect(step()).rejects.toMatchObject({ name: 'TypeError' })
})

test('a process that is gone has no watches, its nodes are dead, and its tasks can be claimed', async () => {
  const [gone, left] = [parent.connect('gone'), parent.connect('gone')]
  const { number } = await gone.driver.nodes.join(FILMS, LONG_MS)
  const heard: string[] = []
  gone.driver.tasks.watch((id) => void heard.push(id))
  await gone.driver.tasks.beat('node-1', Number.MAX_SAFE_INTEGER)
  const task = sampleTask({ node: 'node-1' })
  await left.driver.tasks.create(task, ROOMY)
  await left.driver.tasks.change(task.id, 1, { statusMessage: 'half done' })
  await expect.poll(() => heard, { timeout: 5000 }).toEqual([task.id])
  const claim = async (): Promise<readonly string[]> =>
    (await left.driver.tasks.claim('node-2', 1, 9, OWN)).map(({ id }) => id)
  expect(await left.driver.nodes.isAlive(number)).toBe(true)
  expect(await claim()).toEqual([])
  gone.end()
  await expect.poll(() => left.driver.nodes.isAlive(number)).toBe(false)
  expect(await claim()).toEqual([task.id])
  // News of the claim would arrive before this answer.
  await gone.driver.cache.get('a')
  expect(heard).toEqual([task.id])
})

test('calls fail when the other process is gone', async () => {
  const { driver, channel } = parent.connect('closed')
  const asked = driver.cache.get('a')
  channel.close()
  await expect(asked).rejects.toMatchObject({ kind: 'store_unreachable' })
  await expect(driver.cache.get('a')).rejects.toMatchObject({ kind: 'store_unreachable', retryable: true })
})

test('a driver that was closed cannot be used any more', async () => {
  const { driver } = parent.connect('over')
  driver.close()
  await expect(driver.cache.get('a')).rejects.toMatchObject({ kind: 'store_closed' })
  await expect(
    driver.changes.subscribe(
      0,
      () => {},
      () => {},
    ),
  ).rejects.toMatchObject({ kind: 'store_closed' })
})

test('numbers of nodes begin again after the highest one, without those of known nodes', () => {
  const nodes = new MemoryNodeStore(new Lifetime(), 1_999_999)
  const next = (): number => nodes.join(FILMS, LONG_MS).number
  expect([next(), next()]).toEqual([2_000_000, 1])
})
