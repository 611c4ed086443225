import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { expect, test } from 'vitest'
import tools from '../../examples/my-server/tools/index.ts'
import { callerOf } from './caller.ts'
import { converse } from './child.ts'
import { startOnFreePort } from './free-port.ts'

const hello = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
]

test('ten lines make a server that a client can start and call [S1-11-6]', async () => {
  const call = (id: number, city: string): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'forecast', arguments: { city } },
  })
  const { replies, code } = await converse('examples/weather/server.ts', [
    ...hello,
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    call(3, 'Lisbon'),
    call(4, 'Atlantis'),
  ])
  expect(replies[0]?.result).toMatchObject({ serverInfo: { name: 'weather', version: '1.0.0' } })
  expect(replies[1]?.result).toMatchObject({
    tools: [
      {
        name: 'forecast',
        inputSchema: {
          type: 'object',
          properties: { city: { enum: ['Lisbon', 'Oslo'] } },
          required: ['city'],
        },
        outputSchema: { type: 'object', required: ['high', 'low'] },
      },
    ],
  })
  expect(replies[2]?.result).toMatchObject({
    structuredContent: { high: 24, low: 16 },
    content: [{ type: 'text', text: '{"high":24,"low":16}' }],
    isError: false,
  })
  expect(replies[3]?.result).toMatchObject({ isError: true })
  expect(code).toBe(0)
})

test('a server is made from an id, a tool set, transports and capabilities [S1-11-3]', async () => {
  const app = createServer({
    id: 'my-server',
    version: '2025-11',
    tools,
    transports: ['http', 'stdio'],
    capabilities: ['async'],
  })
  const client = await callerOf(app, '2025-11-25')
  expect(client.opening).toMatchObject({ serverInfo: { name: 'my-server', version: '2025-11' } })
  expect(await client.call('add', { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } })
  expect(await client.call('greet', { name: 'Ada' })).toMatchObject({ content: [{ text: 'Hello, Ada!' }] })
  await client.close()
})

test('listen() of a server that was made like that serves HTTP and stdio at once [S1-11-3]', async () => {
  const { child, port } = await startOnFreePort('examples/my-server/server.ts')
  const exited = once(child, 'exit')
  await using client = await connect(`http://127.0.0.1:${port}/mcp`)
  expect((await client.server()).info).toMatchObject({ name: 'my-server', version: '2025-11' })
  expect(await client.call('add', { a: 2, b: 3 })).toEqual({ sum: 5 })
  const params = { name: 'greet', arguments: { name: 'Ada' } }
  for (const message of [...hello, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }])
    child.stdin.write(`${JSON.stringify(message)}\n`)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const reply = async (): Promise<unknown> => JSON.parse((await lines.next()).value as string)
  expect(await reply()).toMatchObject({ id: 1, result: { serverInfo: { name: 'my-server' } } })
  expect(await reply()).toMatchObject({ id: 2, result: { content: [{ text: 'Hello, Ada!' }] } })
  child.stdin.end()
  expect(await exited).toEqual([0, null])
})

test('a handler may give back anything that can be shown', async () => {
  const { audio, embed, image, link, text } = await import('pierhead')
  const app = createServer({ name: 'shown', version: '1' })
    .tool('string', {}, () => 'plain')
    .tool('number', {}, async () => 7)
    .tool('object', {}, () => ({ a: [1] }))
    .tool('nothing', {}, () => undefined)
    .tool('text', {}, () => text('block'))
    .tool('blocks', {}, () => [
      text('one'),
      image(Uint8Array.of(1), 'image/png'),
      audio(Uint8Array.of(2), 'audio/wav'),
      link('orders://7', { name: 'seven' }),
      embed('orders://8', 'inside'),
    ])
    .tool('generator', {}, function* () {
      yield 'a'
      yield text('b')
    })
    .tool('whole', {}, () => ({ content: [text('whole')], _meta: { 'example.com/a': 1 } }))
  const client = await callerOf(app, '2025-11-25')
  const content = async (name: string): Promise<unknown> => (await client.call(name))['content']
  expect(await content('string')).toEqual([{ type: 'text', text: 'plain' }])
  expect(await content('number')).toEqual([{ type: 'text', text: '7' }])
  expect(await content('object')).toEqual([{ type: 'text', text: '{"a":[1]}' }])
  expect(await content('nothing')).toEqual([])
  expect(await content('text')).toEqual([{ type: 'text', text: 'block' }])
  expect(await content('blocks')).toMatchObject([
    { type: 'text' },
    { type: 'image', data: 'AQ==' },
    { type: 'audio', data: 'Ag==' },
    { type: 'resource_link', uri: 'orders://7' },
    { type: 'resource', resource: { uri: 'orders://8', text: 'inside' } },
  ])
  expect(await content('generator')).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ])
  expect(await client.call('whole')).toMatchObject({
    content: [{ text: 'whole' }],
    _meta: { 'example.com/a': 1 },
  })
  await client.close()
})
