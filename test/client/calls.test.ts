import { expect } from 'vitest'
import { McpError, ToolError } from '../../src/client.ts'
import { all, failure } from './gather.ts'
import { scenario } from './scenario.ts'
import type { Transport } from './transports.ts'

scenario(
  'a client learns who the server is, what it offers and what is spoken [S2-13-C2] [S0-0.1]',
  async (client, { revision }) => {
    const about = await client.server()
    expect(about).toMatchObject({ revision, instructions: 'Call echo first.' })
    expect(about.info).toMatchObject({ name: 'everything', version: '3.2.1' })
    for (const capability of ['tools', 'resources', 'prompts', 'logging'])
      expect([capability, await client.supports(capability)]).toEqual([capability, true])
    expect(await client.supports('resources.subscribe')).toBe(true)
    expect(await client.supports('tasks')).toBe(false)
  },
)

scenario(
  'a client discovers tools, calls them as they are described, and interprets what they give back [S1-1.1-1] [S2-13-C9] [S2-0-4]',
  async (client) => {
    const tools = await all(client.tools())
    const add = tools.find(({ name }) => name === 'add')
    expect(add?.inputSchema).toMatchObject({
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    })
    for (const name of ['echo', 'fail', 'gallery']) expect(tools.map((tool) => tool.name)).toContain(name)
    expect(await client.call('echo', { text: 'plain' })).toBe('plain')
    expect(await client.call('add', { a: 1, b: 2 })).toEqual({ sum: 3 })
    expect(await client.call('gallery')).toContainEqual({
      type: 'image',
      data: 'aW1n',
      mimeType: 'image/png',
    })
    expect(await failure(client.call('fail'))).toBeInstanceOf(ToolError)
    expect(await failure(client.call('ecko'))).toMatchObject({ kind: 'unknown_tool' })
  },
)

scenario('a call gives back the text of an only text block [S1-10-6] [S2-13-C8]', async (client) => {
  const text = 'hällo 👋 \u2028 "quoted"\n'
  expect(await client.call('echo', { text })).toBe(text)
})

scenario(
  'a call gives back structured content, checked against the schema of a listed tool [R150]',
  async (client) => {
    await all(client.tools())
    const value = await client.call('add', { a: 1, b: 2 })
    expect(value).toEqual({ sum: 3 })
    const raw = await client.callRaw('add', { a: 2, b: 2 })
    expect(raw.content).toEqual([{ type: 'text', text: '{"sum":4}' }])
    expect(raw.isError ?? false).toBe(false)
  },
)

scenario('a call gives back all blocks when there are several', async (client, { revision }) => {
  const blocks = (await client.call('gallery')) as readonly { readonly type: string }[]
  expect(blocks[0]).toEqual({ type: 'text', text: 'all kinds' })
  expect(blocks[1]).toEqual({ type: 'image', data: 'aW1n', mimeType: 'image/png' })
  expect(blocks.some(({ type }) => type === 'audio')).toBe(revision >= '2025-03-26')
  expect(blocks.some(({ type }) => type === 'resource_link')).toBe(revision >= '2025-06-18')
  expect(blocks.at(-1)).toMatchObject({ type: 'resource', resource: { uri: 'note://one', text: 'one' } })
})

scenario('what a tool says when it fails is thrown, or given back whole [S2-13-C4]', async (client) => {
  const error = await failure(client.call('fail'))
  expect(error).toBeInstanceOf(ToolError)
  expect(error).toMatchObject({ message: 'The disk is full' })
  expect(await client.callRaw('fail')).toMatchObject({ isError: true })
  const crash = await failure(client.call('crash'))
  expect(crash).toBeInstanceOf(ToolError)
  expect((crash as Error).message).not.toContain('secret')
})

scenario('what does not exist is told in one class of errors [R174] [S2-13-C4]', async (client) => {
  const expected = [
    [() => client.call('ecko'), 'unknown_tool'],
    [() => client.read('note://nothing'), 'unknown_resource'],
    [() => client.prompt('nothing'), 'unknown_prompt'],
    [() => client.request('no/such/method'), 'unknown_method'],
  ] as const
  for (const [ask, kind] of expected) {
    const error = await failure(ask())
    expect(error).toBeInstanceOf(McpError)
    expect(error).toMatchObject({ kind })
  }
  expect(await failure(client.call('ecko'))).toMatchObject({ message: expect.stringContaining('"echo"') })
})

scenario('arguments that break the schema are refused by the server', async (client, { revision }) => {
  const error = await failure(client.call('echo', { text: 1 }))
  if (revision >= '2025-11-25') expect(error).toBeInstanceOf(ToolError)
  else expect(error).toMatchObject({ code: -32602 })
})

scenario(
  'arguments of a listed tool are checked before they are sent, when asked for [S1-8-2]',
  async (_, { join }) => {
    const client = await join({ checkInput: true })
    const sent: string[] = []
    client.use('tools/call', (request, next) => {
      sent.push(request.method)
      return next()
    })
    await all(client.tools())
    expect(await failure(client.call('echo', { text: 1 }))).toMatchObject({ kind: 'tool_arguments' })
    expect(sent).toEqual([])
    expect(await client.call('echo', { text: 'right' })).toBe('right')
    expect(sent).toEqual(['tools/call'])
  },
)

scenario(
  'many calls are in flight at once, each answered with its own [S2-1.2-3] [S2-13-C3]',
  async (client) => {
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`)
    expect(await Promise.all(texts.map((text) => client.call('echo', { text })))).toEqual(texts)
  },
)

scenario('members of _meta travel with a request', async (client, { join }) => {
  const other = await join()
  let seen: unknown
  other.use((request, next) => {
    seen = request.options.meta
    return next()
  })
  const meta = { 'example.com/trace': 'abc' }
  expect(await other.call('echo', { text: 'x' }, { meta })).toBe('x')
  expect(seen).toEqual(meta)
  expect(await client.call('echo', { text: 'x' }, { meta })).toBe('x')
})

const isHttp = (transport: Transport): boolean => transport === 'http' || transport === 'sse'

scenario(
  'headers of one request travel with that request only, and never replace those of the protocol',
  async (client, { transport }) => {
    const ask = { name: 'x-tenant' }
    const given = { headers: { 'X-Tenant': 'seven' } }
    expect(await client.call('header', ask, given)).toBe(isHttp(transport) ? 'seven' : 'none')
    expect(await client.call('header', ask)).toBe('none')
    for (const name of ['Mcp-Session-Id', 'mcp-name', 'MCP-Protocol-Version'])
      expect(await failure(client.call('header', ask, { headers: { [name]: 'x' } }))).toMatchObject({
        kind: 'bad_option',
      })
  },
)

scenario('headers of a connection travel with every request', async (_, { join, transport }) => {
  // Elsewhere there are none, and the option is rejected.
  const client = await join(isHttp(transport) ? { headers: { 'x-tenant': 'eight' } } : {})
  expect(await client.call('header', { name: 'x-tenant' })).toBe(isHttp(transport) ? 'eight' : 'none')
})

scenario('a closed client refuses everything', async (_, { join }) => {
  const client = await join()
  await client.close()
  await client.close()
  expect(client.state).toBe('closed')
  expect(await failure(client.call('echo', { text: 'x' }))).toMatchObject({ kind: 'closed' })
  expect(await failure(all(client.tools()))).toMatchObject({ kind: 'closed' })
})
