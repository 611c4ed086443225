import { once } from 'node:events'
import { App, createServer, MCPServer, ToolError, type Context, type JsonObject } from 'pierhead'
import { connect } from 'pierhead/client'
import { testClient } from 'pierhead/testing'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { converse } from './child.ts'
import { startOnFreePort } from './free-port.ts'

const OPTIONS = {
  id: 'analytics.mcp',
  version: '2025-11',
  transports: ['http'],
  capabilities: ['async', 'registry', 'code_exec'],
} as const

test('the class form has an id, a version, transports and capabilities, and is a server like any other [S1-11-5]', async () => {
  const server = new MCPServer(OPTIONS)
  expect(server).toBeInstanceOf(App)
  server.tool('run_analysis')(({ dataset }) => ({ summary: `about ${String(dataset)}` }))
  server.resource('notes://1', {}, () => 'a note').prompt('review', {}, () => 'Review it.')
  await using client = await testClient(server)
  const { info, capabilities } = await client.server()
  expect(info).toMatchObject({ name: 'analytics.mcp', version: '2025-11' })
  expect(await client.call('run_analysis', { dataset: 'tides' })).toBe('{"summary":"about tides"}')
  const other = createServer(OPTIONS).tool('run_analysis', {}, () => 1)
  other.resource('notes://1', {}, () => 'a note').prompt('review', {}, () => 'Review it.')
  await using otherClient = await testClient(other)
  expect(capabilities).toEqual((await otherClient.server()).capabilities)
  expect(capabilities).toMatchObject({ extensions: { 'io.modelcontextprotocol/tasks': {} } })
})

test('tool(name, options, handler), tool(name, handler), tool(name)(handler) and tool(name, options)(handler) register tools [S1-11-5]', async () => {
  const server = new MCPServer({ id: 'forms', version: '1' })
  const input = z.object({ a: z.number(), b: z.number() })
  const output = z.object({ sum: z.number() })
  const sum = server.tool('curried', { input, output })(({ a, b }) => ({ sum: a + b }))
  const chained = server.tool('whole', { input, output }, ({ a, b }) => ({ sum: a + b }))
  const same = server.tool('short', ({ a }, ctx) => `${String(a)} by ${ctx.method}`)
  const plain = server.tool('plain')((given) => Object.keys(given).join())
  expect([chained, same]).toEqual([server, server])
  // A registration returns the handler, so that the program can use it too.
  expect(sum({ a: 1, b: 2 })).toEqual({ sum: 3 })
  expect(plain({ x: 1, y: 2 })).toBe('x,y')
  await using client = await testClient(server)
  const tools = await client.tools().toArray()
  expect(tools.map(({ name }) => name)).toEqual(['curried', 'whole', 'short', 'plain'])
  expect(tools[0]).toMatchObject({
    inputSchema: { required: ['a', 'b'] },
    outputSchema: { required: ['sum'] },
  })
  expect(await client.call('curried', { a: 2, b: 3 })).toEqual({ sum: 5 })
  expect(await client.call('whole', { a: 2, b: 3 })).toEqual({ sum: 5 })
  expect(await client.call('short', { a: 2 })).toBe('2 by tools/call')
  expect(await client.call('plain', { a: 2, b: 3 })).toBe('a,b')
  await expect(client.call('curried', { a: 'two', b: 3 })).rejects.toThrow(ToolError)
  expect(() => server.tool('plain')(() => 1)).toThrow('plain')
  expect(() => server.tool('none')(7 as never)).toThrow('none')
})

test('the types of a registration come from its schemas [S1-11-5]', () => {
  const server = new MCPServer({ id: 'types', version: '1' })
  server.tool('typed', { input: z.object({ city: z.string() }) })((input, ctx) => {
    expectTypeOf(input).toEqualTypeOf<{ city: string }>()
    expectTypeOf(ctx).toEqualTypeOf<Context>()
  })
  server.tool('untyped')((input) => expectTypeOf(input).toEqualTypeOf<JsonObject>())
  // @ts-expect-error: the output is a number.
  server.tool('wrong', { output: z.object({ n: z.number() }) })(() => ({ n: 'one' }))
  const chained = server.tool('add', { input: z.object({ a: z.number() }) }, ({ a }) => a)
  expectTypeOf(chained.start).toBeFunction()
})

test('start() opens the transports of the server, or the given ones [S1-11-5]', async () => {
  const server = new MCPServer(OPTIONS)
  server.tool('ready', () => 'yes')
  const { url = '' } = await server.start({ http: { port: 0 } })
  try {
    await using client = await connect(url)
    expect(await client.call('ready')).toBe('yes')
  } finally {
    await server.close()
  }
})

test('the example in the form of a class serves HTTP [S1-11-5]', async () => {
  const { child, port } = await startOnFreePort('examples/my-server/class.ts')
  const exited = once(child, 'exit')
  {
    await using client = await connect(`http://127.0.0.1:${port}/mcp`)
    expect((await client.server()).info).toMatchObject({ name: 'analytics.mcp', version: '2025-11' })
    expect(await client.call('run_analysis', { dataset: '3 1 2' })).toEqual({
      summary: '3 numbers from 1 to 3, mean 2',
    })
  }
  child.kill()
  expect(await exited).toEqual([0, null])
})

test('methods of objects and classes become tools with a decorator [S1-11-5]', async () => {
  const call = (id: number, name: string, given: object): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: given },
  })
  const { replies, code } = await converse('test/api/decorated.ts', [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    call(2, 'add', { by: 2 }),
    call(3, 'about', {}),
    call(4, 'add', { by: 'two' }),
  ])
  expect(replies[1]?.result).toMatchObject({ structuredContent: { count: 42 } })
  expect(replies[2]?.result).toMatchObject({ content: [{ text: 'a Counter' }] })
  expect(replies[3]?.result).toMatchObject({ isError: true })
  expect(code).toBe(0)
})
