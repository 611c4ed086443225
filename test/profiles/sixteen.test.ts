import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { connect, type Client } from '../../src/client.ts'
import { apps, Apps, health, subscriptions, toolStream } from '../../src/extensions.ts'
import { createServer, type App } from '../../src/index.ts'
import { erlmcp } from '../../src/profiles.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { tapped } from './tap.ts'

/** A server with something for each capability. */
function createApp(): App {
  const app = createServer({
    name: 'sixteen',
    version: '1',
    profile: erlmcp,
    pageSize: 1,
    log: () => undefined,
  })
  const whom = { type: 'object', properties: { whom: { type: 'string' } } } as const
  return app
    .tool('spell', { description: 'Letter by letter' }, function* () {
      yield 'a'
      yield 'b'
    })
    .tool('steps', { description: 'Takes two steps' }, (_, { progress }) => {
      progress(1, 2)
      progress(2, 2)
      return 'done'
    })
    .tool('wait', { description: 'Waits' }, (_, { signal }) => {
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')))
    })
    .tool('tell', { description: 'Logs' }, (_, { log }) => {
      log.info('a detail')
      return 'told'
    })
    .tool('roots', { description: 'Where' }, async (_, { roots }) => (await roots())[0]?.uri)
    .tool('model', { description: 'Asks a model' }, async (_, { sample }) => {
      return (await sample({ messages: [{ role: 'user', content: 'Hm?' }] })).model
    })
    .tool('form', { description: 'Asks the user' }, async (_, { elicit }) => {
      const { action, content } = await elicit('Who?', whom)
      return `${action} ${String(content?.whom)}`
    })
    .tool('print', { description: 'Takes long', task: 'optional' }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    .resource('note://one', {}, () => 'noted')
    .prompt('greet', { args: whom }, () => 'Say hello.')
    .complete('greet', 'whom', () => ['Ada'])
    .extend(apps(new Apps([], { allow: () => true })))
    .extend(health)
    .extend(subscriptions)
    .extend(toolStream)
}

async function names(listed: AsyncIterable<{ readonly name: string }>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { name } of listed) found.push(name)
  return found
}

interface Stage {
  readonly client: Client
  readonly app: App
  /** What the server declared to this client. */
  readonly capabilities: JsonObject
  /** What the client declared to the server. */
  readonly declared: JsonObject
  readonly logged: readonly unknown[]
}

/** What each capability does for a client of the profile. */
const CAPABILITIES: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  async resources({ client, app, capabilities }) {
    expect(capabilities).toMatchObject({ resources: { subscribe: true } })
    expect(await names(client.resources())).toEqual(['one'])
    expect((await client.read('note://one')).contents).toMatchObject([{ text: 'noted' }])
    let changed: () => void = () => undefined
    const heard = new Promise<void>((resolve) => (changed = resolve))
    const unsubscribe = await client.subscribe('note://one', () => changed())
    app.updated('note://one')
    await heard
    await unsubscribe()
    expect(await client.request('subscriptions/list')).toEqual({ subscriptions: [] })
  },
  async tools({ client, capabilities }) {
    expect(capabilities).toHaveProperty('tools')
    expect(await names(client.tools())).toContain('spell')
    expect(await client.callRaw('spell')).toMatchObject({ isError: false })
    const pieces: unknown[] = []
    const onProgress = (piece: object): void => void pieces.push(piece)
    await client.request('tools/stream', { name: 'spell', arguments: {} }, { onProgress })
    expect(pieces).toHaveLength(2)
  },
  async prompts({ client, capabilities }) {
    expect(capabilities).toHaveProperty('prompts')
    expect(await names(client.prompts())).toEqual(['greet'])
    expect((await client.prompt('greet')).messages).toHaveLength(1)
  },
  async roots({ client, declared }) {
    expect(declared).toHaveProperty('roots')
    expect(await client.call('roots')).toBe('file:///here')
  },
  async apps({ client, capabilities }) {
    expect(capabilities).toMatchObject({ experimental: { 'dev.pierhead/apps': {} } })
    expect(await client.request('apps/register', { name: 'mine', tools: ['tell'] })).toMatchObject({
      app: { state: 'registered' },
    })
    expect(await client.request('apps/start', { name: 'mine' })).toMatchObject({ app: { state: 'running' } })
    expect(await client.request('apps/stop', { name: 'mine' })).toMatchObject({ app: { state: 'stopped' } })
    expect(await client.request('apps/unregister', { name: 'mine' })).toBeDefined()
    expect(await client.request('apps/list')).toMatchObject({ apps: [] })
  },
  async sampling({ client, declared }) {
    expect(declared).toHaveProperty('sampling')
    expect(await client.call('model')).toBe('m')
  },
  async completion({ client, capabilities }) {
    expect(capabilities).toMatchObject({ completions: {} })
    expect(await client.complete('greet', { name: 'whom', value: 'A' })).toMatchObject({ values: ['Ada'] })
  },
  async elicitation({ client, declared }) {
    expect(declared).toHaveProperty('elicitation')
    expect(await client.call('form')).toBe('accept Ada')
  },
  async logging({ client, capabilities, logged }) {
    expect(capabilities).toHaveProperty('logging')
    await client.setLogLevel('info')
    await client.call('tell')
    expect(logged).toContain('a detail')
  },
  async tasks({ client, capabilities }) {
    expect(capabilities).toMatchObject({ tasks: { list: {}, cancel: {} } })
    const { task } = (await client.request('tasks/create', { name: 'print' })) as { task: JsonObject }
    expect(task).toMatchObject({ status: 'working' })
    const { taskId } = task
    expect(await client.request('tasks/list')).toMatchObject({ tasks: [{ taskId }] })
    expect(await client.request('tasks/cancel', { taskId })).toMatchObject({ status: 'cancelled' })
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' })
  },
  async health({ client, capabilities }) {
    expect(capabilities).toMatchObject({ experimental: { 'dev.pierhead/health': {} } })
    expect(await client.request('health/status')).toMatchObject({ status: 'ok' })
  },
  async subscriptions({ client, capabilities }) {
    expect(capabilities).toMatchObject({ experimental: { 'dev.pierhead/subscriptions': {} } })
    await client.subscribe('note://one', () => undefined)
    expect(await client.request('subscriptions/list')).toMatchObject({
      subscriptions: [{ kind: 'resource', uri: 'note://one' }],
    })
  },
  async progress({ client }) {
    const steps: unknown[] = []
    await client.call('steps', {}, { onProgress: ({ progress }) => void steps.push(progress) })
    expect(steps).toEqual([1, 2])
  },
  async cancellation({ client, app }) {
    const stop = new AbortController()
    const waiting = client.call('wait', {}, { signal: stop.signal })
    await expect.poll(() => serviceOf(app).load.running).toBe(1)
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' })
    await expect.poll(() => serviceOf(app).load.running).toBe(0)
  },
  async pagination({ client }) {
    const first = await client.request('tools/list')
    expect(first['tools']).toHaveLength(1)
    const second = await client.request('tools/list', { cursor: first['nextCursor'] })
    expect(second['tools']).toHaveLength(1)
    expect(second['tools']).not.toEqual(first['tools'])
  },
  async batch({ app }) {
    const replies: string[] = []
    const end = app.connect({ receive: (text) => void replies.push(text) })
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'b', version: '1' },
    }
    end.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
    const pings = [2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
    end.send(JSON.stringify(pings))
    const answered = (): unknown => replies.map((text) => JSON.parse(text) as unknown).find(Array.isArray)
    await expect.poll(answered).toMatchObject([
      { id: 2, result: {} },
      { id: 3, result: {} },
    ])
    end.close()
  },
}

/** What neither side declares: every peer has it. */
const UNDECLARED = ['progress', 'cancellation', 'pagination', 'batch']
const ROWS = Object.entries(CAPABILITIES).map(([name, expectServed]) => {
  const how = UNDECLARED.includes(name) ? 'served without being negotiated' : 'negotiated and served'
  return [name, how, expectServed] as const
})

test.each(ROWS)('%s is %s [S2-0-1]', async (_, __, expectServed) => {
  const app = createApp()
  const { server, said } = tapped(app)
  const client = await connect(server, {
    profile: erlmcp,
    answers: {
      roots: [{ uri: 'file:///here' }],
      sample: () => ({ role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'm' }),
      elicit: () => ({ action: 'accept', content: { whom: 'Ada' } }),
    },
  })
  const logged: unknown[] = []
  client.on('log', ({ data }) => void logged.push(data))
  const { capabilities } = await client.server()
  const { params } = said('client').find(({ method }) => method === 'initialize') ?? {}
  const declared = (params as JsonObject)['capabilities'] as JsonObject
  await expectServed({ client, app, capabilities: capabilities as JsonObject, declared, logged })
  await client.close()
})

test('there are sixteen capabilities [S2-0-1]', () => {
  expect(Object.keys(CAPABILITIES)).toHaveLength(16)
})
