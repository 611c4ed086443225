import { expect, test, vi } from 'vitest'
import { postgres } from '../../src/stores.ts'

vi.mock('pg', () => {
  throw new Error(`Cannot find package 'pg'`)
})

test('without the package, the first use is an error that says what to install', async () => {
  const driver = postgres()
  const failure = { kind: 'postgres_unavailable', hint: expect.stringContaining('npm install pg') as string }
  for (const step of [driver.cache.get('a'), driver.tasks.head('a')])
    await expect(step).rejects.toMatchObject(failure)
  await driver.close()
})
