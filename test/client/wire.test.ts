import { describe, expect, test } from 'vitest'
import { createServer, McpError, type App } from 'pierhead'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import type { LocalServer } from '../../src/client/target.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { kindOf } from '../harness/message-kind.ts'
import { all, failure, next } from './gather.ts'
import { scripted, spoken, type Message } from './scripted.ts'
import { tap, type Tap } from './tap.ts'

const LATEST = '2026-07-28'
const SHAKEN = REVISIONS.filter((revision) => revision !== LATEST)

/** A server that uses every kind of message that its revision has. */
function createTalker(): App {
  const app = createServer({ name: 'talker', version: '1', log: () => undefined })
  return app
    .tool('work', {}, (_, { progress, log }) => {
      progress(1, 2)
      log.error('halfway')
      progress(2, 2)
      return 'worked'
    })
    .tool('folders', {}, async (_, { roots }) => JSON.stringify(await Promise.all([roots(), roots()])))
    .tool('model', {}, async (_, { sample }) => JSON.stringify(await sample({ messages: [] })))
    .tool('hold', {}, async (_, { signal, progress }) => {
      progress(1)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    })
    .tool('grow', {}, () => void app.tool('grown', {}, () => 'late'))
}

/** Lets a client and a server say all that they can to each other. */
async function talk(revision: Revision): Promise<Tap> {
  const app = createTalker()
  const server = tap(app)
  const sample = (): never => {
    throw new McpError('bad_params', 'not this model')
  }
  const answers = { roots: [{ uri: 'file:///a' }], sample }
  await using client = await connect(server, { revision, answers })
  await client.setLogLevel('debug')
  expect((await all(client.tools())).length).toBe(5)
  expect(await client.call('work', {}, { onProgress: () => undefined })).toBe('worked')
  expect(await Promise.all([1, 2, 3].map(() => client.call('folders')))).toHaveLength(3)
  await failure(client.call('model'))
  expect(await failure(client.request('no/such'))).toMatchObject({ code: -32601 })
  expect(await failure(client.call('nobody'))).toMatchObject({ code: -32602 })
  const late = new AbortController()
  expect(await client.call('work', {}, { signal: late.signal })).toBe('worked')
  late.abort()
  const stop = new AbortController()
  const held = client.call('hold', {}, { signal: stop.signal, onProgress: () => stop.abort() })
  expect(await failure(held)).toMatchObject({ kind: 'cancelled' })
  const changed = revision === LATEST ? undefined : next(client, 'change')
  await client.call('grow')
  expect(await changed).toEqual(revision === LATEST ? undefined : { kind: 'tools' })
  await client.ping()
  return server
}

const SIDES = [
  ['client', 'server'],
  ['server', 'client'],
] as const

describe.each(REVISIONS)('every message at %s', (revision) => {
  test('says its version, and is one request, one notification or one response with a result or an error [R001] [R002] [R006] [R007] [R014] [R016]', async () => {
    const server = await talk(revision)
    const kinds = new Set<string>()
    for (const { from, text } of server.connections.flat()) {
      const message = JSON.parse(text) as Message
      expect(Array.isArray(message)).toBe(false)
      expect(message['jsonrpc']).toBe('2.0')
      kinds.add(`${from} ${kindOf(message)}`)
    }
    const always = [
      'client notification',
      'client request',
      'server error',
      'server notification',
      'server result',
    ]
    const shaken = ['client error', 'client result', 'server request']
    expect([...kinds].toSorted()).toEqual([...always, ...(revision === LATEST ? [] : shaken)].toSorted())
  })

  test('has an id of its own if it is a request, and only requests are answered, once, under exactly that id [R003] [R004] [R005] [R008]', async () => {
    const server = await talk(revision)
    expect(server.connections).toHaveLength(1)
    const messages = (side: 'client' | 'server'): readonly Message[] =>
      (side === 'client' ? server.sent() : server.received()) as readonly Message[]
    for (const [asking, answering] of SIDES) {
      const asked = messages(asking).flatMap(({ id, method }) => (method === undefined ? [] : (id ?? [])))
      expect(new Set(asked).size).toBe(asked.length)
      const answered = messages(answering).flatMap(({ id, method }) => (method === undefined ? id : []))
      expect(new Set(answered).size).toBe(answered.length)
      // The one request that was cancelled has no answer.
      const open = asked.filter((id) => !answered.includes(id))
      expect(open).toHaveLength(asking === 'client' ? 1 : 0)
      expect(answered.every((id) => asked.includes(id as number))).toBe(true)
    }
  })

  test('cancels nothing but a request of its sender that waits for an answer [R193]', async () => {
    const server = await talk(revision)
    const cancelled = [...server.sent(), ...server.received()].filter(
      ({ method }) => method === 'notifications/cancelled',
    ) as readonly Message[]
    const answered = server.received().flatMap(({ id, method }) => (method === undefined ? [id] : []))
    const waiting = server.sent().filter(({ id }) => id !== undefined && !answered.includes(id))
    expect(waiting).toMatchObject([{ method: 'tools/call', params: { name: 'hold' } }])
    expect(cancelled.map(({ params }) => params?.['requestId'])).toEqual(waiting.map(({ id }) => id))
  })

  test('asks for progress under a token of its own, an integer [R192]', async () => {
    const server = await talk(revision)
    const tokens = (server.sent() as readonly Message[]).flatMap(
      ({ params }) => (params?.['_meta'] as JsonObject | undefined)?.['progressToken'] ?? [],
    )
    expect(tokens.length).toBeGreaterThan(3)
    expect(new Set(tokens).size).toBe(tokens.length)
    expect(tokens.every(Number.isInteger)).toBe(true)
  })
})

interface Raw {
  readonly server: LocalServer
  readonly sent: readonly string[]
  /** Sends a text as it is. */
  say(text: string): void
}

/** A server that shakes hands, answers pings, and otherwise says what a test wants, letter by letter. */
function raw(revision: Revision, reply: (message: Message) => string | undefined): Raw {
  const sent: string[] = []
  let say: (text: string) => void = () => undefined
  const server: LocalServer = {
    connect({ receive }) {
      say = receive
      return {
        send(text) {
          sent.push(text)
          const message = JSON.parse(text) as Message
          const said = reply(message) ?? greeting(message, revision)
          if (said !== undefined) queueMicrotask(() => receive(said))
        },
        close: () => undefined,
      }
    },
  }
  return { server, sent, say: (text) => say(text) }
}

function greeting({ id, method }: Message, protocolVersion: Revision): string | undefined {
  const opened = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }
  if (id === undefined || method === undefined) return undefined
  return JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? opened : {} })
}

async function meet(
  revision: Revision,
  reply: (message: Message) => string | undefined = () => undefined,
  options: ConnectOptions = {},
): Promise<Raw & AsyncDisposable & { readonly client: Client }> {
  const peer = raw(revision, reply)
  const client: Client = await connect(peer.server, { revision, ...options })
  return { ...peer, client, [Symbol.asyncDispose]: () => client.close() }
}

const textOf = (id: unknown, said: string): JsonObject => ({ jsonrpc: '2.0', id, result: spoken(said) })

describe.each(SHAKEN)('a client at %s', (revision) => {
  test('answers a question under its very id, of whatever type and size [R005] [R006]', async () => {
    await using peer = await meet(revision, undefined, { answers: { roots: [] } })
    const ids = ['0', '7', '"7"', '""', '-3', '"q\\"1"', '9007199254740993', '123456789012345678901234567890']
    for (const id of ids) {
      const before = peer.sent.length
      peer.say(`{"jsonrpc":"2.0","id":${id},"method":"roots/list"}`)
      await expect.poll(() => peer.sent.length).toBe(before + 1)
      expect(peer.sent.at(-1)).toBe(`{"jsonrpc":"2.0","id":${id},"result":{"roots":[]}}`)
    }
  })

  test('answers a ping with an empty result, also while its own calls wait [R040]', async () => {
    await using peer = await meet(revision, ({ method }) => (method === 'tools/call' ? '' : undefined))
    const held = failure(peer.client.call('never answered'))
    await expect.poll(() => peer.sent.at(-1)).toContain('tools/call')
    peer.say('{"jsonrpc":"2.0","id":"p","method":"ping"}')
    await expect.poll(() => peer.sent.at(-1)).toBe('{"jsonrpc":"2.0","id":"p","result":{}}')
    await peer.client.close()
    expect(await held).toMatchObject({ kind: 'closed' })
  })

  test('gives up a question that the server takes back, and does not answer it; others it goes on with [R194]', async () => {
    const signals: AbortSignal[] = []
    const answers: (() => void)[] = []
    const said = { role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'm' }
    const sample = (_: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
      signals.push(signal)
      return new Promise((resolve) => answers.push(() => resolve(said)))
    }
    await using peer = await meet(revision, undefined, { answers: { sample } })
    for (const id of [1, '"1"'])
      peer.say(`{"jsonrpc":"2.0","id":${id},"method":"sampling/createMessage","params":{}}`)
    await expect.poll(() => signals.length).toBe(2)
    for (const requestId of ['99', '"none"', 'null', '{}', '1', '1'])
      peer.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}`)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    const before = peer.sent.length
    for (const answer of answers) answer()
    await expect.poll(() => peer.sent.length).toBe(before + 1)
    expect(JSON.parse(peer.sent.at(-1) ?? '')).toEqual({ jsonrpc: '2.0', id: '1', result: said })
    peer.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}')
    await peer.client.ping()
    expect(peer.sent.length).toBe(before + 2)
  })

  test('answers no notification, whether it knows it, can read it, or neither [R008]', async () => {
    await using peer = await meet(revision, undefined, { answers: { roots: [] } })
    const before = peer.sent.length
    for (const [method, params] of [
      ['notifications/tools/list_changed', {}],
      ['notifications/message', { level: 'info', data: 'x' }],
      ['notifications/progress', { progressToken: 'none', progress: 1 }],
      ['notifications/cancelled', { requestId: 'none' }],
      ['notifications/cancelled', {}],
      ['notifications/of/no/kind', {}],
      ['ping', {}],
      ['roots/list', {}],
      ['notifications/message', 5],
    ] as const)
      peer.say(JSON.stringify({ jsonrpc: '2.0', method, params }))
    // Questions are answered in turn: when this one is, those before it would have been.
    peer.say('{"jsonrpc":"2.0","id":"q","method":"roots/list"}')
    await expect.poll(() => peer.sent.length).toBeGreaterThan(before)
    await peer.client.ping()
    const [first, second, ...more] = peer.sent.slice(before).map((text) => JSON.parse(text) as Message)
    expect([first, second?.method, more]).toEqual([
      { jsonrpc: '2.0', id: 'q', result: { roots: [] } },
      'ping',
      [],
    ])
  })

  test('takes no answer that says another version, has no id of its own, or is result and error in one [R001] [R002] [R006]', async () => {
    const wrong = [
      (id: unknown) => ({ ...textOf(id, 'x'), jsonrpc: '1.0' }),
      (id: unknown) => ({ id, result: spoken('x') }),
      (id: unknown) => ({ ...textOf(id, 'x'), error: { code: 1, message: 'x' } }),
      (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: '1', message: 'x' } }),
      (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: 1 } }),
    ]
    const unfit = [
      () => textOf(null, 'x'),
      (id: unknown) => textOf(String(id), 'x'),
      (id: unknown) => textOf(Number(id) + 1, 'x'),
    ]
    for (const make of wrong) {
      await using peer = await meet(revision, ({ id, method }) =>
        method === 'tools/call' ? JSON.stringify(make(id)) : undefined,
      )
      expect(await failure(peer.client.call('any'))).toMatchObject({ kind: 'bad_answer' })
    }
    await using peer = await meet(revision, ({ id, method }) =>
      method === 'tools/call' ? JSON.stringify(unfit.map((make) => make(id))) : undefined,
    )
    expect(await failure(peer.client.call('any', {}, { timeout: 50 }))).toMatchObject({ kind: 'timeout' })
  })
})

test('at 2025-03-26 a client takes what a server sends in a batch: answers, questions and notices [R013]', async () => {
  const called: unknown[] = []
  await using peer = await meet(
    '2025-03-26',
    ({ id, method }) => {
      if (method !== 'tools/call') return undefined
      called.push(id)
      if (called.length < 2) return ''
      const question = { jsonrpc: '2.0', id: 'q', method: 'roots/list' }
      const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 1 } }
      return JSON.stringify([textOf(called[1], 'second'), question, notice, textOf(called[0], 'first')])
    },
    { answers: { roots: [] } },
  )
  const told = next(peer.client, 'log')
  expect(await Promise.all(['a', 'b'].map((name) => peer.client.call(name)))).toEqual(['first', 'second'])
  expect(await told).toMatchObject({ level: 'error', data: 1 })
  await expect.poll(() => peer.sent.at(-1)).toBe('{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}')
})

test('a client at 2026-07-28 answers neither questions nor notices, and never puts two messages in one [R008] [R016] [R019]', async () => {
  const asked = { inputRequests: { folders: { method: 'roots/list' } } }
  const server = scripted(LATEST, ({ method, params }, peer) => {
    if (method !== 'tools/call') return false
    for (const odd of ['ping', 'roots/list', 'sampling/createMessage', 'no/such'])
      peer.send({ id: odd, method: odd, params: {} })
    for (const method of ['notifications/of/no/kind', 'notifications/cancelled', 'ping'])
      peer.send({ method, params: {} })
    if (params?.['inputResponses'] === undefined) peer.reply({ resultType: 'input_required', ...asked })
    else peer.reply(spoken('done'))
    return true
  })
  await using client = await connect(server, { answers: { roots: [], sample: () => ({}) } })
  // The second call answers its round with what is loaded by then: an answer to the questions would have come too.
  for (const name of ['a', 'b']) await client.call(name)
  await client.ping()
  const texts = server.connections.flat().filter(({ from }) => from === 'client')
  for (const { text } of texts) expect(JSON.parse(text)).toMatchObject({ method: expect.any(String) })
  expect(texts.map(({ text }) => (JSON.parse(text) as Message).method)).toEqual([
    'server/discover',
    ...Array(4).fill('tools/call'),
    'server/discover',
  ])
})
