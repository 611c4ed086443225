import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import { open } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'
import { note } from './target.ts'

interface Waiting {
  readonly tag: string
  readonly signal: AbortSignal
  finish(): void
}

const waiting: Waiting[] = []
const watchers = new Set<() => void>()
const app = createServer({ name: 'flight', version: '1', log: () => undefined })
  .tool('wait', { input: z.object({ tag: z.string() }) }, async ({ tag }, { signal, progress, log }) => {
    progress(1, 2, tag)
    log.info(tag)
    await new Promise<void>((finish) => {
      waiting.push({ tag, signal, finish })
      for (const look of watchers) look()
    })
    progress(2, 2, tag)
    return tag
  })
  .tool('echo', { input: z.object({ tag: z.string() }) }, ({ tag }) => tag)

function begun(tag: string): Promise<Waiting> {
  return new Promise((resolve) => {
    const look = (): void => {
      const found = waiting.find((one) => one.tag === tag)
      if (found === undefined) return
      watchers.delete(look)
      resolve(found)
    }
    watchers.add(look)
    look()
  })
}

let tags = 0
const newTag = (): string => `tag ${++tags}`
const textOf = (tag: string): object => ({ content: [{ type: 'text', text: tag }] })

scenario(
  'M.dup-inflight M.dup-inflight.answered a second request under an id in flight is refused unless each request stands alone, and the first keeps its answer [R003] [R004]',
  app,
  async (client, _revision, { transport }) => {
    const [first, second] = [newTag(), newTag()]
    const running = client.call('wait', { tag: first }, { id: 'same' })
    const { finish } = await begun(first)
    const twin = client.requestText('same', 'tools/call', { name: 'echo', arguments: { tag: second } })
    // The harness hands a reply to whoever waits under its id, so the twin is told apart by the transcript.
    running.catch(() => undefined)
    await client.put(twin)
    const replies = (): readonly string[] =>
      client.transcript.flatMap(({ from, text }) =>
        from === 'server' && text.includes('"id":"same"') ? [text] : [],
      )
    await client.until(() => replies().length === 1)
    const reply = JSON.parse(replies()[0] ?? '') as object
    finish()
    // Over HTTP requests without a session stand alone: there the second is answered as itself.
    const standsAlone = transport === 'http' && !client.hasSession
    expect(reply).toMatchObject(standsAlone ? { result: textOf(second) } : { error: { code: -32600 } })
    await client.until(() => replies().length === 2)
    expect(JSON.parse(replies()[1] ?? '')).toMatchObject({ result: textOf(first) })
    await running.catch(() => undefined)
  },
)

scenario(
  'M.cross-talk sixteen clients with equal ids, tokens and tools get their own answers, progress and logs [R190]',
  app,
  async (client, _, { join }) => {
    const clients = [client, ...(await Promise.all(Array.from({ length: 15 }, () => join())))]
    const all = clients.map((one, at) => ({ one, tag: `cross ${tags++} ${at}` }))
    const meta = { progressToken: 'equal', 'io.modelcontextprotocol/logLevel': 'debug' }
    const calls = all.map(({ one, tag }) => one.call('wait', { tag }, { id: 7, meta }))
    const begunAll = await Promise.all(all.map(({ tag }) => begun(tag)))
    for (const { finish } of begunAll.toReversed()) finish()
    const results = await Promise.all(calls)
    for (const [at, { one, tag }] of all.entries()) {
      expect(results[at]).toMatchObject(textOf(tag))
      for (const { text } of one.transcript.filter(({ from }) => from === 'server')) {
        for (const other of all) if (other.tag !== tag) expect(text).not.toContain(`"${other.tag}"`)
      }
    }
  },
)

scenario(
  'M.cancel-foreign a client cannot cancel what another asked, though the ids are equal [R193]',
  app,
  async (victim, _, { join }) => {
    const attacker = await join()
    const tag = newTag()
    const running = victim.call('wait', { tag }, { id: 'mine' })
    const { finish, signal } = await begun(tag)
    await attacker.put(note('notifications/cancelled', { requestId: 'mine' }))
    await attacker.call('echo', { tag })
    expect(signal.aborted).toBe(false)
    finish()
    expect(await running).toMatchObject(textOf(tag))
  },
)

scenario(
  'M.cancel-live a cancelled request stops, and nothing more is sent for it [R194]',
  app,
  async (client) => {
    const tag = newTag()
    const stop = new AbortController()
    const running = client.call(
      'wait',
      { tag },
      { id: 'mine', signal: stop.signal, meta: { progressToken: 1 } },
    )
    const { finish, signal } = await begun(tag)
    await client.hear('notifications/progress')
    stop.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    finish()
    await client.settle()
    expect(client.heard('notifications/progress')).toHaveLength(1)
    expect(
      client.transcript.filter(({ from, text }) => from === 'server' && text.includes('"id":"mine"')),
    ).toEqual([])
  },
)

scenario(
  'M.cancel-initialize M.init-twice M.init-types L.init-bad opening twice, wrongly, or cancelling it changes nothing',
  app,
  async (client, revision) => {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    const wrong = [
      {},
      { ...params, protocolVersion: 5 },
      { ...params, protocolVersion: null },
      { ...params, protocolVersion: { toString: revision } },
      { ...params, capabilities: [] },
      { ...params, capabilities: 'all' },
      { ...params, clientInfo: null },
      { ...params, clientInfo: { name: 5, version: {} } },
      { ...params, clientInfo: { name: 'x' } },
    ]
    for (const bad of wrong) {
      const reply = await client.post(client.requestText('spoilt', 'initialize', bad))
      expect(reply).toMatchObject({ error: { code: -32602 } })
    }
    await client.put(note('notifications/cancelled', { requestId: 'open' }))
    await client.handshake()
    const again = client.requestText('again', 'initialize', {
      ...params,
      protocolVersion: '2024-11-05',
      capabilities: { roots: {} },
    })
    expect(await client.post(again)).toMatchObject({ error: { code: -32600 } })
    const tag = newTag()
    expect(await client.call('echo', { tag })).toMatchObject(textOf(tag))
  },
  { until: '2025-11-25', handshake: false },
)

test('M.dup-inflight a question of the server and a request of the client may have the same id', async () => {
  const asks = createServer({ name: 'asks', version: '1' }).tool('ask', {}, async (_, { roots }) => {
    return (await roots()).map(({ uri }) => uri).join()
  })
  const client = await open(asks, {
    transport: 'memory',
    revision: '2025-11-25',
    capabilities: { roots: {} },
    answers: { 'roots/list': () => ({ roots: [{ uri: 'file:///a' }] }) },
  })
  const calls = [0, 1, 2, 3].map((id) => client.call('ask', {}, { id }))
  for (const result of await Promise.all(calls)) expect(result).toMatchObject(textOf('file:///a'))
})

test('M.answer-forged an answer to somebody else’s question reaches nobody, and odd answers fail the question alone', async () => {
  const asks = createServer({ name: 'asks', version: '1', log: () => undefined })
    .tool('ask', {}, async (_, { roots }) => (await roots()).map(({ uri }) => uri).join())
    .tool('echo', { input: z.object({ tag: z.string() }) }, ({ tag }) => tag)
  const options = { transport: 'memory', revision: '2025-11-25', capabilities: { roots: {} } } as const
  const [victim, attacker] = [await open(asks, options), await open(asks, options)]
  let answer: (roots: unknown) => void = () => undefined
  victim.answer('roots/list', () => new Promise((resolve) => (answer = (roots) => resolve({ roots }))), 'raw')
  const running = victim.call('ask')
  await victim.until(() => victim.questions.length === 1)
  for (let id = 0; id < 50; id++) {
    await attacker.put(`{"jsonrpc":"2.0","id":${id},"result":{"roots":[{"uri":"file:///evil"}]}}`)
  }
  answer([{ uri: 'file:///mine' }])
  expect(await running).toMatchObject(textOf('file:///mine'))
  for (const [at, odd] of [
    null,
    5,
    [null],
    [5],
    [{}],
    [{ uri: { toString: 1 } }],
    [{ uri: 'http://x' }],
  ].entries()) {
    const failing = victim.call('ask')
    await victim.until(() => victim.questions.length === at + 2)
    answer(odd)
    expect(await failing).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('roots/list') as string }],
    })
  }
})

test('F19 an error whose data cannot be serialised still reaches the caller', async () => {
  const { McpError } = await import('../../src/index.ts')
  const cyclic: Record<string, unknown> = { big: 1n }
  cyclic['self'] = cyclic
  const broken = createServer({ name: 'broken', version: '1', log: () => undefined })
    .tool('now', {}, () => {
      throw new McpError('bad_params', 'no', { data: cyclic })
    })
    .tool('later', {}, async () => {
      await Promise.resolve()
      throw new McpError('bad_params', 'no', { data: cyclic })
    })
    .tool('value', {}, () => ({ big: 1n }) as never)
    .tool('cycle', {}, async () => cyclic as never)
  for (const transport of ['memory', 'stdio', 'http'] as const) {
    const client = await open(broken, { transport, revision: '2025-11-25' })
    for (const name of ['now', 'later']) {
      expect((await refusal(client.request('tools/call', { name }, { id: name }))).code).toBe(-32602)
    }
    for (const name of ['value', 'cycle', 'now', 'later']) {
      const said = await client.call(name, {}, { id: name }).then(JSON.stringify, String)
      expect(said).not.toContain('answered')
    }
    await client.close()
  }
})
