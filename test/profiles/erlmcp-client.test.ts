import { expect, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import { erlmcp, official } from '../../src/profiles.ts'
import { McpError, ToolError } from '../../src/index.ts'
import { createApp } from '../transcripts/app.ts'
import { tapped } from './tap.ts'

async function open(options: Parameters<typeof connect>[1] = {}): Promise<{
  readonly client: Client
  readonly said: ReturnType<typeof tapped>['said']
  readonly app: ReturnType<typeof createApp>
}> {
  const app = createApp(erlmcp)
  const { server, said } = tapped(app)
  return { client: await connect(server, { profile: erlmcp, ...options }), said, app }
}

test('a client with the profile begins with a handshake, and both sides say that they are ready [S2-1.4-4] [S2-2.1-6] [S2-2.4-1]', async () => {
  const { client, said } = await open()
  expect((await client.server()).revision).toBe('2025-11-25')
  expect(said('client')[0]).toMatchObject({ method: 'initialize' })
  await expect.poll(() => said('server')).toHaveLength(2)
  expect(said('server')[0]).toMatchObject({ result: { capabilities: { tools: {} } } })
  const ready = { jsonrpc: '2.0', method: 'notifications/initialized', params: {} }
  expect([said('server')[1], said('client')[1]]).toEqual([ready, ready])
  await client.close()
})

test('tools, resources, prompts and completion work through the profile [S2-5.3-2] [S2-7.2-3] [S2-3.3-2]', async () => {
  const { client } = await open()
  const names: string[] = []
  for await (const { name } of client.tools()) names.push(name)
  expect(names).toContain('add')
  expect(await client.call('add', { a: 1, b: 2 })).toBe('3')
  expect((await client.read('bytes://few')).contents).toEqual([
    { uri: 'bytes://few', mimeType: 'application/octet-stream', blob: 'AQI=' },
  ])
  expect((await client.prompt('ruled')).messages).toEqual([
    { role: 'system', content: { type: 'text', text: 'Be kind.' } },
  ])
  expect(await client.complete('greet', { name: 'whom', value: '' })).toMatchObject({ values: ['Ada', 'Bo'] })
  expect(await client.complete('city://{country}/{city}', { name: 'city', value: '' })).toMatchObject({
    values: ['Bern'],
  })
  await client.close()
})

test.each([
  ['erlmcp', erlmcp, ''],
  ['official', official, 'notifications/'],
] as const)(
  'notifications have bare names on the wire in erlmcp, official ones otherwise and for the program: %s [S2-1.4-3] [S2-5.4-1] [S2-9.4-13] [S2-3.1-2] [S2-3.6-1] [S2-4.1-1] [S2-4.5-1] [S2-5.1-1]',
  async (_, profile, prefix) => {
    const app = createApp(profile)
    const { server, said } = tapped(app)
    const client = await connect(server, { profile, revision: '2025-11-25' })
    const steps: unknown[] = []
    await client.call('count', {}, { onProgress: ({ progress }) => void steps.push(progress) })
    expect(steps).toEqual([1])
    const logged: unknown[] = []
    client.on('log', ({ data }) => void logged.push(data))
    await client.setLogLevel('debug')
    await client.call('tell')
    await expect.poll(() => logged).toEqual(['a detail'])
    const changes: unknown[] = []
    client.on('change', (change) => void changes.push(change))
    await client.subscribe('bytes://few', () => undefined)
    app.tool('later', { description: 'Came later' }, () => 'x')
    app.resource('later://one', {}, () => 'x')
    app.prompt('later', {}, () => 'x')
    app.updated('bytes://few')
    await expect.poll(() => changes).toHaveLength(4)
    const told = said('server').flatMap(({ id, method, params }) =>
      id === undefined && method !== 'notifications/initialized' ? [[method, params]] : [],
    )
    expect(told).toHaveLength(6)
    expect(Object.fromEntries(told)).toEqual({
      [`${prefix}progress`]: { progressToken: expect.any(Number), progress: 1, total: 2 },
      [`${prefix}message`]: { level: 'debug', data: 'a detail' },
      [`${prefix}tools/list_changed`]: {},
      [`${prefix}resources/list_changed`]: {},
      [`${prefix}prompts/list_changed`]: {},
      [`${prefix}resources/updated`]: { uri: 'bytes://few' },
    })
    // None of them is answered.
    expect(said('client').filter((message) => !('method' in message))).toEqual([])
    await client.close()
  },
)

test('log messages come as `message` [S2-1.4-3]', async () => {
  const { server, said } = tapped(createApp(erlmcp))
  const client = await connect(server, { profile: erlmcp })
  const logged: unknown[] = []
  client.on('log', ({ data }) => void logged.push(data))
  await client.setLogLevel('debug')
  await client.call('tell')
  expect(logged).toEqual(['a detail'])
  expect(said('server')).toContainEqual(expect.objectContaining({ method: 'message' }))
  await client.close()
})

test.each([
  ['an unknown tool', (client: Client) => client.call('missing'), 'unknown_tool', -32031],
  ['an unknown resource', (client: Client) => client.read('missing://x'), 'unknown_resource', -32001],
  ['an unknown prompt', (client: Client) => client.prompt('missing'), 'unknown_prompt', -32041],
  ['wrong arguments', (client: Client) => client.call('add', { a: 'x' }), 'tool_arguments', -32033],
] as const)(
  'the number for %s is understood [S2-8.2-1] [S2-8.2-4] [S2-8.2-5] [S2-4.3-7] [S2-4.2-5]',
  async (_, act, kind, code) => {
    const { client } = await open()
    const error = await act(client).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(McpError)
    expect(error).toMatchObject({ kind, code })
    await client.close()
  },
)

test('a tool that throws is error -32032, one that returns a failure is a result [S2-4.3-7]', async () => {
  const { client } = await open()
  await expect(client.call('fail')).rejects.toMatchObject({
    code: -32032,
    message: 'the printer is out of paper',
  })
  await expect(client.call('break')).rejects.toMatchObject({
    code: -32032,
    message: expect.stringMatching(/^tool "break" failed/),
  })
  await expect(client.call('refuse')).rejects.toBeInstanceOf(ToolError)
  await client.close()
})

test('questions to the model have `system`, and answers snake case and a list [S2-6.2-4] [S2-6.2-5]', async () => {
  const asked: unknown[] = []
  const { client, said } = await open({
    answers: {
      sample: (params) => {
        asked.push(params)
        return {
          role: 'assistant',
          content: { type: 'text', text: 'Yes.' },
          model: 'm',
          stopReason: 'endTurn',
        }
      },
    },
  })
  expect(await client.call('judge')).toBe('endTurn')
  expect(asked).toMatchObject([{ systemPrompt: 'Be brief.' }])
  expect(said('server')).toContainEqual(
    expect.objectContaining({ params: expect.objectContaining({ system: 'Be brief.' }) }),
  )
  expect(said('client')).toContainEqual(
    expect.objectContaining({
      result: expect.objectContaining({ stopReason: 'end_turn', content: [{ type: 'text', text: 'Yes.' }] }),
    }),
  )
  await client.close()
})

test('a client with the profile understands an official server, and an official client is understood', async () => {
  const plain = await connect(createApp(official), { profile: erlmcp })
  expect(await plain.call('add', { a: 2 })).toBe('2')
  expect(await plain.complete('greet', { name: 'whom', value: '' })).toMatchObject({ values: ['Ada', 'Bo'] })
  await plain.close()
  const newest = await connect(createApp(erlmcp))
  expect((await newest.server()).revision).toBe('2026-07-28')
  expect(await newest.complete('greet', { name: 'whom', value: '' })).toMatchObject({ values: ['Ada', 'Bo'] })
  await newest.close()
})

test('errors with the status of their refusal are answers, and the session goes on', async () => {
  const app = createApp(erlmcp)
  const running = await app.listen({ http: { port: 0 } })
  const client = await connect(running.url as string, { profile: erlmcp })
  const opened: unknown[] = []
  client.on('state', (state) => void opened.push(state))
  await expect(client.call('missing')).rejects.toMatchObject({ kind: 'unknown_tool', code: -32031 })
  await expect(client.call('break')).rejects.toMatchObject({ code: -32032 })
  await expect(client.call('add', { a: 'x' })).rejects.toMatchObject({ code: -32033 })
  expect(await client.call('add', { a: 1 })).toBe('1')
  expect(opened).toEqual([])
  await client.close()
  await running.close()
})

test.each(['http', 'ws', 'tcp'] as const)('the profile is spoken over %s', async (transport) => {
  const app = createApp(erlmcp)
  const running = await app.listen({ http: { port: 0 }, ws: true, tcp: { port: 0 } })
  const client = await connect(running.addresses[transport] as string, { profile: erlmcp })
  const steps: unknown[] = []
  await client.call('count', {}, { onProgress: ({ progress }) => void steps.push(progress) })
  expect(steps).toEqual([1])
  expect(await client.complete('greet', { name: 'whom', value: '' })).toMatchObject({ values: ['Ada', 'Bo'] })
  await expect(client.prompt('missing')).rejects.toMatchObject({ kind: 'unknown_prompt', code: -32041 })
  const changes: unknown[] = []
  client.on('change', (change) => void changes.push(change))
  await client.subscribe('bytes://few', () => undefined)
  app.updated('bytes://few')
  await expect.poll(() => changes).toContainEqual({ kind: 'resource', uri: 'bytes://few' })
  await client.close()
  await running.close()
})
