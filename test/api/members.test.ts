import { expect, test } from 'vitest'
import { createServer, type Context } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { testClient } from '../../src/testing.ts'

/** Every name that a value answers to, its own and those of its class. */
function membersOf(value: object): readonly string[] {
  return [...Object.keys(value), ...Object.getOwnPropertyNames(Object.getPrototypeOf(value))].toSorted()
}

test('an app shows what users call, and nothing of what transports are given', () => {
  expect(membersOf(createServer({ name: 'x', version: '1' }))).toEqual([
    'add',
    'announced',
    'changed',
    'close',
    'complete',
    'connect',
    'constructor',
    'counts',
    'disable',
    'enable',
    'extend',
    'fetch',
    'fetchWith',
    'intercept',
    'limits',
    'listen',
    'node',
    'prompt',
    'provide',
    'remove',
    'resource',
    'revoke',
    'tasks',
    'tool',
    'update',
    'updated',
    'use',
    'work',
  ])
})

test('a context shows the request, and nothing of what answers it', async () => {
  let seen: Context | undefined
  const app = createServer({ name: 'x', version: '1' }).tool('look', {}, (_input, ctx) => {
    seen = ctx
    return 'seen'
  })
  await using client = await testClient(app)
  await client.call('look')
  expect(membersOf(seen as Context)).toEqual([
    'attempt',
    'auth',
    'client',
    'closeStream',
    'constructor',
    'elicit',
    'elicitUrl',
    'hangUp',
    'header',
    'id',
    'ip',
    'log',
    'method',
    'notify',
    'once',
    'params',
    'progress',
    'reference',
    'revision',
    'roots',
    'sample',
    'session',
    'signal',
  ])
})

test('middleware reads the params of a request', async () => {
  const asked: JsonObject[] = []
  const app = createServer({ name: 'x', version: '1' })
    .tool('sum', {}, () => 3)
    .use('tools/call', ({ params }, next) => {
      asked.push(params)
      return next()
    })
  await using client = await testClient(app)
  await client.call('sum', {}, { meta: { trace: 'a' } })
  expect(asked).toMatchObject([{ name: 'sum', arguments: {}, _meta: { trace: 'a' } }])
})

test('the old name of ctx.closeStream says what it is called now', async () => {
  const reports: unknown[] = []
  const log = (_level: string, _message: string, facts?: JsonObject): void => void reports.push(facts)
  const app = createServer({ name: 'x', version: '1', log }).tool('leave', {}, (_input, ctx) => {
    ;(ctx as unknown as { hangUp(): void }).hangUp()
  })
  await using client = await testClient(app)
  expect(await client.callRaw('leave')).toMatchObject({ isError: true })
  expect(reports).toMatchObject([{ error: { message: 'ctx.hangUp: it is called ctx.closeStream' } }])
})

test('the old name of the option onUncaught says what it is called now', async () => {
  const app = createServer({ name: 'x', version: '1' })
  await expect(app.listen({ stdio: true, survive: false } as never)).rejects.toThrow(
    `listen: the option "survive" is now onUncaught: write onUncaught: 'exit'`,
  )
})
