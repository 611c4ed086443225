import { Cluster } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { pause } from '../../src/base/backoff.ts'
import { createServer } from '../../src/index.ts'
import { redis, type TaskStore } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const silent = (): void => {}

let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.close())

describe('tasks in Redis', () => {
  const open = (prefix: string): TaskStore =>
    redis({ url: server.url, prefix, commandTimeout: '30s', warn: silent }).tasks

  test.each(taskStoreContract({ open, durable: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

describe('tasks in a cluster', () => {
  let node: TestRedis
  let client: Cluster
  beforeAll(async () => {
    node = await startRedis('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1')
    await node.send('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    while (!(await node.send('CLUSTER', 'INFO')).includes('cluster_state:ok')) await pause(20)
    client = new Cluster([{ host: '127.0.0.1', port: node.port }])
    client.on('error', silent)
  })
  afterAll(async () => {
    client.disconnect()
    await node.close()
  })

  // A cluster of one node rejects steps whose keys would be on different nodes of a larger one.
  const open = (prefix: string): TaskStore =>
    redis({ client, prefix, commandTimeout: '30s', warn: silent }).tasks

  test.each(taskStoreContract({ open, durable: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  test('nodes are told of tasks that wait', async () => {
    // They look at the store by themselves only after hours.
    const store = redis({ client, prefix: 'told', lease: '24h', warn: silent })
    const app = createServer({ name: 'films {1}', version: '1.0.0', store, log: silent })
    app.tool('render', { input: { type: 'object' }, task: 'optional' }, () => 'done')
    onTestFinished(async () => {
      await app.close()
      await store.close()
    })
    await app.listen({ http: { port: 0 } })
    await expect.poll(() => node.send('CLIENT', 'LIST')).toContain('cmd=bzpopmin')
    const request = JSON.stringify({ revision: '2026-07-28', params: { name: 'render' }, capabilities: {} })
    const task = sampleTask({ server: 'films {1}', node: '', dueAt: 1, request })
    await store.tasks.create(task, ROOMY)
    await expect.poll(async () => (await store.tasks.head(task.id))?.status).toBe('completed')
  })
})
