import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { erlmcp, official } from '../../src/profiles.ts'
import { createApp } from '../transcripts/app.ts'
import { exchangeHttp } from '../transcripts/play.ts'

/** What a server takes a client to support. */
async function understood(capabilities: JsonObject): Promise<string> {
  const app = createServer({ name: 'asks', version: '1' }).tool('look', {}, (_, { client }) =>
    (['roots', 'sampling', 'elicitation'] as const).filter((name) => client.supports(name)).join(' '),
  )
  const replies = await talk(app, [
    opening(capabilities),
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'look' } },
  ])
  const { content } = replies[1]!['result'] as { readonly content: readonly { readonly text: string }[] }
  return content[0]!.text
}

const opening = (capabilities: JsonObject = {}): JsonObject => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'c', version: '1' } },
})

async function talk(app: App, messages: readonly (JsonObject | string)[]): Promise<readonly JsonObject[]> {
  const replies: JsonObject[] = []
  const end = app.connect({ receive: (text) => void replies.push(JSON.parse(text) as JsonObject) })
  for (const message of messages) {
    const before = replies.length
    end.send(typeof message === 'string' ? message : JSON.stringify(message))
    await expect.poll(() => replies.length).toBeGreaterThan(before)
  }
  end.close()
  return replies
}

test('a client that writes `enabled` is understood without a profile [S2-2.2-2] [S2-9.2-1]', async () => {
  const capabilities = { roots: { enabled: true }, sampling: { enabled: false }, elicitation: {} }
  expect(await understood(capabilities)).toBe('roots elicitation')
})

test('a list of experimental features is read as their declaration [S2-9.1-4]', async () => {
  const asked = { jsonrpc: '2.0', id: 2, method: 'dev.pierhead/apps/list' }
  const listed = { experimental: { features: ['streaming', 'dev.pierhead/apps'] } }
  const [, answered] = await talk(createApp(official), [opening(listed), asked])
  expect(answered).toMatchObject({ result: { apps: [] } })
  const [, refused] = await talk(createApp(official), [opening({ experimental: { features: [{}] } }), asked])
  expect(refused).toMatchObject({ error: { code: -32601 } })
})

test.each([
  ['end_turn', 'endTurn'],
  ['max_tokens', 'maxTokens'],
  ['stop_sequence', 'stopSequence'],
  ['tool_use', 'toolUse'],
  ['other', 'other'],
])('the stop reason %s is read as %s without a profile [S2-6.2-5]', async (written, read) => {
  const app = createServer({ name: 'asks', version: '1' }).tool('ask', {}, async (_, { sample }) => {
    const { stopReason } = await sample({ messages: [{ role: 'user', content: 'x' }] })
    return stopReason
  })
  const sample = (): JsonObject => ({
    role: 'assistant',
    content: { type: 'text', text: 'y' },
    model: 'm',
    stopReason: written,
  })
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    const client = await connect(app, { revision, answers: { sample } })
    expect(await client.call('ask')).toBe(read)
    await client.close()
  }
})

test('a question that says `system` reaches the model as the system prompt [S2-6.2-4]', async () => {
  const asked: JsonObject[] = []
  const receivers: ((text: string) => void)[] = []
  const server = {
    connect: ({ receive }: { receive(text: string): void }) => ({
      send(text: string) {
        const { id, method } = JSON.parse(text) as { readonly id?: number; readonly method?: string }
        receivers.push(receive)
        if (method !== 'initialize') return
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 's', version: '1' },
        }
        receive(JSON.stringify({ jsonrpc: '2.0', id, result }))
      },
      close: () => undefined,
    }),
  }
  const client = await connect(server, {
    revision: '2025-11-25',
    answers: {
      sample: (params) => (
        asked.push(params),
        { role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }
      ),
    },
  })
  const params = { messages: [], maxTokens: 1, system: 'Be brief.' }
  receivers[0]?.(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params }))
  await expect.poll(() => asked).toEqual([{ messages: [], maxTokens: 1, systemPrompt: 'Be brief.' }])
  await client.close()
})

test('a name that a client has for its call comes back in `_meta`, and is in the log [S2-4.3-3]', async () => {
  const facts: unknown[] = []
  const app = createServer({ name: 'named', version: '1', log: (_, __, more) => void facts.push(more) })
    .tool('works', {}, () => 'x')
    .tool('breaks', {}, async () => {
      throw new Error('x')
    })
  const called = (id: number, name: string, requestId: unknown): JsonObject => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, requestId },
  })
  const replies = await talk(app, [
    opening(),
    called(2, 'works', 'mine-1'),
    called(3, 'breaks', 7),
    called(4, 'works', {}),
  ])
  expect(replies[1]).toMatchObject({ result: { _meta: { 'dev.pierhead/requestId': 'mine-1' } } })
  expect(replies[2]).toMatchObject({ result: { isError: true, _meta: { 'dev.pierhead/requestId': 7 } } })
  expect(replies[3]?.['result']).not.toHaveProperty('_meta')
  expect(facts).toMatchObject([{ requestId: 7 }])
})

test.each([
  ['official', official, {}, -32600, {}],
  ['erlmcp', erlmcp, { id: null }, -32012, { unit: 'bytes' }],
] as const)(
  'the error for a message that is too large names the limit, in erlmcp with a null id and its own number: %s [S2-1.6-8] [S2-8.2-2] [S2-11.4-2] [S2-4.3-7]',
  async (_, profile, about, code, more) => {
    const app = createServer({ name: 'small', version: '1', profile, limits: { memoryBytes: 300 } })
    const [reply] = await talk(app, [' '.repeat(301)])
    const refusal = {
      code: 1068,
      name: 'MESSAGE_TOO_LARGE',
      httpStatus: 413,
      severity: 'error',
      retryable: false,
    }
    expect(reply).toEqual({
      jsonrpc: '2.0',
      ...about,
      error: {
        code,
        message: 'the message is larger than 300 bytes',
        data: { maxSize: 300, ...more, refusal },
      },
    })
  },
)

test('before the handshake all is refused in erlmcp, and so is a second handshake [S2-2.1-3] [S2-2.1-4] [S2-2.1-2]', async () => {
  const replies = await talk(createServer({ name: 'x', version: '1', profile: erlmcp }), [
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    opening(),
    { ...opening(), id: 4 },
  ])
  expect(replies.filter(({ id }) => id !== undefined)).toMatchObject([
    { id: 1, error: { code: -32005 } },
    { id: 2, error: { code: -32005 } },
    { result: { serverInfo: { name: 'x' } } },
    { id: 4, error: { code: -32005 } },
  ])
})

test('what a server does not offer is -32004 in erlmcp [S2-9.3-2]', async () => {
  const replies = await talk(
    createServer({ name: 'x', version: '1', profile: erlmcp.with({ initializedFrom: 'client' }) }),
    [opening(), { jsonrpc: '2.0', id: 2, method: 'tools/list' }],
  )
  expect(replies[1]).toMatchObject({ error: { code: -32004 } })
})

test('batches, numbers and statuses are the same over HTTP [S2-9.4-16] [S2-1.5-4]', async () => {
  const call = (id: number, name: string): JsonObject => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: { a: id } },
  })
  const entries = await exchangeHttp(createApp(erlmcp), [
    opening(),
    [call(2, 'add'), call(3, 'missing')],
    call(4, 'missing'),
  ])
  expect(entries.filter((entry) => 'status' in entry)).toEqual([
    { status: 200 },
    { status: 200 },
    { status: 404 },
  ])
  expect(entries[5]).toMatchObject({
    server: [
      { id: 2, result: {} },
      { id: 3, error: { code: -32031 } },
    ],
  })
  expect(entries[8]).toMatchObject({ server: { id: 4, error: { code: -32031 } } })
})

test.each([
  ['official', official.with({ versionMismatch: 'reject' }), -32602],
  ['erlmcp', erlmcp, -32062],
])(
  'a server that rejects versions (%s) is asked for one that it names, unless one is insisted on [S2-2.5-2]',
  async (_, profile, code) => {
    const app = createServer({ name: 'old', version: '1', profile, revisions: ['2025-03-26', '2025-06-18'] })
    const client = await connect(app, { profile })
    expect((await client.server()).revision).toBe('2025-06-18')
    await client.close()
    const refused = connect(app, { profile, revision: '2025-11-25' })
    await expect(refused).rejects.toMatchObject({ code, refusal: 'INVALID_PROTOCOL_VERSION' })
  },
)

test('anything but a profile is rejected', async () => {
  const app = createServer({ name: 'x', version: '1' })
  await expect(connect(app, { profile: 'erlmcp' as never })).rejects.toThrow(/pierhead\/profiles/)
})
