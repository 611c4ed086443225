import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { Deferred } from '../../src/base/deferred.ts'
import { apiKeys, createApiKey, digestApiKey } from '../../src/auth.ts'
import { createServer, type App, type ServerOptions } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { send, stream, type Received } from '../http/wire.ts'
import { as } from './server.ts'

const [ANN, BOB] = [createApiKey(), createApiKey()]
const SECRET = 'the secret of these tests'

interface Served {
  readonly app: App
  readonly port: number
}

/** A server for Ann and Bob on a free port. */
async function serve(options: Partial<ServerOptions> = {}): Promise<Served> {
  const auth = apiKeys({ digests: { [await digestApiKey(ANN)]: 'ann', [await digestApiKey(BOB)]: 'bob' } })
  const app = createServer({
    name: 'two',
    version: '1.0.0',
    secret: SECRET,
    auth,
    log: () => undefined,
    ...options,
  })
  const { url } = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  return { app, port: Number(new URL(url as string).port) }
}

/** Sends a request at 2026-07-28 as the owner of a key. */
function ask(port: number, key: string, method: string, params: JsonObject): Promise<Received> {
  const _meta = { [META.clientCapabilities]: { elicitation: { form: {} } }, ...(params['_meta'] as object) }
  const { body, headers } = headed(method, { ...params, _meta })
  return send(port, { body, headers: { ...headers, ...as(key) } })
}

/** A session of the owner of a key: the headers of its messages. */
async function openSession(port: number, key: string): Promise<Readonly<Record<string, string>>> {
  const headers = { ...BOTH, ...as(key) }
  const { headers: got } = await send(port, { body: initialize(), headers })
  const id = got['mcp-session-id'] as string
  const session = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  await send(port, { body: message('notifications/initialized'), headers: session })
  return session
}

const paid: string[] = []

/** Adds tools that ask before they act. */
function withQuestions({ app, port }: Served): Served {
  for (const name of ['pay', 'refund'])
    app.tool(
      name,
      { input: z.object({ amount: z.number() }) },
      async ({ amount }, { auth, elicit, once }) => {
        const order = await once('order', () => crypto.randomUUID())
        const { content } = await elicit('Sure?', z.object({ sure: z.boolean() }), { key: 'sure' })
        paid.push(`${auth?.sub} ${name} ${amount} ${content?.sure} ${order}`)
        return order
      },
    )
  return { app, port }
}

const PAY = { name: 'pay', arguments: { amount: 5 } }
const SURE = { inputResponses: { sure: { action: 'accept', content: { sure: true } } } }

/** The state of Ann's question. */
async function stateOf({ port }: Served): Promise<string> {
  const { json } = await ask(port, ANN, 'tools/call', PAY)
  return (json['result'] as { readonly requestState: string }).requestState
}

test.each([
  ['P.state-foreign', 'by another caller', BOB, PAY],
  ['P.state-tool', 'on another tool', ANN, { ...PAY, name: 'refund' }],
  ['P.state-arguments', 'with other arguments', ANN, { ...PAY, arguments: { amount: 5000 } }],
])('%s a state that is used %s is refused', async (_id, _how, key, params) => {
  const served = withQuestions(await serve())
  const requestState = await stateOf(served)
  paid.length = 0
  const { json } = await ask(served.port, key, 'tools/call', { ...params, ...SURE, requestState })
  expect(json).toHaveProperty('error')
  expect(paid).toEqual([])
})

test('P.state-expired a state is refused after a quarter of an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const served = withQuestions(await serve())
  const requestState = await stateOf(served)
  paid.length = 0
  vi.setSystemTime(Date.now() + 16 * 60_000)
  const { json } = await ask(served.port, ANN, 'tools/call', { ...PAY, ...SURE, requestState })
  expect(json).toHaveProperty('error')
  expect(paid).toEqual([])
})

test('P.state-twice a state that is used twice brings the same key of ctx.once, by which its handler knows it', async () => {
  const served = withQuestions(await serve())
  const requestState = await stateOf(served)
  paid.length = 0
  for (let count = 0; count < 2; count++)
    await ask(served.port, ANN, 'tools/call', { ...PAY, ...SURE, requestState })
  // A handler tells repetitions apart by its key (docs/notes/005-repeated-state.md).
  expect(paid).toHaveLength(2)
  expect(new Set(paid).size).toBe(1)
})

test('P.state-rotation a state under the previous secret is accepted, under a forgotten one it is not', async () => {
  const requestState = await stateOf(withQuestions(await serve()))
  const next = withQuestions(await serve({ secret: ['the next secret of these tests', SECRET] }))
  const last = withQuestions(await serve({ secret: 'the last secret of these tests' }))
  const use = async ({ port }: Served): Promise<JsonObject> =>
    (await ask(port, ANN, 'tools/call', { ...PAY, ...SURE, requestState })).json
  expect(await use(next)).toHaveProperty('result.content')
  expect(await use(last)).toHaveProperty('error')
})

/** Lists the tools of a caller from a cursor on, or gives the error. */
async function list(
  port: number,
  key: string,
  cursor?: string,
): Promise<{ names: string; nextCursor?: string; error?: unknown }> {
  const { json } = await ask(port, key, 'tools/list', cursor === undefined ? {} : { cursor })
  const { tools = [], nextCursor } = (json['result'] ?? {}) as {
    tools?: { name: string }[]
    nextCursor?: string
  }
  return {
    names: tools.map(({ name }) => name).join(),
    ...(nextCursor && { nextCursor }),
    ...('error' in json && { error: json['error'] }),
  }
}

/** Gives each caller tools of their own, in turns. */
async function withOwnTools(): Promise<Served> {
  const served = await serve({ pageSize: 1, ttl: '1h' })
  for (const [number, owner] of ['ann', 'bob', 'ann', 'bob', 'ann'].entries())
    served.app.tool(`${owner}-${number}`, { visible: ({ auth }) => auth?.sub === owner }, () => '')
  return served
}

test('P.cursor-foreign a cursor of one caller shows another only what is theirs', async () => {
  const { port } = await withOwnTools()
  const { names, nextCursor } = await list(port, ANN)
  expect(names).toBe('ann-0')
  expect((await list(port, BOB, nextCursor)).names).toBe('bob-1')
})

test('P.cursor-changed a cursor is good after the list changed', async () => {
  const { app, port } = await withOwnTools()
  const { nextCursor } = await list(port, ANN)
  app.remove('tool', 'ann-2')
  expect((await list(port, ANN, nextCursor)).names).toBe('ann-4')
})

test('P.cursor-edited a cursor that was edited shows nothing of others', async () => {
  const { port } = await withOwnTools()
  const { nextCursor = '' } = await list(port, ANN)
  for (const edit of [atob(nextCursor).replace('tools', 'prompts'), 'tools:1:x', `${atob(nextCursor)}0`])
    expect((await list(port, ANN, btoa(edit).replace(/=+$/, ''))).names).not.toContain('bob')
  for (const broken of [`${nextCursor}A`, 'x', ''])
    expect(await list(port, ANN, broken)).toMatchObject({ names: '', error: { code: -32602 } })
})

test('P.cache-private a list and a resource of one caller are private, and another gets their own', async () => {
  const { app, port } = await withOwnTools()
  app.resource('notes://mine', { visible: () => true }, (_, { auth }) => `the notes of ${auth?.sub}`)
  const read = async (key: string): Promise<unknown> =>
    (await ask(port, key, 'resources/read', { uri: 'notes://mine' })).json['result']
  const mine = (sub: string): object => ({
    cacheScope: 'private',
    contents: [{ text: `the notes of ${sub}` }],
  })
  expect(await read(ANN)).toMatchObject(mine('ann'))
  expect(await read(BOB)).toMatchObject(mine('bob'))
  const { json } = await ask(port, ANN, 'tools/list', {})
  expect(json['result']).toMatchObject({ cacheScope: 'private', tools: [{ name: 'ann-0' }] })
  expect((await list(port, BOB)).names).toBe('bob-1')
})

test('P.log-foreign the progress and the log of a request reach no stream of another caller', async () => {
  const { app, port } = await serve()
  app.tool('work', {}, async (_, { log, progress }) => {
    progress(1, 2, 'a secret of ann')
    log.warning('a secret of ann')
    return 'done'
  })
  const [ann, bob] = [await openSession(port, ANN), await openSession(port, BOB)]
  const accept = 'text/event-stream'
  const bobs = await stream(port, { method: 'GET', headers: { ...bob, accept } })
  const listening = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const followed = await stream(port, { ...listening, headers: { ...listening.headers, ...as(BOB) } })
  const own = await send(port, { body: call('work', {}, 2, { progressToken: 1 }), headers: ann })
  expect(own.text).toContain('a secret of ann')
  app.tool('more', {}, () => '')
  for (const one of [bobs, followed]) {
    await one.until(() => one.raw.includes('list_changed'))
    expect(one.raw).not.toContain('secret')
  }
})

test('P.events-foreign an event id of one caller replays nothing for another', async () => {
  const { app, port } = await serve()
  app.tool('work', {}, (_, { progress }) => {
    progress(1, 2, 'a secret of ann')
    return 'done'
  })
  const [ann, bob] = [await openSession(port, ANN), await openSession(port, BOB)]
  const { events } = await send(port, { body: call('work', {}, 2, { progressToken: 1 }), headers: ann })
  const again = { accept: 'text/event-stream', 'last-event-id': events[0]?.id ?? '' }
  for (const headers of [
    { ...bob, ...again },
    { ...ann, ...as(BOB), ...again },
  ]) {
    const { status, text } = await send(port, { method: 'GET', headers })
    expect([400, 404]).toContain(status)
    expect(text).not.toContain('secret')
  }
  expect((await send(port, { method: 'GET', headers: { ...ann, ...again } })).text).toContain('done')
})

test('P.late what a handler sends after its request ended is dropped', async () => {
  const { app, port } = await serve()
  const late = new Deferred<void>()
  app.tool('work', {}, (_, { log, progress }) => {
    setTimeout(() => {
      progress(2, 2, 'too late')
      log.warning('too late')
      late.resolve()
    }, 20)
    return 'done'
  })
  const ann = await openSession(port, ANN)
  const general = await stream(port, { method: 'GET', headers: { ...ann, accept: 'text/event-stream' } })
  const own = await send(port, { body: call('work', {}, 2, { progressToken: 1 }), headers: ann })
  await late.promise
  app.tool('more', {}, () => '')
  await general.until(() => general.raw.includes('list_changed'))
  expect(own.text + general.raw).not.toContain('too late')
})
