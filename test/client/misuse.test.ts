import { expect, test } from 'vitest'
import { connect, connectAll } from '../../src/client.ts'
import type { Target } from '../../src/client/target.ts'
import { createServer } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { testClient } from '../../src/testing.ts'
import { json, serve, vacantUrl } from '../http-client/peer.ts'
import { failure } from './gather.ts'

const app = createServer({ name: 'misused', version: '1', limits: { memoryBytes: 2000 } })
  .tool('echo', {}, () => 'x')
  .tool('ask', {}, async (_, { elicit }) => (await elicit('?', { type: 'object', properties: {} })).action)

test.each([
  ['localhost:3000/mcp', '"localhost:3000/mcp" is not a URL; write http://localhost:3000/mcp'],
  ['example.com/mcp', '"example.com/mcp" is not a URL; write https://example.com/mcp'],
  ['node server.js', 'to start a program, write { command, args }'],
  ['ftp://user:secret@host/', '"ftp://host/" is not an http, https, ws, wss, tcp, tls or unix URL'],
  [undefined, 'pass a URL, { command, args } or a server'],
  [{}, 'the target has neither a command nor a url'],
  [{ url: 'localhost:1' }, 'write http://localhost:1'],
  [{ mcpServers: {} }, 'the target is an entire mcp.json file; pass one entry, or use connectAll'],
  [Promise.resolve(app), 'await it first'],
])('connecting to %j says what to write', async (target, said) => {
  expect(await failure(connect(target as Target))).toMatchObject({
    kind: 'bad_option',
    message: expect.stringContaining(said),
  })
})

test.each([
  ['answers', { elict: () => ({}) }, /"elict"; did you mean "elicit"/],
  ['answers', { elicit: { action: 'accept' } }, /elicit must be a function/],
  ['limits', 'hard', /'strict'/],
  ['limits', { clientByte: 1 }, /^limits: /],
])('a mistake in the option %s is refused when connecting', async (name, value, said) => {
  await expect(connect(app, { [name]: value })).rejects.toThrow(said)
})

test.each([
  ['no server', [], /testClient\(app\)/],
  ['an option', [app, { revison: '2025-11-25' }], /"revision"/],
  ['an answer', [app, { answers: { samples: [] } }], /"sample"/],
  [
    'a bare answer',
    [app, { answers: { elicit: { action: 'accept' } } }],
    /elicit must be a function or a list/,
  ],
])('a test client refuses mistakes: %s', async (_what, args, said) => {
  await expect((testClient as (...given: unknown[]) => Promise<unknown>)(...args)).rejects.toThrow(said)
})

test.each(REVISIONS)('words that a client does not know are refused at %s', async (revision) => {
  await using client = await connect(app, { revision })
  await expect(client.call('echo', {}, { timout: 5 } as never)).rejects.toThrow(/"timout".*"timeout"/)
  await expect(client.setLogLevel('warn')).rejects.toThrow(/no level "warn".*"warning"|the levels are/)
  await expect(client.watch({ tool: true } as never).next()).rejects.toThrow(/"tool".*"tools"/)
  await expect(client.watch({ resources: 'a://b' as never }).next()).rejects.toThrow(/list of URIs/)
  expect(() => client.on('stat' as never, () => undefined)).toThrow(/no event "stat".*"state"/)
})

test.each(REVISIONS)('what cannot be completed is refused at %s before it is sent', async (revision) => {
  await using client = await connect(app, { revision })
  const complete = client.complete.bind(client) as (...given: readonly unknown[]) => Promise<unknown>
  for (const [given, said] of [
    [[5, { name: 'whom', value: '' }], /^complete: .* name of a prompt/],
    [['greet', 'whom'], /^complete: .*\{ name, value \}/],
    [['greet', undefined], /^complete: .*\{ name, value \}/],
    [['greet', { name: 'whom', value: 5 }], /^complete: .*\{ name, value \}, both strings/],
    [['greet', { name: 'whom', value: '' }, null], /^complete: .*as strings by name/],
    [['greet', { name: 'whom', value: '' }, { mood: 5 }], /^complete: .*as strings by name/],
  ] as const) {
    const error = await failure(complete(...given))
    expect(error).toMatchObject({ kind: 'bad_option', message: expect.stringMatching(said) })
  }
})

test.each(REVISIONS)(
  'watching nothing at %s fails with an error that says what to pass',
  async (revision) => {
    await using client = await connect(app, { revision })
    for (const watched of [{}, { tools: false }, { resources: [] }])
      await expect(client.watch(watched).next()).rejects.toMatchObject({
        kind: 'bad_option',
        message: expect.stringMatching(/^watch: .*\{ tools: true \}/),
      })
    await using group = await connectAll({ a: app })
    await expect(group.watch({}).next()).rejects.toThrow(/^watch: /)
  },
)

const cyclic: Record<string, unknown> = { list: [1] }
cyclic['inner'] = { again: cyclic }

test.each([
  [{ at: { list: [1, 2n] } }, 'arguments.at.list[1] is a bigint'],
  [{ 'a b': 1n }, 'arguments["a b"] is a bigint'],
  [cyclic, 'arguments.inner.again contains itself'],
  [{ at: new Date(0), a: { toJSON: () => 1, big: 1n }, b: 1n }, 'arguments.b is a bigint'],
  [{ a: { toJSON: () => ({ secret: 1n }) } }, 'arguments.a.secret is a bigint'],
])('arguments that JSON cannot hold are named: %#', async (input, said) => {
  await using client = await connect(app)
  for (const call of [client.call('echo', input as never), client.callRaw('echo', input as never)])
    expect(await failure(call)).toMatchObject({
      kind: 'bad_option',
      message: expect.stringContaining(`tools/call: ${said}`),
    })
  expect(await client.call('echo')).toBe('x')
})

test.each([
  [{ timeuot: 5 }, /"timeuot".*"timeout"/],
  [{ seperator: '-' }, /"seperator".*"separator"/],
  [{ separator: '.' }, /separator/],
  [{ limits: { clientByte: 1 } }, /^limits: /],
  [{ recovery: { trie: 1 } }, /"trie".*"tries"/],
  [{ answers: { elict: () => ({}) } }, /"elict".*"elicit"/],
  [null, /expected an object with options/],
])('connectAll refuses the mistake %o once, and not once per server', async (options, said) => {
  await expect(connectAll({ a: app, b: app }, options as never)).rejects.toThrow(said)
})

test.each([[[]], ['mcp.json'], [null]])(
  'connectAll(%j) fails with an error that says what to pass',
  async (config) => {
    await expect(connectAll(config as never)).rejects.toThrow(/servers by name/)
  },
)

test.each(REVISIONS)('a message that is too large fails its own call at %s', async (revision) => {
  await using client = await connect(app, { revision })
  const others = [client.call('echo'), client.call('echo')]
  expect(await failure(client.call('echo', { text: 'x'.repeat(3000) } as never))).toMatchObject({
    kind: 'too_large',
    message: expect.stringContaining('2000 bytes'),
  })
  expect(await Promise.all(others)).toEqual(['x', 'x'])
})

test('the message of a busy server is passed on, with the time to retry', async () => {
  const refusal = { name: 'BACKPRESSURE_ACTIVE', retryAfterMs: 1500 }
  for (const status of [429, 503]) {
    const peer = await serve(({ message: { id } }, response) =>
      json(
        response,
        { jsonrpc: '2.0', id, error: { code: 1005, message: 'come later', data: { refusal } } },
        status,
      ),
    )
    expect(await failure(connect(peer.url))).toMatchObject({
      kind: 'http_failed',
      message: expect.stringContaining('come later'),
      retryable: true,
      retryAfterMs: 1500,
    })
  }
})

test('a problem at a URL is reported with what to do', async () => {
  const replies = (status: number) => serve((_, response) => void response.writeHead(status).end())
  const { url } = await replies(404)
  const nothing = `nothing is served at ${url}; MCP servers are usually at /mcp`
  await expect(connect(`${url}?key=secret`)).rejects.toThrow(nothing)
  await expect(connect((await replies(401)).url)).rejects.toMatchObject({
    hint: expect.stringContaining('connect(url, { auth: browser() })'),
  })
  await expect(connect(await vacantUrl())).rejects.toThrow('nothing listens there')
  await using client = await connect(app)
  expect(await failure(client.call('ask'))).toMatchObject({
    kind: 'missing_capability',
    hint: expect.stringContaining('answers: { elicit'),
  })
})

test('a program that only prints is shown with what it printed, after no longer than the timeout', async () => {
  const command = process.execPath
  const args = ['-e', "console.log('Server ready on port 1'); setInterval(() => {}, 1000)"]
  const error = await failure(connect({ command, args }, { timeout: '700ms' }))
  expect(error).toMatchObject({ kind: 'timeout', message: expect.stringContaining('Server ready on port 1') })
  expect(error).toMatchObject({ message: expect.stringContaining('within 700 ms') })
})
