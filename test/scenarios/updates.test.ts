import { expect } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const TOOLS = 'notifications/tools/list_changed'
const RESOURCES = 'notifications/resources/list_changed'
const PROMPTS = 'notifications/prompts/list_changed'

const a = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const
const b = { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] } as const

function make(): App {
  return createServer({ name: 'changing', version: '1' })
    .tool('one', {}, () => 1)
    .tool('two', { input: a, description: 'second' }, ({ a: given }) => `a ${given}`)
    .tool('three', {}, () => 3)
    .resource('a://one', {}, () => 'one')
    .resource('a://two', { mimeType: 'text/plain' }, () => 'two')
    .resource('a://three', {}, () => 'three')
    .resource('b://{id}', {}, ({ id }) => `b ${id}`)
    .resource('{+all}', {}, () => 'anything')
    .prompt('one', {}, () => 'one')
    .prompt('two', { args: a }, ({ a: given }) => `a ${given}`)
    .complete('two', 'a', () => ['alpha'])
    .complete('b://{id}', 'id', () => ['7'])
}

async function named(client: Client, method: string, member: string): Promise<readonly unknown[]> {
  return ((await client.get(method))[member] as JsonObject[]).map(({ name }) => name)
}

const heard = (client: Client): readonly string[] =>
  client.notices.map(({ method }) => method).filter((method) => method.endsWith('list_changed'))

scenario(
  'a tool is updated in its place, announced once, and called as it is from then on',
  make,
  async (client, _revision, { app }) => {
    await client.follow({ lists: ['tools', 'resources', 'prompts'] })
    expect(app.update('tool', 'two', { input: b, title: 'Two' }, ({ b: given }) => `b ${given}`)).toBe(app)
    await client.hear(TOOLS)
    const tools = (await client.get('tools/list'))['tools'] as JsonObject[]
    expect(tools.map(({ name }) => name)).toEqual(['one', 'two', 'three'])
    expect(tools[1]).toMatchObject({ description: 'second', inputSchema: b })
    expect(await client.call('two', { b: 5 })).toMatchObject({ content: [{ text: 'b 5' }] })
    const answer = await client.call('two', { a: 'x' }).catch((error: unknown) => error)
    expect(answer).not.toMatchObject({ content: [{ text: expect.stringMatching(/^[ab] /) }] })
    app.update('tool', 'two', { description: undefined })
    await client.hear(TOOLS, 2)
    const [, two] = (await client.get('tools/list'))['tools'] as JsonObject[]
    expect(two).not.toHaveProperty('description')
    expect(await client.call('two', { b: 6 })).toMatchObject({ content: [{ text: 'b 6' }] })
    expect(heard(client)).toEqual([TOOLS, TOOLS])
  },
)

scenario('so are resources, templates and prompts', make, async (client, _revision, { app }) => {
  await client.follow({ lists: ['tools', 'resources', 'prompts'] })
  app.update('resource', 'a://two', { name: 'zwei' }, () => 'zwei')
  await client.hear(RESOURCES, 1)
  expect(await named(client, 'resources/list', 'resources')).toEqual(['one', 'zwei', 'three'])
  expect(await client.get('resources/read', { uri: 'a://two' })).toEqual({
    contents: [{ uri: 'a://two', mimeType: 'text/plain', text: 'zwei' }],
  })
  app.update('resource', 'b://{id}', { mimeType: 'text/x', list: () => [{ variables: { id: 7 } }] })
  await client.hear(RESOURCES, 2)
  expect(await client.get('resources/read', { uri: 'b://7' })).toEqual({
    contents: [{ uri: 'b://7', mimeType: 'text/x', text: 'b 7' }],
  })
  expect(await named(client, 'resources/list', 'resources')).toEqual(['one', 'zwei', 'three', '7'])
  expect(await named(client, 'resources/templates/list', 'resourceTemplates')).toEqual(['id', 'all'])
  app.update(
    'prompt',
    'two',
    { args: { type: 'object', properties: { c: {} } } },
    ({ c }) => `c ${String(c)}`,
  )
  await client.hear(PROMPTS)
  expect(await client.get('prompts/get', { name: 'two', arguments: { c: 'x' } })).toMatchObject({
    messages: [{ content: { text: 'c x' } }],
  })
  const ref = { type: 'ref/prompt', name: 'two' }
  const gone = { ref, argument: { name: 'a', value: '' } }
  expect((await refusal(client.request('completion/complete', gone))).message).toContain(
    'has no argument "a"',
  )
  expect(heard(client)).toEqual([RESOURCES, RESOURCES, PROMPTS])
})

scenario('an update that is not valid changes nothing', make, async (client, _revision, { app }) => {
  await client.follow({ lists: ['tools', 'resources', 'prompts'] })
  const before = await client.get('tools/list')
  const bad: readonly (() => unknown)[] = [
    () => app.update('tool', 'two', { description: 'new', input: { type: 'string' } as never }),
    () => app.update('tool', 'two', { description: 'new', titel: 'x' } as never),
    () => app.update('tool', 'two', { description: 'new' }, 'handler' as never),
    () => app.update('resource', 'a://two', { list: () => [] }),
    () => app.update('prompt', 'two', { args: { type: 'array' } as never }),
  ]
  for (const act of bad) expect(act).toThrow(/two/)
  expect(await client.get('tools/list')).toEqual(before)
  expect(await client.call('two', { a: 'x' })).toMatchObject({ content: [{ text: 'a x' }] })
  await client.settle()
  expect(heard(client)).toEqual([])
})

scenario(
  'what is disabled is answered exactly as what does not exist, until it is enabled, in its place',
  make,
  async (client, _revision, { app }) => {
    await client.follow({ lists: ['tools', 'resources', 'prompts'] })
    const requests = [
      ['tools/call', { name: 'two', arguments: { a: 'x' } }, { name: 'own', arguments: { a: 'x' } }],
      ['prompts/get', { name: 'two', arguments: { a: 'x' } }, { name: 'own', arguments: { a: 'x' } }],
      ['resources/read', { uri: 'a://two' }, { uri: 'a://own' }],
      ['resources/read', { uri: 'b://two' }, { uri: 'b://own' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'two' }, argument: { name: 'a', value: '' } },
        { ref: { type: 'ref/prompt', name: 'own' }, argument: { name: 'a', value: '' } },
      ],
      [
        'completion/complete',
        { ref: { type: 'ref/resource', uri: 'b://{id}' }, argument: { name: 'id', value: '' } },
        { ref: { type: 'ref/resource', uri: 'own://{id}' }, argument: { name: 'id', value: '' } },
      ],
    ] as const
    const lists = async (): Promise<readonly unknown[]> => [
      await named(client, 'tools/list', 'tools'),
      await named(client, 'resources/list', 'resources'),
      await named(client, 'resources/templates/list', 'resourceTemplates'),
      await named(client, 'prompts/list', 'prompts'),
    ]
    const before = await lists()
    app.disable('resource', '{+all}')
    app
      .disable('tool', 'two')
      .disable('resource', 'a://two')
      .disable('resource', 'b://{id}')
      .disable('prompt', 'two')
    for (const method of [TOOLS, RESOURCES, PROMPTS]) await client.hear(method)
    expect(await lists()).toEqual([['one', 'three'], ['one', 'three'], [], ['one']])
    const plain = (words: unknown): string =>
      JSON.stringify(words)
        .replaceAll(/two|b(?=:\/\/\{)/g, 'own')
        .replace(/; did you mean [^?]+\?/, '')
    for (const [method, disabled, absent] of requests) {
      const first = await refusal(client.request(method, disabled))
      const second = await refusal(client.request(method, absent))
      expect([first.code, first.message, first.data].map(plain)).toEqual(
        [second.code, second.message, second.data].map(plain),
      )
    }
    app
      .enable('prompt', 'two')
      .enable('resource', 'b://{id}')
      .enable('resource', 'a://two')
      .enable('tool', 'two')
    app.enable('resource', '{+all}')
    for (const method of [TOOLS, RESOURCES, PROMPTS]) await client.hear(method, 2)
    expect(await lists()).toEqual(before)
    for (const [method, enabled] of requests) await client.request(method, enabled)
    app.enable('tool', 'two').disable('prompt', 'one').disable('prompt', 'one')
    await client.hear(PROMPTS, 3)
    expect(heard(client).filter((method) => method === TOOLS)).toHaveLength(2)
    expect(heard(client).filter((method) => method === PROMPTS)).toHaveLength(3)
  },
)

scenario(
  'a server whose only tool is disabled offers tools, and announces it later',
  () =>
    createServer({ name: 'later', version: '1' })
      .tool('one', {}, () => 1)
      .disable('tool', 'one'),
  async (client, _revision, { app }) => {
    await client.follow({ lists: ['tools'] })
    expect(await client.get('tools/list')).toEqual({ tools: [] })
    expect((await refusal(client.call('one'))).message).toBe('tool "one" does not exist')
    app.update('tool', 'one', { description: 'while it is disabled' })
    expect(await client.get('tools/list')).toEqual({ tools: [] })
    app.enable('tool', 'one')
    await client.hear(TOOLS)
    expect(await client.get('tools/list')).toMatchObject({ tools: [{ description: 'while it is disabled' }] })
  },
)

scenario(
  'a running call finishes with what it began',
  () => {
    const app: App = createServer({ name: 'running', version: '1' })
    const output = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
    return app.tool('slow', { output }, async () => {
      app.update('tool', 'slow', { output: undefined }, () => 'new')
      app.disable('tool', 'slow')
      await Promise.resolve()
      return { n: 1 }
    })
  },
  async (client, revision, { app }) => {
    const text = { type: 'text', text: '{"n":1}' }
    expect(await client.call('slow')).toMatchObject({
      content: [text],
      ...(revision >= '2025-06-18' ? { structuredContent: { n: 1 } } : {}),
    })
    expect((await refusal(client.call('slow'))).message).toBe('tool "slow" does not exist')
    app.enable('tool', 'slow')
    expect(await client.call('slow')).toMatchObject({ content: [{ text: 'new' }] })
  },
)

scenario(
  'app.changed announces that a list would be different, and each list once',
  () => {
    let isOpen = false
    const visible = (): boolean => isOpen
    return createServer({ name: 'announces', version: '1' })
      .tool('open', {}, () => void (isOpen = true))
      .tool('secret', { visible }, () => 1)
      .resource('a://b', { visible }, () => 'x')
      .prompt('p', { visible }, () => 'x')
  },
  async (client, _revision, { app }) => {
    await client.follow({ lists: ['tools', 'resources', 'prompts'] })
    expect(await named(client, 'tools/list', 'tools')).toEqual(['open'])
    await client.call('open')
    app.changed('tools')
    app.changed('tools')
    await client.hear(TOOLS)
    expect(await named(client, 'tools/list', 'tools')).toEqual(['open', 'secret'])
    app.changed()
    await client.hear(PROMPTS)
    expect(heard(client)).toEqual([TOOLS, TOOLS, RESOURCES, PROMPTS])
    app.disable('tool', 'open').changed('tools')
    await client.hear(TOOLS, 3)
    await client.settle()
    expect(heard(client)).toHaveLength(5)
  },
)
