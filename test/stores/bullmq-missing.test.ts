import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from '../../src/index.ts'
import { redis } from '../../src/stores.ts'
import { OWN, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

vi.mock('bullmq', () => {
  throw new Error(`Cannot find package 'bullmq'`)
})

let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.close())

test('without the package, creating a task is an error that says what to install', async () => {
  const { tasks, close } = redis({ url: server.url, warn() {} })
  onTestFinished(() => close())
  const failure = {
    kind: 'bullmq_unavailable',
    hint: expect.stringContaining('npm install bullmq') as string,
  }
  await expect(tasks.create(sampleTask(), ROOMY)).rejects.toMatchObject(failure)
  expect(await tasks.claim('node', 1, 9, OWN)).toEqual([])
})

test('a server without tasks does not need the package', async () => {
  const store = redis({ url: server.url, prefix: 'plain', warn() {} })
  const logs: string[] = []
  const app = createServer({ name: 'films', version: '1.0.0', store, log: (_, text) => void logs.push(text) })
  app.tool('add', { input: { type: 'object' } }, () => 'done')
  await app.listen({ http: { port: 0 } })
  // The server has looked at its tasks once it has said that it is alive.
  await expect.poll(() => server.send('ZCARD', 'plain:{tasks}:nodes')).toBe(':1\r\n')
  await app.close()
  await store.close()
  expect(logs.filter((text) => text.includes('store'))).toEqual([])
})

test('a server with tasks does not start without the package', async () => {
  const store = redis({ url: server.url, prefix: 'tasks', warn() {} })
  const app = createServer({ name: 'films', version: '1.0.0', store, log() {} })
  app.tool('render', { task: 'optional' }, () => 'done')
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  await expect(app.listen({ http: { port: 0 } })).rejects.toMatchObject({ kind: 'bullmq_unavailable' })
})
