import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import { sqlite, type TaskHead } from '../../src/stores.ts'
import { testClient } from '../../src/testing.ts'
import type { Client } from '../../src/client.ts'
import { Door } from '../harness/door.ts'
import { FakeClock } from '../harness/task-clock.ts'
import { Node } from '../harness/task-engine.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-shared-keys-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const named = z.object({ id: z.string() })

/** A server with its own connection to a file, as another process would have, and a client of it. */
async function started(
  path: string,
  door: Door,
  aborted: string[],
  mode: 'optional' | 'required' = 'optional',
): Promise<{ readonly app: App; readonly client: Client }> {
  const store = sqlite(path)
  const app = createServer({ name: 'tasks', version: '1', store, log: () => undefined }).tool(
    'waits',
    { input: named, task: { mode, after: '1h', key: ({ id }) => id } },
    async ({ id }, { signal }) => {
      signal.addEventListener('abort', () => void aborted.push(id))
      door.open(`${id} begun`)
      await door.pass(id)
      return id
    },
  )
  const client = await testClient(app, { auth: { sub: 'ann' } })
  onTestFinished(async () => {
    await client.close()
    await app.close()
    await store.close()
  })
  return { app, client }
}

test('a call that is given up does not stop work that a call in another process waits for', async () => {
  const [door, aborted] = [new Door(), [] as string[]]
  const path = join(folder, 'joined.db')
  const one = await started(path, door, aborted)
  const other = await started(path, door, aborted)
  const { signal, abort } = stopper()
  const first = one.client.call('waits', { id: 'a' }, { signal }).catch((error: unknown) => error)
  await door.pass('a begun')
  const second = other.client.call('waits', { id: 'a' })
  await expect.poll(async () => (await one.app.tasks.list())[0]?.isShared).toBe(true)
  abort()
  expect(await first).toMatchObject({ kind: 'cancelled' })
  await one.client.ping()
  door.open('a')
  expect(await second).toBe('a')
  expect(aborted).toEqual([])
})

test('a call that is given up does not stop work whose id a client of another process has got', async () => {
  const [door, aborted] = [new Door(), [] as string[]]
  const path = join(folder, 'known.db')
  const one = await started(path, door, aborted)
  const other = await started(path, door, aborted, 'required')
  const { signal, abort } = stopper()
  const first = one.client.call('waits', { id: 'a' }, { signal }).catch((error: unknown) => error)
  await door.pass('a begun')
  const task = await other.client.start('waits', { id: 'a' })
  abort()
  await first
  await one.client.ping()
  door.open('a')
  expect(await task.result()).toBe('a')
  expect(aborted).toEqual([])
})

test('a call that is given up stops its work if nobody else has got it, with a store on disk, too', async () => {
  const [door, aborted] = [new Door(), [] as string[]]
  const { app, client } = await started(join(folder, 'alone.db'), door, aborted)
  const calls = [stopper(), stopper()].map((stop) => ({
    stop: stop.abort,
    result: client.call('waits', { id: 'a' }, { signal: stop.signal }).catch((error: unknown) => error),
  }))
  await door.pass('a begun')
  for (const { stop } of calls) stop()
  await Promise.all(calls.map(({ result }) => result))
  await expect.poll(() => aborted).toEqual(['a'])
  expect(await app.tasks.list()).toMatchObject([{ status: 'cancelled', isShared: false }])
})

test('a call that finds a task which is cancelled at the same time does not join it', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const [one, other] = [1, 2].map(() =>
    new Node({ store, clock, isInMemory: false }).tool('hang', () => new Promise(() => undefined)),
  ) as [Node, Node]
  const head = await one.start('hang', { key: 'k' })
  expect(await other.tasks.join(head)).toBe(true)
  const isAlone = ({ isShared }: TaskHead): boolean => !isShared
  await one.tasks.cancel(head.id, 'ann', isAlone)
  expect(store.head(head.id)).toMatchObject({ status: 'working', isShared: true })
  const second = await one.start('hang', { key: 'l' })
  await one.tasks.cancel(second.id, 'ann', isAlone)
  expect(await other.tasks.join(second)).toBe(false)
})

function stopper(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
