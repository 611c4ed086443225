import { expect, onTestFinished, test } from 'vitest'
import { connect, McpError } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

const KINDS = ['overloaded', 'too_many_calls', 'queue_full', 'shutting_down'] as const

test.each(KINDS)('a call whose handler ran and then threw %s is not repeated', async (kind) => {
  const app = createServer({ name: 'shop', version: '1.0.0' })
  let paid = 0
  app.tool('pay', {}, async () => {
    paid++
    throw new McpError(kind, 'the bank is busy', { retryAfterMs: 1 })
  })
  const client = await connect(app, { recovery: { first: '1ms' } })
  onTestFinished(() => client.close())
  await expect(client.call('pay')).rejects.toMatchObject({
    message: expect.stringContaining('the bank is busy'),
  })
  expect(paid).toBe(1)
})

test('a call that middleware rejects before its handler runs is repeated', async () => {
  const app = createServer({ name: 'shop', version: '1.0.0' })
  let [asked, paid] = [0, 0]
  app.use('tools/call', async (_context, next) => {
    if (++asked < 3) throw new McpError('too_many_calls', 'slow down', { retryAfterMs: 1 })
    return next()
  })
  app.tool('pay', {}, () => `paid ${++paid}`)
  const client = await connect(app, { recovery: { first: '1ms' } })
  onTestFinished(() => client.close())
  expect(await client.call('pay')).toBe('paid 1')
  expect(asked).toBe(3)
})
