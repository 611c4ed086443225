import { once } from 'node:events'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import { allErrors } from '../../src/errors/all.ts'
import { createServer, McpError, ToolError, type App, type ErrorKind } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

const SECRET = 'postgres://admin:hunter2@10.0.0.5/prod'

/** Uses a server that ends at once and prints a secret. */
async function useUpstream(): Promise<never> {
  const args = ['-e', `console.error(${JSON.stringify(SECRET)}); process.exit(3)`]
  await connect({ command: process.execPath, args })
  throw new Error('the upstream server started')
}

const ARGS = { type: 'object', properties: { q: { type: 'string' } } } as const
const CALL = ['tools/call', { name: 'fine', arguments: {} }] as const

const PLACES: readonly [string, (app: App) => unknown, string, JsonObject][] = [
  ['a tool', (app) => app.tool('x', {}, useUpstream), 'tools/call', { name: 'x' }],
  ['a resource', (app) => app.resource('x://y', {}, useUpstream), 'resources/read', { uri: 'x://y' }],
  ['a template', (app) => app.resource('x://{y}', {}, useUpstream), 'resources/read', { uri: 'x://y' }],
  ['a prompt', (app) => app.prompt('p', {}, useUpstream), 'prompts/get', { name: 'p' }],
  [
    'a completion',
    (app) => app.prompt('p', { args: ARGS }, () => 'p').complete('p', 'q', useUpstream),
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'q', value: '' } },
  ],
  ['middleware', (app) => app.use('tools/call', useUpstream), ...CALL],
  ['an interceptor', (app) => app.intercept('tools/call', useUpstream), ...CALL],
  ['a provider', (app) => app.provide(useUpstream), ...CALL],
]

test.each(PLACES)(
  'the error of a client used in %s goes to the log, and the caller gets a reference',
  async (_place, add, method, params) => {
    const log: [string, JsonObject][] = []
    const app = createServer({
      name: 'front',
      version: '1',
      log: (_level, text, facts) => void log.push([text, facts as JsonObject]),
    })
    app.tool('fine', {}, () => 'fine')
    add(app)
    const replies: string[] = []
    const end = app.connect({ receive: (text) => void replies.push(text) })
    onTestFinished(() => end.close())
    const clientInfo = { name: 'caller', version: '1' }
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    end.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }))
    end.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method, params }))
    await expect.poll(() => replies.length, { timeout: 10_000 }).toBe(2)
    const [, reference] = /\(reference ([-0-9a-f]{36})\)/.exec(replies[1] as string) ?? []
    expect(replies[1]).not.toMatch(/hunter2|cannot connect|node/)
    const [[, facts]] = log.filter(([, { reference: own }]) => own === reference) as [(typeof log)[number]]
    expect(String((facts['error'] as Error).message)).toContain(SECRET)
  },
)

test('an error with a code of the upstream server is masked too', async () => {
  const upstream = createServer({ name: 'back', version: '1' }).tool('fail', {}, () => {
    throw new McpError('custom', SECRET, { code: 4009, data: { at: SECRET } })
  })
  const client = await connect(upstream)
  onTestFinished(() => client.close())
  await expect(client.call('fail')).rejects.toMatchObject({
    kind: 'custom',
    code: 4009,
    data: { at: SECRET },
  })
  const front = createServer({ name: 'front', version: '1', log: () => undefined })
    .tool('fail', {}, () => client.call('fail'))
    .prompt('fail', {}, async () => String(await client.call('fail')))
  const caller = await connect(front)
  onTestFinished(() => caller.close())
  const answers = await Promise.all([
    caller.callRaw('fail').then(JSON.stringify),
    caller.prompt('fail').then(JSON.stringify, String),
  ])
  for (const answer of answers) {
    expect(answer).toMatch(/\(reference [-0-9a-f]{36}\)/)
    expect(answer).not.toContain('hunter2')
  }
})

/** Every kind of error that a server may send. */
const KINDS = [...allErrors().values()].filter(({ where }) => where === undefined).map(({ kind }) => kind)

/** A server that fails with every kind of error: its secret is in the message and in the data. */
function leaking(): App {
  const input = { type: 'object', properties: { kind: { type: 'string' } } } as const
  return createServer({ name: 'back', version: '1', log: () => undefined })
    .tool('fail', { input }, ({ kind }) => {
      throw new McpError(kind as ErrorKind, SECRET, {
        ...(kind === 'custom' && { code: 4009 }),
        data: { at: SECRET, scopes: [SECRET] },
      })
    })
    .tool('ask', {}, () => {
      throw new ToolError('say which', { at: 'order' })
    }) as App
}

/** What the caller of a server gets from a tool and from a prompt that both do the same. */
async function answersOf(act: () => unknown, app: App = createServer(FRONT)): Promise<readonly string[]> {
  const run = async (): Promise<string> => String(await act())
  const caller = await connect(app.tool('do', {}, run).prompt('do', {}, run), { recovery: false })
  onTestFinished(() => caller.close())
  const failed = (error: unknown): string =>
    JSON.stringify([String(error), (error as McpError).kind, (error as McpError).data])
  return Promise.all([
    caller.callRaw('do').then(JSON.stringify, failed),
    caller.prompt('do').then(JSON.stringify, failed),
  ])
}

const FRONT = { name: 'front', version: '1', log: () => undefined }
const MASKED = /(tool \\"do\\" failed|internal error) \(reference [-0-9a-f]{36}\)/

describe.each(['memory', 'http'])('over %s, an error that a client received is masked', (transport) => {
  let client: Client
  beforeAll(async () => {
    const upstream = leaking()
    const running = transport === 'http' ? await upstream.listen({ http: { port: 0 } }) : undefined
    client = await connect(running?.url ?? (upstream as never), { recovery: false })
    return async () => {
      await client.close()
      await running?.close()
    }
  })

  test.each(KINDS)('if its kind is %s', async (kind) => {
    await expect(client.call('fail', { kind })).rejects.toThrow(/hunter2/)
    for (const answer of await answersOf(() => client.call('fail', { kind }))) {
      expect(answer).toMatch(MASKED)
      expect(answer).not.toContain('hunter2')
    }
  })
})

test('an error that a client of the handler found itself is masked too', async () => {
  const client = await connect(leaking(), { recovery: false })
  onTestFinished(() => client.close())
  const old = createServer({ ...FRONT, revisions: ['2024-11-05'] })
  const acts = [
    () => client.prompt('none'),
    () => client.read('x://y'),
    () => connect(old, { revision: '2025-11-25' }),
    () => connect(old, { revision: '2026-07-28' }),
    async () => {
      for await (const _ of client.watch({ resources: ['x://y'] })) continue
    },
  ]
  for (const act of acts) {
    await expect(act()).rejects.toThrow(McpError)
    for (const answer of await answersOf(act)) expect(answer).toMatch(MASKED)
  }
})

test('a question that the client of a handler cannot answer gives its caller a masked error', async () => {
  const params = { mode: 'form', message: 'Name?', requestedSchema: { type: 'object', properties: {} } }
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    const upstream = createServer(FRONT).tool('ask', {}, () => 'x')
    upstream.intercept('tools/call', () => ({
      resultType: 'input_required',
      inputRequests: { name: { method: 'elicitation/create', params } },
      requestState: 'x',
    }))
    const client = await connect(upstream, { revision, recovery: false })
    onTestFinished(() => client.close())
    for (const act of [() => client.callRaw('ask'), () => client.request('tools/call', { name: 'ask' })]) {
      await expect(act()).rejects.toThrow(McpError)
      for (const answer of await answersOf(act)) expect(answer).toMatch(MASKED)
    }
  }
})

test('an error of another client that answers a question is masked for the server that asked, and its own is not', async () => {
  const other = await connect(leaking(), { recovery: false })
  onTestFinished(() => other.close())
  const acts = [
    ...KINDS.map((kind) => () => other.call('fail', { kind })),
    useUpstream,
    () => {
      throw new McpError('custom', 'the model is busy', { code: 4009 })
    },
  ]
  const asking = createServer(FRONT).tool('ask', {}, (_, { sample }) =>
    sample({ messages: [{ role: 'user', content: 'Hello' }] }).then(JSON.stringify, (error: McpError) =>
      JSON.stringify([error.message, error.data]),
    ),
  )
  let act = 0
  const answers = { sample: async (): Promise<JsonObject> => (await acts[act++]?.()) as JsonObject }
  const client = await connect(asking, { answers, revision: '2025-11-25', recovery: false })
  onTestFinished(() => client.close())
  const told: unknown[] = []
  for (const _ of acts) told.push(await client.call('ask'))
  expect(told.pop()).toContain('the model is busy')
  for (const text of told) {
    expect(text).toContain('internal error (reference question')
    expect(text).not.toContain('hunter2')
  }
})

test('a handler passes an error on by throwing its own, and what a failed tool says to the model is passed on', async () => {
  const client = await connect(leaking(), { recovery: false })
  onTestFinished(() => client.close())
  const rethrow = (): Promise<unknown> =>
    client.call('fail', { kind: 'unknown_resource' }).catch((error: unknown) => {
      throw new McpError((error as McpError).kind, 'no such order', { data: { order: 5 }, cause: error })
    })
  for (const answer of await answersOf(rethrow))
    expect(answer).toMatch(/^\["McpError: no such order","unknown_resource",\{"order":5,"refusal"/)
  const told = await answersOf(() => client.call('ask'))
  expect(told[0]).toContain('say which')
})

test('an error that a handler gave as the reason of its signal is still its own', async () => {
  const back = createServer(FRONT).tool('wait', {}, (_, { signal }) => once(signal, 'abort').then(() => ''))
  const client = await connect(back)
  onTestFinished(() => client.close())
  const answers = await answersOf(() => {
    const signal = AbortSignal.abort(new McpError('resource_denied', 'not for you'))
    return client.call('wait', {}, { signal })
  })
  for (const answer of answers) expect(answer).toContain('McpError: not for you')
})
