import { expect, test } from 'vitest'
import { createHarbour } from '../../examples/demo/harbour.ts'
import { hail } from '../../examples/client/envelopes.ts'
import { start } from './server.ts'

test('the example of the guide receives progress from every berth', async () => {
  const { url } = await start(createHarbour())
  const heard = await hail(url)
  expect(heard[0]).toBe('2025-11 with stream, schema_ref')
  expect(heard.slice(1, -1).length).toBeGreaterThan(0)
  expect(heard.at(-1)).toMatch(/^\d+ berths answered$/)
})
