import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, McpError, type App } from '../../src/index.ts'
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
  expect(() => server().intercept('tools/call', 5 as never)).toThrow(
    'intercept: the interceptor is not a function',
  )
})
