import { expect } from 'vitest'
import { createServer, McpError, text, ToolError } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const seen: string[] = []

const app = createServer({ name: 'wrapped', version: '1', log: () => undefined })
  .tool('one', { input: { type: 'object', properties: { say: { type: 'string' } } } }, ({ say }) => {
    seen.push('handler')
    return say ?? 'one'
  })
  .prompt('one', {}, () => 'x')
  .use(async ({ method }, next) => {
    seen.push(`all ${method}`)
    const result = await next()
    seen.push('all after')
    return result
  })
  .use('tools/call', async ({ method, params }, next) => {
    seen.push(`calls ${method}`)
    const args = params['arguments'] as { say?: string } | undefined
    if (args?.say === 'stop') throw new McpError('bad_params', 'stopped on the way')
    if (args?.say === 'instead') return { content: [text('replaced')], isError: false }
    if (args?.say === 'twice') await next()
    if (args?.say === 'deny') throw new ToolError('not on Sundays', { day: 'Sunday' })
    if (args?.say === 'break') throw new Error('password is hunter2')
    return next()
  })

scenario('the first added is the outermost, and one for a method sees only that', app, async (client) => {
  await client.settle()
  seen.length = 0
  await client.call('one')
  expect(seen).toEqual(['all tools/call', 'calls tools/call', 'handler', 'all after'])
  seen.length = 0
  await client.request('prompts/get', { name: 'one' })
  expect(seen).toEqual(['all prompts/get', 'all after'])
})

scenario(
  'it may answer instead of the handler, refuse, or fail in private [R007] [R188]',
  app,
  async (client) => {
    await client.settle()
    seen.length = 0
    expect((await client.call('one', { say: 'instead' }))['content']).toEqual([
      { type: 'text', text: 'replaced' },
    ])
    expect(seen).not.toContain('handler')
    const stopped = await refusal(client.call('one', { say: 'stop' }))
    expect([stopped.code, stopped.message]).toEqual([-32602, 'stopped on the way'])
    const denied = await refusal(client.call('one', { say: 'deny' }))
    expect(denied).toMatchObject({
      code: -32603,
      message: 'not on Sundays',
      data: { day: 'Sunday', refusal: { retryable: false } },
    })
    for (const say of ['twice', 'break']) {
      const broken = await refusal(client.call('one', { say }))
      expect([broken.code, broken.message]).toEqual([
        -32603,
        expect.stringMatching(/^internal error \(reference [0-9a-f-]{36}\)$/),
      ])
    }
    expect(client.transcript.map((entry) => entry.text).join()).not.toContain('hunter2')
  },
)

scenario('an unknown method passes no middleware', app, async (client) => {
  await client.settle()
  seen.length = 0
  await refusal(client.request('no/such', {}))
  expect(seen).toEqual([])
})

const provided = createServer({ name: 'provided', version: '1', log: () => undefined })
  .provide(({ client }) => ({ user: client.info?.name ?? 'nobody' }))
  .provide(async ({ user }) => ({ shout: user.toUpperCase() }))
  .tool('who', {}, (_, { user, shout }) => `${user} ${shout}`)
  .resource('who://x', {}, (_, { shout }) => shout)
  .prompt('who', {}, (_, { user }) => user)

scenario(
  'what is provided reaches every handler, made anew for each request',
  provided,
  async (client, _revision, { join }) => {
    const other = await join({ clientInfo: { name: 'bo', version: '1' } })
    expect((await client.call('who'))['content']).toEqual([{ type: 'text', text: 'scenario SCENARIO' }])
    expect((await other.call('who'))['content']).toEqual([{ type: 'text', text: 'bo BO' }])
    expect((await other.get('resources/read', { uri: 'who://x' }))['contents']).toEqual([
      { uri: 'who://x', text: 'BO' },
    ])
    expect((await client.get('prompts/get', { name: 'who' }))['messages']).toEqual([
      { role: 'user', content: { type: 'text', text: 'scenario' } },
    ])
  },
)

scenario(
  'a provider that fails, or takes a name that every context has, is a masked error [R188]',
  () =>
    createServer({ name: 'provided', version: '1', log: () => undefined })
      .provide(({ client }): object => {
        if (client.info?.name === 'bo') return { signal: 1 }
        throw new Error('hunter2')
      })
      .tool('who', {}, () => 'x'),
  async (client, _revision, { join }) => {
    const other = await join({ clientInfo: { name: 'bo', version: '1' } })
    for (const one of [client, other]) {
      const error = await refusal(one.call('who'))
      expect([error.code, error.message]).toEqual([
        -32603,
        expect.stringMatching(/^internal error \(reference /),
      ])
    }
  },
)

const greedy = createServer({ name: 'greedy', version: '1', experimental: { own: {} } })
  .tool('one', {}, () => 'one')
  .use(async ({ method }, next) => {
    const result = await next()
    if (method !== 'initialize' && method !== 'server/discover') return result
    const { tools, experimental } = result['capabilities'] as Record<
      string,
      { listChanged?: boolean; own: { seen?: number } }
    >
    tools!.listChanged = tools!.listChanged !== true
    experimental!.own.seen = (experimental!.own.seen ?? 0) + 1
    return result
  })

scenario(
  'what it changes in the capabilities of one client, others do not see',
  greedy,
  async (_, revision, { join }) => {
    const all: unknown[] = []
    for (let at = 0; at < 2; at++) {
      const client = await join()
      const method = revision === '2026-07-28' ? 'server/discover' : 'initialize'
      const capabilities =
        method === 'initialize'
          ? (
              await client.request(method, {
                protocolVersion: revision,
                capabilities: {},
                clientInfo: client.clientInfo,
              })
            )['capabilities']
          : (await client.request(method))['capabilities']
      expect(capabilities).toMatchObject({ experimental: { own: { seen: 1 } } })
      all.push(capabilities)
    }
    expect(all[1]).toEqual(all[0])
  },
  { handshake: false },
)
