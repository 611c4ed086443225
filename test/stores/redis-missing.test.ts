import { expect, test, vi } from 'vitest'
import { redis } from '../../src/stores.ts'

vi.mock('ioredis', () => {
  throw new Error(`Cannot find package 'ioredis'`)
})

test('without the package, the first use is an error that says what to install', async () => {
  const driver = redis()
  const failure = {
    kind: 'redis_unavailable',
    hint: expect.stringContaining('npm install ioredis') as string,
  }
  for (const step of [driver.cache.get('a'), driver.changes.publish('a')])
    await expect(step).rejects.toMatchObject(failure)
  await driver.close()
})
