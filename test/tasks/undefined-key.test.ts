import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'

test('a key function that returns undefined is reported once, with the name of its tool', async () => {
  const log: string[] = []
  const input = z.object({ order: z.string().optional() })
  const key = ({ order }: z.infer<typeof input>): string | undefined => order
  const app = createServer({
    name: 'x',
    version: '1',
    log: (level, message) => void log.push(`${level} ${message}`),
  })
    .tool('ship', { task: { mode: 'required', key }, input }, () => 'shipped')
    .tool('pack', { task: { key }, input }, () => 'packed')
  await using client = await testClient(app, { revision: '2025-11-25' })
  expect(await client.call('ship', { order: '7' })).toBe('shipped')
  expect(log).toEqual([])
  for (let times = 0; times < 2; times++) {
    expect(await client.call('ship')).toBe('shipped')
    const packing = await client.start('pack')
    expect(await packing.result()).toBe('packed')
  }
  expect(log).toEqual([
    expect.stringMatching(/^warning .*"ship".*undefined/),
    expect.stringMatching(/^warning .*"pack".*undefined/),
  ])
})
