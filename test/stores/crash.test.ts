import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { crash } from '../../tools/crash.ts'
import { startRedis } from '../harness/redis.ts'

// The whole test is `npm run crash`. This one takes as long as the lease of a dead server.
test('tasks in SQLite survive a server that is killed again and again', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-crash-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { faults, accepted } = await crash({ tasks: 30, kills: 4 }, folder)
  expect(faults).toEqual([])
  expect(accepted).toBeGreaterThanOrEqual(30)
})

test(
  'tasks in Redis survive three servers that are killed again and again',
  { timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pierhead-crash-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const server = await startRedis()
    onTestFinished(() => server.close())
    const { faults, accepted } = await crash({ tasks: 60, kills: 6, servers: 3 }, folder, server.url)
    expect(faults).toEqual([])
    expect(accepted).toBeGreaterThanOrEqual(60)
  },
)
