import { expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
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

test.each(['in memory', 'over HTTP'])(
  'a call whose middleware throws after the handler ran is not repeated %s',
  async (where) => {
    const app = createServer({ name: 'shop', version: '1.0.0' })
    let paid = 0
    app.use('tools/call', async (_context, next) => {
      await next()
      throw new McpError('overloaded', 'the books are closed', { retryAfterMs: 1 })
    })
    app.tool('pay', {}, async () => `paid ${++paid}`)
    const running = where === 'in memory' ? undefined : await app.listen({ http: { port: 0 } })
    const client = await connect((running?.url as string | undefined) ?? app, { recovery: { first: '1ms' } })
    onTestFinished(async () => {
      await client.close()
      await running?.close()
    })
    await expect(client.call('pay')).rejects.toMatchObject({
      message: expect.stringContaining('the books are closed'),
      data: { mayHaveRun: true },
    })
    expect(paid).toBe(1)
  },
)

test('a request that waited when its server closed may be repeated, and one that ran may not', async () => {
  const limits = { allInFlight: 1, drainMs: 1 }
  const app = createServer({ name: 'shop', version: '1.0.0', limits })
  let paid = 0
  app.tool('pay', {}, async () => {
    paid++
    await new Promise(() => undefined)
  })
  const running = await app.listen({ http: { port: 0 } })
  const client = await connect(running.url as string, { recovery: false })
  onTestFinished(() => client.close())
  const first = client.call('pay').catch((error: McpError) => error.data)
  await expect.poll(() => paid).toBe(1)
  const second = client.call('pay').catch((error: McpError) => error.data)
  await expect.poll(() => serviceOf(app).load.waiting).toBe(1)
  await running.close()
  const [ran, waited] = await Promise.all([first, second])
  expect(ran).toMatchObject({ mayHaveRun: true })
  expect(waited ?? {}).not.toHaveProperty('mayHaveRun')
  expect(paid).toBe(1)
})
