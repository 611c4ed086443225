import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect, type McpError } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { failure } from './gather.ts'
import { scripted, spoken, type Message, type Peer, type Scripted } from './scripted.ts'

const LATEST = '2026-07-28'
const SHAKEN = REVISIONS.filter((revision) => revision !== LATEST)
const FORM = { type: 'object', properties: { name: { type: 'string' } } }
const QUESTION = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: FORM } }
const ANSWERS = { elicit: () => ({ action: 'accept' as const, content: { name: 'Zoe' } }) }

/** A server that asks in the first round, in whatever way, and is content with the second. */
function asking(first: JsonObject, method = 'tools/call', last: JsonObject = spoken('done')): Scripted {
  return scripted(LATEST, (message, peer) => {
    if (message.method !== method) return false
    const { inputResponses, requestState } = message.params ?? {}
    if (inputResponses === undefined && requestState === undefined)
      peer.reply({ resultType: 'input_required', ...first })
    else peer.reply(last)
    return true
  })
}

function calls(server: Scripted, method = 'tools/call'): readonly Message[] {
  return (server.sent() as readonly Message[]).filter((message) => message.method === method)
}

test('closing the client ends a call that waits for an answer, and its question', async () => {
  const elicit = vi.fn<(question: unknown, signal: AbortSignal) => Promise<never>>(
    () => new Promise<never>(() => undefined),
  )
  const client = await connect(asking({ inputRequests: { q1: QUESTION } }), { answers: { elicit } })
  const call = failure(client.call('book'))
  await vi.waitFor(() => expect(elicit).toHaveBeenCalled())
  await client.close()
  expect(elicit.mock.calls[0]?.[1].aborted).toBe(true)
  expect(await call).toMatchObject({ kind: 'closed' })
})

describe('a further round', () => {
  test('has an id of its own and the same params, with the answers and the state as it was given [R223] [R224] [R211]', async () => {
    const requestState = ' {"odd": "st\\u00e4te"}\n\t'
    const server = asking({ inputRequests: { q1: QUESTION }, requestState })
    await using client = await connect(server, { answers: ANSWERS })
    expect(await client.call('book', { berth: 'A1' }, { meta: { 'example.com/trace': 't' } })).toBe('done')
    const [first, second] = calls(server)
    expect(second?.id).not.toBe(first?.id)
    const { inputResponses, requestState: returned, ...rest } = second?.params ?? {}
    const withoutToken = ({ _meta, ...params }: JsonObject): JsonObject => ({
      ...params,
      _meta: { ...(_meta as object), progressToken: 0 },
    })
    expect(withoutToken(rest)).toEqual(withoutToken(first?.params ?? {}))
    expect(inputResponses).toEqual({ q1: { action: 'accept', content: { name: 'Zoe' } } })
    expect(returned).toBe(requestState)
  })

  test('has no state when none was given, and no answers when nothing was asked [R224]', async () => {
    const stateless = asking({ inputRequests: { q1: QUESTION } })
    await using one = await connect(stateless, { answers: ANSWERS })
    await one.call('book')
    expect(calls(stateless)[1]?.params).not.toHaveProperty('requestState')
    const silent = asking({ requestState: 's' })
    await using two = await connect(silent)
    await two.call('book')
    expect(calls(silent)[1]?.params).toMatchObject({ requestState: 's' })
    expect(calls(silent)[1]?.params).not.toHaveProperty('inputResponses')
  })

  test('belongs to one call: nothing of it reaches another that runs meanwhile [R225]', async () => {
    const server = scripted(LATEST, (message, peer) => {
      if (message.method !== 'tools/call') return false
      const { name, requestState } = message.params ?? {}
      if (name === 'plain') peer.reply(spoken('plain'))
      else if (requestState === undefined)
        peer.reply({
          resultType: 'input_required',
          inputRequests: { q: QUESTION },
          requestState: `s-${String(name)}`,
        })
      else peer.reply(spoken(`${String(name)} ${requestState as string}`))
      return true
    })
    let meanwhile: Promise<unknown> = Promise.resolve()
    await using client = await connect(server, {
      answers: {
        elicit() {
          meanwhile = client.call('plain')
          return ANSWERS.elicit()
        },
      },
    })
    expect(await Promise.all(['a', 'b'].map((name) => client.call(name)))).toEqual(['a s-a', 'b s-b'])
    expect(await meanwhile).toBe('plain')
    for (const { params } of calls(server).filter((call) => call.params?.['name'] === 'plain')) {
      expect(params).not.toHaveProperty('requestState')
      expect(params).not.toHaveProperty('inputResponses')
    }
  })

  test('gives a result that is never kept [R233]', async () => {
    const contents = [{ uri: 'a://b', text: 'x' }]
    const last = { resultType: 'complete', contents, ttlMs: 60_000, cacheScope: 'public' }
    const server = asking({ inputRequests: { q1: QUESTION } }, 'resources/read', last)
    await using client = await connect(server, { answers: ANSWERS })
    await client.read('a://b')
    await client.read('a://b')
    expect(calls(server, 'resources/read').length).toBe(4)
  })

  test('is not begun for what the client did not declare, or a server may not ask [R200]', async () => {
    for (const question of [QUESTION, { method: 'tools/call', params: {} }, { method: 'ping' }]) {
      const server = asking({ inputRequests: { q1: question } })
      await using client = await connect(server, { answers: { roots: [] } })
      expect(await failure(client.call('book'))).toBeInstanceOf(Error)
      expect(calls(server).length).toBe(1)
    }
  })

  test('comes ten times at most', async () => {
    const server = scripted(LATEST, ({ method }, peer) => {
      if (method === 'tools/call')
        peer.reply({ resultType: 'input_required', inputRequests: { q1: QUESTION } })
      return method === 'tools/call'
    })
    await using client = await connect(server, { answers: ANSWERS })
    expect(await failure(client.call('book'))).toMatchObject({ kind: 'bad_answer' })
    expect(calls(server).length).toBe(10)
  })
})

describe('a question of a server with a session', () => {
  /** What a client answers to a question. */
  async function answer(
    question: JsonObject,
    options: Parameters<typeof connect>[1],
    revision: Revision = '2025-11-25',
  ): Promise<Message> {
    const server = scripted(revision, ({ method }, peer: Peer) => {
      if (method === 'notifications/initialized') peer.send({ id: 'q-1', ...question })
      return false
    })
    await using _ = await connect(server, { ...options, revision })
    return await server.until(({ id }) => id === 'q-1')
  }

  test('for roots that it does not have is refused with -32601 [R203]', async () => {
    for (const revision of SHAKEN)
      expect(await answer({ method: 'roots/list' }, {}, revision)).toMatchObject({ error: { code: -32601 } })
  })

  test('in a mode that was not declared is refused with -32602 [R210]', async () => {
    const url = { mode: 'url', message: 'Pay', url: 'https://pay.example', elicitationId: 'e1' }
    const onlyForms = await answer({ method: 'elicitation/create', params: url }, { answers: ANSWERS })
    expect(onlyForms).toMatchObject({ error: { code: -32602 } })
    const form = { message: 'Who?', requestedSchema: FORM }
    const onlyUrls = { answers: { elicitUrl: () => ({ action: 'accept' }) as const } }
    expect(await answer({ method: 'elicitation/create', params: form }, onlyUrls)).toMatchObject({
      error: { code: -32602 },
    })
    const strange = { mode: 'telepathy', message: 'Think' }
    expect(
      await answer({ method: 'elicitation/create', params: strange }, { answers: ANSWERS }),
    ).toMatchObject({
      error: { code: -32602 },
    })
  })

  test('without a mode means a form [R211]', async () => {
    const params = { message: 'Who?', requestedSchema: FORM }
    expect(await answer({ method: 'elicitation/create', params }, { answers: ANSWERS })).toMatchObject({
      result: { action: 'accept', content: { name: 'Zoe' } },
    })
  })

  test('that is declined is answered without content, with the word that the server knows [R212] [S4-13-3]', async () => {
    const params = { message: 'Who?', requestedSchema: FORM }
    const question = { method: 'elicitation/create', params }
    const elicit = (): { action: 'decline'; content: object } => ({
      action: 'decline',
      content: { name: 'x' },
    })
    expect((await answer(question, { answers: { elicit } as never })).result).toEqual({ action: 'decline' })
    expect((await answer(question, { answers: { elicit, rejects: true } as never })).result).toEqual({
      action: 'reject',
    })
  })

  test('about a URL is answered without content, and nothing is fetched [R212] [R215]', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    onTestFinished(() => fetched.mockRestore())
    const url = 'https://pay.example/start?order=7&back=%2Fa#now'
    const params = { mode: 'url', message: 'Pay', url, elicitationId: 'e1' }
    const seen: unknown[] = []
    for (const action of ['accept', 'decline', 'cancel'] as const) {
      const elicitUrl = (question: object): { action: typeof action; content: object } => {
        seen.push(question)
        return { action, content: { name: 'x' } }
      }
      const { result } = await answer({ method: 'elicitation/create', params }, { answers: { elicitUrl } })
      expect(result).toEqual({ action })
    }
    expect(seen).toEqual(Array(3).fill({ message: 'Pay', url, elicitationId: 'e1' }))
    expect(fetched).not.toHaveBeenCalled()
  })

  test('with choices in any of their five spellings reaches the handler as it was put, and its defaults are applied [R213] [R214]', async () => {
    const titled = ['a', 'b'].map((one) => ({ const: one, title: one.toUpperCase() }))
    const requestedSchema = {
      type: 'object',
      properties: {
        plain: { type: 'string', enum: ['a', 'b'], default: 'a' },
        titled: { type: 'string', oneOf: titled, default: 'b' },
        named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'a' },
        many: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a', 'b'] },
        manyTitled: { type: 'array', items: { anyOf: titled }, default: ['b'] },
      },
    }
    const seen: unknown[] = []
    const elicit = ({ schema }: { schema: JsonObject }): { action: 'accept'; content: JsonObject } => {
      seen.push(schema)
      return { action: 'accept', content: { titled: 'a' } }
    }
    const params = { message: 'Which?', requestedSchema }
    const content = { plain: 'a', titled: 'a', named: 'a', many: ['a', 'b'], manyTitled: ['b'] }
    const live = await answer({ method: 'elicitation/create', params }, { answers: { elicit } })
    expect(live.result).toEqual({ action: 'accept', content })
    const server = asking({ inputRequests: { q1: { method: 'elicitation/create', params } } })
    await using client = await connect(server, { answers: { elicit } })
    await client.call('book')
    expect(calls(server)[1]?.params?.['inputResponses']).toEqual({ q1: { action: 'accept', content } })
    expect(seen).toEqual([requestedSchema, requestedSchema])
  })

  test('with a schema that is not that of an object reaches nobody, live or in a round', async () => {
    const elicit = vi.fn<() => { action: 'accept' }>(() => ({ action: 'accept' }))
    const params = { message: 'Who?', requestedSchema: 'x' }
    const live = await answer({ method: 'elicitation/create', params }, { answers: { elicit } })
    expect(live).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('requestedSchema') },
    })
    const server = asking({ inputRequests: { q1: { method: 'elicitation/create', params } } })
    await using client = await connect(server, { answers: { elicit } })
    await expect(client.call('book')).rejects.toMatchObject({ kind: 'bad_params' })
    expect(elicit).not.toHaveBeenCalled()
  })

  test('that nobody knows is refused, and a ping is answered', async () => {
    expect(await answer({ method: 'no/such' }, {})).toMatchObject({ error: { code: -32601 } })
    expect(await answer({ method: 'ping' }, {})).toMatchObject({ result: {} })
  })

  test('whose handler fails is answered without what the handler said', async () => {
    const roots = (): never => {
      throw new Error('a secret')
    }
    const { error } = await answer({ method: 'roots/list' }, { answers: { roots } })
    expect(JSON.stringify(error)).not.toContain('secret')
  })

  test('whose URL a browser would not open is rejected [R215]', async () => {
    const answers = { answers: { elicitUrl: () => ({ action: 'accept' }) as const } }
    for (const url of [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'not a url',
      'https://bank.example@evil.example',
    ]) {
      const params = { mode: 'url', message: 'Pay', url, elicitationId: 'e1' }
      expect(await answer({ method: 'elicitation/create', params }, answers)).toMatchObject({
        error: { code: -32602 },
      })
    }
  })
})

test('the end of a visit that nobody was asked for is ignored [R217]', async () => {
  const server = scripted('2025-11-25', ({ method }, peer) => {
    if (method !== 'tools/call') return false
    const item = { mode: 'url', message: 'Pay', url: 'https://pay.example', elicitationId: 'known' }
    peer.refuse(-32042, 'visit first', { elicitations: [item] })
    return true
  })
  await using client = await connect(server, { revision: '2025-11-25' })
  const told: string[] = []
  client.on('elicited', ({ elicitationId }) => told.push(elicitationId))
  const error = await failure(client.call('pay'))
  expect(error).toMatchObject({ kind: 'url_needed', data: { elicitations: [{ elicitationId: 'known' }] } })
  for (const elicitationId of ['unknown', 7, 'known', 'known'])
    server.say({ method: 'notifications/elicitation/complete', params: { elicitationId } })
  await failure(client.ping())
  expect(told).toEqual(['known'])
})

test('an error that asks for visits has only URLs that are safe to open', async () => {
  const urls = [
    'javascript:alert(1)',
    'https://pay.example',
    'file:///etc/passwd',
    'https://bank.example@evil.example',
    'HTTP://münchen.example/a b',
    { toString: () => 'https://x.example' },
    undefined,
  ]
  const items = urls.map((url, at) => ({ mode: 'url', message: 'Pay', elicitationId: `${at}`, url }))
  const sent: JsonObject[] = [
    { elicitations: [...items, null, 'https://x.example'], note: 1 },
    { elicitations: 'all' },
  ]
  const server = scripted('2025-11-25', ({ method }, peer) => {
    if (method !== 'tools/call') return false
    peer.refuse(-32042, 'visit first', sent.shift())
    return true
  })
  await using client = await connect(server, { revision: '2025-11-25' })
  const { kind, data } = (await failure(client.call('pay'))) as McpError
  expect(kind).toBe('url_needed')
  expect(data).toEqual({
    elicitations: [
      { ...items[1], url: 'https://pay.example/' },
      { ...items[4], url: 'http://xn--mnchen-3ya.example/a%20b' },
    ],
    note: 1,
  })
  expect(((await failure(client.call('pay'))) as McpError).data).toEqual({})
})

test('a change of the roots is announced only where roots were declared [R202] [S4-11-3]', async () => {
  for (const revision of SHAKEN) {
    const told = scripted(revision, () => false)
    await using client = await connect(told, { revision, answers: { roots: [] } })
    await client.rootsChanged()
    expect(told.sent().at(-1)).toMatchObject({ method: 'notifications/roots/list_changed' })
    const untold = scripted(revision, () => false)
    await using other = await connect(untold, { revision })
    await other.rootsChanged()
    expect(untold.sent().at(-1)).toMatchObject({ method: 'notifications/initialized' })
  }
  const newest = scripted(LATEST, () => false)
  await using client = await connect(newest, { answers: { roots: [] } })
  await client.rootsChanged()
  expect(newest.sent().map(({ method }) => method)).toEqual(['server/discover'])
})
