import { describe, expect, test } from 'vitest'
import { memory } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'

describe('tasks in memory', () => {
  test.each(taskStoreContract({ open: () => memory().tasks }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

test('closing the driver closes its stores', async () => {
  const driver = memory()
  await driver.close()
  expect(() => driver.tasks.head('any')).toThrow(expect.objectContaining({ kind: 'store_closed' }))
})
