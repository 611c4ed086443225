import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, McpError, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { namesOf, open, TRANSPORTS_OF_TEST } from './observed.ts'

function server(): App {
  return createServer({ name: 'intercepted', version: '1', log: () => undefined }).tool(
    'echo',
    {},
    () => 'echo',
  )
}

test.each(TRANSPORTS_OF_TEST)('over %s an interceptor answers a method by itself', async (transport) => {
  const app = server()
  app.intercept('tools/call', ({ params, method, client }) => ({
    content: [{ type: 'text', text: `${method} ${String(params['name'])} for ${client.info?.name}` }],
  }))
  const client = await open(app, transport)
  expect(await client.call('elsewhere')).toBe('tools/call elsewhere for watcher')
})

test('several run in the order they were added, before providers and middleware', async () => {
  const order: string[] = []
  const app = server()
  app.use((_context, next) => (order.push('middleware'), next()))
  app.provide(() => (order.push('provider'), {}))
  app.intercept('tools/call', async (_call, next) => {
    order.push('first')
    const result = await next()
    order.push('first again')
    return result
  })
  app.intercept('tools/call', (_call, next) => (order.push('second'), next()))
  const client = await open(app, 'memory')
  order.length = 0
  expect(await client.call('echo')).toBe('echo')
  expect(order).toEqual(['first', 'second', 'provider', 'middleware', 'first again'])
})

test('an interceptor takes effect even if requests were answered before', async () => {
  const app = server()
  const client = await open(app, 'memory')
  expect(await client.call('echo')).toBe('echo')
  app.intercept('tools/call', () => ({ content: [{ type: 'text', text: 'intercepted' }] }))
  expect(await client.call('echo')).toBe('intercepted')
})

test('other methods pass by, also one that the server does not offer', async () => {
  const app = createServer({ name: 'x', version: '1', log: () => undefined, capabilities: ['tools'] })
  app.intercept('tools/list', () => ({ tools: [{ name: 'far', inputSchema: { type: 'object' } }] }))
  const client = await connect(app)
  onTestFinished(() => client.close())
  expect(await namesOf(client.tools())).toEqual(['far'])
  await expect(client.request('tools/call', { name: 'far' })).rejects.toMatchObject({ kind: 'unknown_tool' })
})

test('an error that an interceptor throws is the answer; another is masked', async () => {
  const app = server()
  let error: Error = new McpError('resource_denied', 'not for you')
  app.intercept('tools/call', () => {
    throw error
  })
  const client = await open(app, 'memory')
  await expect(client.request('tools/call', { name: 'echo' })).rejects.toMatchObject({
    message: 'not for you',
  })
  error = new Error('secret')
  await expect(client.request('tools/call', { name: 'echo' })).rejects.toThrow(/^internal error \(reference /)
})

test('a method that does not exist, and what is not a function, are rejected with what to do', () => {
  expect(() => server().intercept('tools/cal', () => ({}))).toThrow(
    'intercept: there is no method "tools/cal"; did you mean "tools/call"?',
  )
  expect(() => server().use('tools/cal', (_ctx, next) => next())).toThrow(
    'use: there is no method "tools/cal"; did you mean "tools/call"?',
  )
  expect(() => server().intercept('tools/call', 5 as never)).toThrow(
    'intercept: the interceptor is not a function',
  )
})

type Tools = { tools: { name: string; description?: string }[] }
type Edit = (result: Tools) => object

const EDITS: readonly [string, Edit][] = [
  ['assigns a shorter list', (result) => Object.assign(result, { tools: result.tools.slice(0, 1) })],
  ['removes an item in place', (result) => (result.tools.splice(1, 1), result)],
  ['changes an item', (result) => ((result.tools[1]!.name = 'changed'), result)],
  ['returns another list', (result) => ({ ...result, tools: result.tools.slice(0, 1) })],
]

describe.each(['use', 'intercept'] as const)('with %s for a list', (way) => {
  test.each(EDITS)('code that %s changes it for its caller alone', async (_what, edit) => {
    const app = server().tool('secret', {}, () => 'secret')
    let edits = true
    app[way]('tools/list', async (_context: unknown, next: () => Promise<JsonObject>) => {
      const result = await next()
      return (edits ? edit(result as Tools) : result) as JsonObject
    })
    const client = await open(app, 'memory')
    const list = async (): Promise<string[]> =>
      ((await client.request('tools/list', {})) as Tools).tools.map(({ name }) => name)
    expect(await list()).not.toContain('secret')
    edits = false
    expect(await list()).toEqual(['echo', 'secret'])
    edits = true
    expect(await list()).not.toContain('secret')
  })

  test('the same object may have another content for each caller', async () => {
    const app = server()
    const result: Tools = { tools: [] }
    app[way]('tools/list', () => {
      result.tools = [{ name: `${result.tools[0]?.name ?? ''}x`, inputSchema: { type: 'object' } } as never]
      return result as unknown as JsonObject
    })
    const client = await open(app, 'memory')
    for (const name of ['x', 'xx'])
      expect(await client.request('tools/list', {})).toMatchObject({ tools: [{ name }] })
  })

  test('what one caller gets is not for others to cache', async () => {
    const app = server()
    app[way]('tools/list', (_context: unknown, next: () => Promise<JsonObject>) => next())
    const client = await connect(app, { revision: '2026-07-28' })
    onTestFinished(() => client.close())
    expect(await client.request('tools/list', {})).toMatchObject({ cacheScope: 'private' })
  })

  test('a second call of next() fails', async () => {
    const errors: unknown[] = []
    const app = server()
    app[way]('tools/call', async (_context: unknown, next: () => Promise<JsonObject>) => {
      await next()
      return next().catch((error: Error) => {
        errors.push(error.message)
        return { content: [] }
      })
    })
    const client = await open(app, 'memory')
    await client.call('echo')
    expect(errors).toEqual([expect.stringContaining('called next() twice for tools/call')])
  })
})
