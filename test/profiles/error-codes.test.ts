import { once } from 'node:events'
import { connect as dial } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createServer, McpError, type App } from '../../src/index.ts'
import { erlmcp, official, type Profile } from '../../src/profiles.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { MCP_CODES } from '../../src/profiles/erlmcp/mcp-codes.ts'

const HOUR = 3_600_000

afterEach(() => vi.useRealTimers())

type Limits = NonNullable<Parameters<typeof createServer>[0]['limits']>

/** A server on which everything that has a code can go wrong. */
function createApp(profile: Profile, limits: Limits = {}): App {
  const app = createServer({
    name: 'codes',
    version: '1',
    profile,
    limits,
    pageSize: 1,
    log: () => undefined,
  })
  const one = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
  const whom = { type: 'object', properties: { whom: { type: 'string' } }, required: ['whom'] } as const
  return app
    .tool('number', { description: 'Takes a number', input: one }, ({ n }) => n)
    .tool('break', { description: 'Fails' }, () => {
      throw new Error('a secret')
    })
    .tool('wait', { description: 'Waits' }, (_, { signal }) => {
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')))
    })
    .tool('task', { description: 'May take long', task: 'optional' }, () => 'done')
    .tool('late', { description: 'Is never done', timeout: 10 }, () => new Promise(() => undefined))
    .tool('define', { description: 'Defines a tool' }, () => {
      app.tool('long', { description: 'x'.repeat(10_001) }, () => '')
    })
    .tool('publish', { description: 'Publishes a resource again' }, () => {
      app.resource('open://one', {}, () => '')
    })
    .tool('report', { description: 'Cannot report its progress' }, () => {
      throw new McpError('progress_failed', 'the meter is broken')
    })
    .resource('open://one', {}, () => 'open')
    .resource('closed://one', {}, () => {
      throw new McpError('resource_denied', 'only for members')
    })
    .resource('odd://one', { mimeType: 'application/x-odd' }, () => 'odd')
    .resource('many://{n}', {}, () => 'one of many')
    .prompt('greet', { args: whom }, () => 'Say hello.')
    .complete('greet', 'whom', () => ['Ada'])
}

const ask = (id: string, method: string, params: JsonObject = {}): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const call = (name: string, more: JsonObject = {}): JsonObject =>
  ask('asked', 'tools/call', { name, arguments: {}, ...more })
const opening = (id: string, more: JsonObject = {}): JsonObject =>
  ask(id, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
    ...more,
  })

/** Sends messages in order, each once the one before is answered, and gives back the answer to the last. */
async function answer(app: App, ...messages: readonly (JsonObject | string)[]): Promise<JsonObject> {
  const replies: JsonObject[] = []
  let wake: () => void = () => undefined
  const receive = (text: string): void => {
    const message = JSON.parse(text) as JsonObject
    if (message['method'] === undefined) replies.push(message)
    wake()
  }
  const end = app.connect({ receive })
  for (const [at, message] of messages.entries()) {
    end.send(typeof message === 'string' ? message : JSON.stringify(message))
    while (replies.length <= at) await new Promise<void>((resolve) => (wake = resolve))
  }
  end.close()
  return replies.at(-1) as JsonObject
}

/** The answer after a handshake. */
const after = (app: App, ...messages: readonly (JsonObject | string)[]): Promise<JsonObject> =>
  answer(app, opening('opened'), ...messages)

/** What a server on HTTP says to some bytes before it closes the connection. */
async function answerHttp(app: App, text: string): Promise<JsonObject> {
  const running = await app.listen({ http: { port: 0 } })
  const socket = dial(Number(new URL(running.url as string).port), '127.0.0.1')
  let got = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => void (got += chunk))
  socket.write(text)
  await once(socket, 'close')
  await running.close()
  return JSON.parse(got.slice(got.indexOf('\r\n\r\n') + 4)) as JsonObject
}

interface Row {
  readonly code: number
  /** The code without the profile; undefined where that is no error. */
  readonly official: number | undefined
  /** The profile that sends it, where erlmcp alone does not. */
  readonly profile?: Profile
  act(profile: Profile): Promise<JsonObject>
}

const core = erlmcp.with({ errorNumbers: 'erlmcp-core' })
const read = (uri: string): JsonObject => ask('asked', 'resources/read', { uri })
const complete = (name: string, more: JsonObject = {}): JsonObject =>
  ask('asked', 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'greet' },
    argument: { name, value: '' },
    ...more,
  })

const ROWS: readonly Row[] = [
  { code: -32001, official: -32002, act: (profile) => after(createApp(profile), read('gone://one')) },
  {
    code: -32002,
    official: -32602,
    profile: core,
    act: (profile) => after(createApp(profile), call('gone')),
  },
  {
    code: -32003,
    official: -32602,
    profile: core,
    act: (profile) => after(createApp(profile), ask('asked', 'prompts/get', { name: 'gone' })),
  },
  {
    code: -32004,
    official: -32601,
    act: (profile) =>
      after(createServer({ name: 'bare', version: '1', profile }), ask('asked', 'tools/list')),
  },
  {
    code: -32005,
    official: -32600,
    act: (profile) => answer(createApp(profile), ask('asked', 'tools/list')),
  },
  {
    code: -32006,
    official: -32602,
    act: (profile) => {
      const uris = Array.from({ length: 1001 }, (_, at) => `many://${at}`)
      return after(createApp(profile), ...uris.map((uri) => ask(uri, 'resources/subscribe', { uri })))
    },
  },
  { code: -32007, official: -32602, act: (profile) => after(createApp(profile), call('x'.repeat(500))) },
  {
    code: -32008,
    official: -32600,
    act: (profile) => answerHttp(createApp(profile), 'this is not HTTP\r\n\r\n'),
  },
  {
    code: -32009,
    official: -32600,
    act: (profile) => answerHttp(createApp(profile, { headersMs: 50 }), 'POST /mcp HTTP/1.1\r\n'),
  },
  { code: -32010, official: 1060, act: (profile) => crowded(createApp(profile, { inFlight: 1 })) },
  { code: -32011, official: -32602, act: (profile) => after(createApp(profile), call('define')) },
  {
    code: -32012,
    official: -32600,
    act: (profile) => answer(createApp(profile, { memoryBytes: 300 }), ' '.repeat(301)),
  },
  {
    code: -32013,
    official: -32600,
    act: (profile) => after(createApp(profile.with({ strictMime: true })), read('odd://one')),
  },
  { code: -32021, official: 1014, act: (profile) => after(createApp(profile), read('closed://one')) },
  {
    code: -32022,
    official: -32602,
    act: (profile) => after(createApp(profile), read(`long://${'x'.repeat(100_000)}`)),
  },
  { code: -32023, official: -32602, act: (profile) => after(createApp(profile), call('publish')) },
  { code: -32031, official: -32602, act: (profile) => after(createApp(profile), call('gone')) },
  { code: -32032, official: undefined, act: (profile) => after(createApp(profile), call('break')) },
  { code: -32033, official: undefined, act: (profile) => after(createApp(profile), call('number')) },
  { code: -32034, official: undefined, act: (profile) => after(createApp(profile), call('late')) },
  {
    code: -32041,
    official: -32602,
    act: (profile) => after(createApp(profile), ask('asked', 'prompts/get', { name: 'gone' })),
  },
  {
    code: -32042,
    official: -32602,
    act: (profile) => after(createApp(profile), ask('asked', 'prompts/get', { name: 'greet' })),
  },
  {
    code: -32061,
    official: -32600,
    act: (profile) => after(createApp(profile), '{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}'),
  },
  {
    code: -32062,
    official: undefined,
    act: (profile) => answer(createApp(profile), opening('asked', { protocolVersion: '1999-12-31' })),
  },
  {
    code: -32063,
    official: -32602,
    act: (profile) => answer(createApp(profile), opening('asked', { capabilities: 'all of them' })),
  },
  {
    code: -32071,
    official: -32602,
    act: (profile) => after(createApp(profile), ask('asked', 'tools/list', { cursor: 'x' })),
  },
  { code: -32072, official: -32602, act: (profile) => expired(createApp(profile, { cursorMs: HOUR })) },
  {
    code: -32081,
    official: -32602,
    act: (profile) => after(createApp(profile), ask('asked', 'tasks/get', { taskId: 'gone' })),
  },
  { code: -32082, official: -32603, act: (profile) => afterTask(profile, 'long', 'tasks/result') },
  { code: -32083, official: -32602, act: (profile) => afterTask(profile, 'short', 'tasks/cancel') },
  { code: -32084, official: undefined, act: (profile) => afterTask(profile, 'late', 'tasks/result') },
  {
    code: -32091,
    official: undefined,
    act: (profile) =>
      after(createApp(profile), call('number', { arguments: { n: 1 }, _meta: { progressToken: {} } })),
  },
  { code: -32092, official: -32603, act: (profile) => after(createApp(profile), call('report')) },
  { code: -32110, official: -32602, act: (profile) => after(createApp(profile), complete('gone')) },
  {
    code: -32111,
    official: -32602,
    act: (profile) => after(createApp(profile), complete('whom', { context: { arguments: [1] } })),
  },
]

/** The answer to a request that comes while another of the same caller is being answered. */
async function crowded(app: App): Promise<JsonObject> {
  let tell: (reply: JsonObject) => void
  const replied = new Promise<JsonObject>((resolve) => (tell = resolve))
  const end = app.connect({
    receive(text) {
      const reply = JSON.parse(text) as JsonObject
      if (reply['id'] === 'asked') tell(reply)
    },
  })
  end.send(JSON.stringify(opening('opened')))
  end.send(JSON.stringify({ ...call('wait'), id: 'waiting' }))
  end.send(JSON.stringify(call('number', { arguments: { n: 1 } })))
  const reply = await replied
  end.close()
  return reply
}

/** The answer to a question about a task that has ended. */
async function afterTask(profile: Profile, name: string, method: string): Promise<JsonObject> {
  const app = createApp(profile, { taskResultBytes: 1000 })
    .tool('long', { description: 'Returns much', task: 'optional' }, () => 'x'.repeat(1000))
    .tool('short', { description: 'Returns at once', task: 'optional' }, () => 'done')
    .update('tool', 'late', { task: 'optional' })
  const begin = ask('begun', 'tools/call', { name, arguments: {}, task: {} })
  const { result } = await after(app, begin)
  const { taskId } = (result as JsonObject)['task'] as JsonObject
  await expect.poll(async () => (await app.tasks.show(taskId as string))?.status).not.toBe('working')
  return after(app, ask('asked', method, { taskId }))
}

/** The answer to a cursor that was given out long ago. */
async function expired(app: App): Promise<JsonObject> {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000 * HOUR })
  const listed = await after(app, ask('listed', 'tools/list'))
  const { nextCursor: cursor } = listed['result'] as JsonObject
  vi.setSystemTime(1_003 * HOUR)
  return after(app, ask('asked', 'tools/list', { cursor }))
}

/** The requirement of each group of codes, by the first of the group. */
const GROUPS: readonly (readonly [number, string])[] = [
  [-32001, '[S2-8.2-1]'],
  [-32011, '[S2-8.2-2]'],
  [-32021, '[S2-8.2-3]'],
  [-32031, '[S2-8.2-4]'],
  [-32041, '[S2-8.2-5]'],
  [-32061, '[S2-8.2-7]'],
  [-32071, '[S2-8.2-8]'],
  [-32081, '[S2-8.2-9]'],
  [-32091, '[S2-8.2-10]'],
  [-32110, '[S2-8.2-11]'],
]

/** The requirements that ask for a single code. */
const SINGLE: ReadonlyMap<number, string> = new Map([
  [-32011, ' [S2-8.2-12]'],
  [-32013, ' [S2-8.2-13]'],
  [-32072, ' [S2-8.2-14]'],
])

const named = ROWS.map((row) => {
  const name = MCP_CODES.find(({ code }) => code === row.code)?.name
  const group = GROUPS.findLast(([first]) => row.code <= first)?.[1] ?? ''
  const id = group + (SINGLE.get(row.code) ?? '')
  return [row.code, name, row.official ?? 'no error', id, row] as const
})

test.each(named)(
  '%i is sent for %s in profile erlmcp, and %s officially %s',
  async (code, _, __, ___, row) => {
    expect(await row.act(row.profile ?? erlmcp)).toMatchObject({ error: { code } })
    const expected = row.official === undefined ? { result: {} } : { error: { code: row.official } }
    expect(await row.act(official)).toMatchObject(expected)
  },
)

test('tool/execute for a missing tool is -32002 with the core numbers, -32031 in erlmcp and -32601 officially [S2-12.4]', async () => {
  const execute = ask('asked', 'tool/execute', { name: 'gone', arguments: {} })
  const codes: unknown[] = []
  for (const profile of [core, erlmcp, official]) {
    const reply = await after(createApp(profile), execute)
    codes.push((reply['error'] as JsonObject)['code'])
  }
  expect(codes).toEqual([-32002, -32031, -32601])
})

test('every code of the table is sent, except those of authentication, which messages do not have', () => {
  const others = [-32051, -32052, -32053]
  expect(ROWS.map(({ code }) => code)).toEqual(
    MCP_CODES.map(({ code }) => code).filter((code) => !others.includes(code)),
  )
})

test('a message of another type is -32013 over HTTP too, with status 415 [S2-8.2-2]', async () => {
  const running = await createApp(erlmcp).listen({ http: { port: 0 } })
  const headers = { 'content-type': 'text/plain', accept: 'application/json, text/event-stream' }
  const response = await fetch(running.url as string, { method: 'POST', headers, body: 'hello' })
  expect(response.status).toBe(415)
  expect(await response.json()).toMatchObject({ error: { code: -32013 } })
  await running.close()
})
