import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'

test('a ttl of a tool that is longer than limits.taskMs is cut, and the log says so once', async () => {
  const log: string[] = []
  const app = createServer({
    name: 'x',
    version: '1',
    limits: { taskMs: 3_600_000 },
    log: (level, message) => void log.push(`${level} ${message}`),
  })
    .tool('week', { task: { mode: 'required', ttl: '7d' } }, () => 'done')
    .tool('hour', { task: { mode: 'required', ttl: '1h' } }, () => 'done')
  await using client = await testClient(app)
  for (const tool of ['hour', 'week', 'week'] as const) {
    const task = await client.start(tool)
    expect(await task.status()).toMatchObject({ ttlMs: 3_600_000 })
  }
  expect(log).toEqual([expect.stringMatching(/^warning .*"week".*limits\.taskMs/)])
})
