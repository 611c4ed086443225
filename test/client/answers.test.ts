import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { all, failure } from './gather.ts'
import { scripted, spoken, type Message, type Scripted } from './scripted.ts'

const LATEST = '2026-07-28'

/** A server with given tools, and answers to calls by name. */
function toolbox(
  tools: readonly JsonObject[],
  answers: Readonly<Record<string, JsonObject>> = {},
  revision: Revision = LATEST,
): Scripted {
  return scripted(revision, ({ method, params }, peer) => {
    if (method === 'tools/list')
      peer.reply({ resultType: 'complete', tools, ttlMs: 60_000, cacheScope: 'public' })
    else if (method === 'tools/call') peer.reply(answers[String(params?.['name'])] ?? spoken('done'))
    else return false
    return true
  })
}

function count(server: Scripted, method: string): number {
  return server.sent().filter((message) => message['method'] === method).length
}

describe('structured content', () => {
  const outputSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
  const tool = { name: 'add', inputSchema: { type: 'object' }, outputSchema }

  test.each(['2025-06-18', '2025-11-25', LATEST] as const)(
    'that breaks the schema of the tool is refused at %s, and so is its absence [R150]',
    async (revision) => {
      for (const broken of [{ structuredContent: { sum: 'three' } }, {}, { structuredContent: [] }]) {
        const server = toolbox([tool], { add: spoken('3', broken) }, revision)
        await using client = await connect(server, { revision })
        await all(client.tools())
        expect(await failure(client.call('add'))).toMatchObject({ kind: 'bad_answer' })
      }
    },
  )

  test.each(['2025-11-25', LATEST] as const)(
    'is checked as 2020-12 at %s, and as draft-07 where the schema says so [R153]',
    async (revision) => {
      const pair = { prefixItems: [{ type: 'string' }], items: false }
      const newer = { type: 'object', properties: { pair } }
      const draft7 = {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { pair: { items: [{ type: 'string' }], additionalItems: false } },
      }
      for (const outputSchema of [newer, draft7]) {
        const odd = { ...tool, outputSchema }
        const good = spoken('x', { structuredContent: { pair: ['a'] } })
        await using client = await connect(toolbox([odd], { add: good }, revision), { revision })
        await all(client.tools())
        expect(await client.call('add')).toEqual({ pair: ['a'] })
        for (const wrong of [[1], ['a', 'b']]) {
          const bad = spoken('x', { structuredContent: { pair: wrong } })
          await using other = await connect(toolbox([odd], { add: bad }, revision), { revision })
          await all(other.tools())
          expect(await failure(other.call('add'))).toMatchObject({ kind: 'bad_answer' })
        }
      }
    },
  )

  test.each([
    [
      { type: 'object', properties: { sum: { type: 'string', pattern: '^(a+)+$' } } },
      'has an unsafe pattern',
    ],
    [{ type: 'object', properties: { sum: { $ref: 'https://example.org/sum' } } }, 'outside the schema'],
    [{ type: 'no such type' }, 'the unknown type "no such type"'],
    [{ type: 'object', properties: { sum: { type: 'string', pattern: '[a-z]+$' } } }, 'would take too long'],
  ])(
    'that cannot be checked against %o is given back, with one warning that says why',
    async (outputSchema, why) => {
      const structuredContent = { sum: 'x'.repeat(5000) }
      await using client = await connect(
        toolbox([{ ...tool, outputSchema }], { add: spoken('x', { structuredContent }) }),
      )
      const warnings: string[] = []
      client.on('warning', (text) => warnings.push(text))
      await all(client.tools())
      for (let times = 0; times < 3; times++) expect(await client.call('add')).toEqual(structuredContent)
      await all(client.tools())
      await client.call('add')
      expect(warnings).toEqual([expect.stringContaining('the output of the tool "add" is not checked: ')])
      expect(warnings[0]).toContain(why)
      expect(warnings[0]).toContain('Check it yourself')
    },
  )

  test('that keeps to it is given back, and a failed call is not checked [R150]', async () => {
    const answers = { add: spoken('3', { structuredContent: { sum: 3 } }) }
    await using client = await connect(toolbox([tool], answers))
    await all(client.tools())
    expect(await client.call('add')).toEqual({ sum: 3 })
    await using failing = await connect(toolbox([tool], { add: spoken('no', { isError: true }) }))
    await all(failing.tools())
    expect(await failure(failing.call('add'))).toMatchObject({ name: 'ToolError', message: 'no' })
  })

  test('of a schema that cannot be used passes, and nothing is fetched for it [R150] [R154]', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    onTestFinished(() => fetched.mockRestore())
    const odd = { ...tool, outputSchema: { type: 'object', $ref: 'https://example.com/schema.json' } }
    await using client = await connect(
      toolbox([odd], { add: spoken('3', { structuredContent: { sum: 3 } }) }),
    )
    await all(client.tools())
    expect(await client.call('add')).toEqual({ sum: 3 })
    expect(fetched).not.toHaveBeenCalled()
  })
})

test('composition, conditions, definitions and anchors of schemas reach the reader unchanged [R155]', async () => {
  const inputSchema = {
    type: 'object',
    $defs: { part: { $anchor: 'part', type: 'object', properties: { id: { type: 'string' } } } },
    properties: { one: { $ref: '#part' }, kind: { enum: ['a', 'b'] } },
    allOf: [{ anyOf: [{ required: ['one'] }, { required: ['kind'] }] }],
    if: { properties: { kind: { const: 'a' } } },
    // oxlint-disable-next-line unicorn/no-thenable
    then: { required: ['one'] },
    else: { not: { required: ['two'] } },
    'x-own': { kept: true },
  }
  await using client = await connect(toolbox([{ name: 'deep', inputSchema }]))
  expect(await all(client.tools())).toEqual([{ name: 'deep', inputSchema }])
})

test('hints of a tool let no call pass an approval, and change nothing of what is sent [R151] [S4-7-3]', async () => {
  const annotations = {
    readOnlyHint: true,
    idempotentHint: true,
    destructiveHint: false,
    openWorldHint: false,
  }
  const tools = [
    { name: 'mild', inputSchema: { type: 'object' }, annotations },
    { name: 'wild', inputSchema: { type: 'object' } },
  ]
  const server = toolbox(tools)
  await using client = await connect(server)
  const asked: unknown[] = []
  client.use('tools/call', (request, next) => {
    asked.push(request.params['name'])
    if (request.params['arguments'] === undefined) throw new Error('no arguments')
    if (!isAllowed(request.params)) throw new Error('the user said no')
    return next()
  })
  await all(client.tools())
  for (const name of ['mild', 'wild']) {
    await expect(client.call(name, {})).rejects.toThrow('the user said no')
    expect(await client.call(name, { agreed: true })).toBe('done')
  }
  expect(asked).toEqual(['mild', 'mild', 'wild', 'wild'])
  const [mild, wild] = (server.sent() as readonly Message[]).filter(({ method }) => method === 'tools/call')
  const plain = ({ params }: Message): unknown => ({ ...params, name: '', _meta: undefined })
  expect(plain(mild as Message)).toEqual(plain(wild as Message))
})

function isAllowed(params: JsonObject): boolean {
  return (params['arguments'] as JsonObject)['agreed'] === true
}

describe('the pages of a list', () => {
  const pages = new Map<unknown, JsonObject>([
    [undefined, { tools: [named('a')], nextCursor: ' odd "cursor"\n%20' }],
    [' odd "cursor"\n%20', { tools: [named('b')], nextCursor: 'eyJ9' }],
    ['eyJ9', { tools: [named('c')] }],
  ])

  test.each(['2024-11-05', '2025-11-25', LATEST] as const)(
    'are followed by cursors given back as they came, to the page without one, at %s [R182] [S4-14-10]',
    async (revision) => {
      const server = paged(revision, pages)
      await using client = await connect(server, { revision })
      expect((await all(client.tools())).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    },
  )

  test('go on after an empty cursor at 2026-07-28 and end with one before [R182] [S2-3.2-4]', async () => {
    const empty = new Map<unknown, JsonObject>([
      [undefined, { tools: [named('a')], nextCursor: '' }],
      ['', { tools: [named('b')] }],
    ])
    for (const [revision, names] of [
      [LATEST, ['a', 'b']],
      ['2025-11-25', ['a']],
    ] as const) {
      await using client = await connect(paged(revision, empty), { revision })
      expect((await all(client.tools())).map(({ name }) => name)).toEqual(names)
    }
  })

  test.each(REVISIONS)('end with a cursor that is null at %s [S3-5.1-1]', async (revision) => {
    const ended = new Map<unknown, JsonObject>([
      [undefined, { tools: [named('a')], nextCursor: 'x' }],
      ['x', { tools: [named('b')], nextCursor: null }],
    ])
    const server = paged(revision, ended)
    await using client = await connect(server, { revision })
    expect((await all(client.tools())).map(({ name }) => name)).toEqual(['a', 'b'])
    expect(count(server, 'tools/list')).toBe(2)
  })

  test('that turn in circles are an error [R182]', async () => {
    const circle = new Map<unknown, JsonObject>([
      [undefined, { tools: [named('a')], nextCursor: 'x' }],
      ['x', { tools: [named('b')], nextCursor: 'x' }],
    ])
    await using client = await connect(paged(LATEST, circle))
    expect(await failure(all(client.tools()))).toMatchObject({ kind: 'bad_answer' })
  })
})

function named(name: string): JsonObject {
  return { name, inputSchema: { type: 'object' } }
}

function paged(revision: Revision, pages: ReadonlyMap<unknown, JsonObject>): Scripted {
  return scripted(revision, ({ method, params }, peer) => {
    if (method !== 'tools/list') return false
    const page = pages.get(params?.['cursor'])
    if (page === undefined) peer.refuse(-32602, 'bad cursor')
    else peer.reply(revision === LATEST ? { resultType: 'complete', ...page } : page)
    return true
  })
}

describe('what is kept', () => {
  function reading(about: JsonObject): Scripted {
    return scripted(LATEST, ({ method, params }, peer) => {
      if (method !== 'resources/read') return false
      const contents = [{ uri: params?.['uri'], text: 'x' }]
      peer.reply({ resultType: 'complete', contents, ...about })
      return true
    })
  }

  test.each([
    ['a time', { ttlMs: 60_000, cacheScope: 'public' }, 1],
    ['a time, privately', { ttlMs: 60_000, cacheScope: 'private' }, 1],
    ['no time', {}, 2],
    ['a time of zero', { ttlMs: 0, cacheScope: 'public' }, 2],
    ['a time below zero', { ttlMs: -5, cacheScope: 'public' }, 2],
    ['a time that is no number', { ttlMs: '60000', cacheScope: 'public' }, 2],
  ])('with %s is asked for again, or not [R235]', async (_, about, times) => {
    const server = reading(about)
    await using client = await connect(server)
    await client.read('a://b')
    await client.read('a://b')
    expect(count(server, 'resources/read')).toBe(times)
  })

  test('serves no other params, no other identity and no other client [R232]', async () => {
    const server = reading({ ttlMs: 60_000, cacheScope: 'private' })
    await using client = await connect(server)
    await using other = await connect(server)
    await client.read('a://b')
    await client.read('a://c')
    await client.read('a://b', { headers: { authorization: 'Bearer another' } })
    await other.read('a://b')
    expect(count(server, 'resources/read')).toBe(4)
    await client.read('a://b')
    expect(count(server, 'resources/read')).toBe(4)
  })
})

describe('the ids of requests', () => {
  const calling = (): Scripted =>
    scripted('2025-11-25', ({ method, params }, peer) => {
      if (method !== 'tools/call') return false
      if (params?.['name'] !== 'hold') peer.reply({ content: [{ type: 'text', text: 'done' }] })
      return true
    })

  test('differ from each other on one connection [S2-1.2-3] [S3-2.1-1] [S2-13-C3]', async () => {
    const server = calling()
    await using client = await connect(server, { revision: '2025-11-25' })
    await Promise.all(Array.from({ length: 50 }, () => client.call('go')))
    const ids = server.sent().flatMap(({ id }) => (id === undefined ? [] : [id]))
    expect(new Set(ids).size).toBe(51)
  })

  test('and the tokens of their progress differ while they are active [S4-14-4]', async () => {
    const server = calling()
    await using client = await connect(server, { revision: '2025-11-25' })
    const held = Array.from({ length: 5 }, () =>
      failure(client.call('hold', {}, { onProgress: () => undefined })),
    )
    await expect.poll(() => count(server, 'tools/call')).toBe(5)
    const asked = (server.sent() as readonly Message[]).filter(({ method }) => method === 'tools/call')
    const tokens = asked.map(({ params = {} }) => (params['_meta'] as JsonObject)['progressToken'])
    expect(new Set(tokens).size).toBe(5)
    expect(tokens).not.toContain(undefined)
    await client.close()
    await Promise.all(held)
  })

  test('are named when one is cancelled [S4-14-2]', async () => {
    const server = calling()
    await using client = await connect(server, { revision: '2025-11-25' })
    const stop = new AbortController()
    const held = failure(client.call('hold', {}, { signal: stop.signal }))
    const { id } = await server.until(({ method }) => method === 'tools/call')
    stop.abort()
    expect(await held).toMatchObject({ kind: 'cancelled' })
    const cancelled = await server.until(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.params).toMatchObject({ requestId: id })
    expect(cancelled).not.toHaveProperty('id')
  })

  test('that are used up make a new connection; what waits on the old one is left alone [S2-1.2-3] [S2-1.2-4] [S2-13-C3]', async () => {
    const server = calling()
    await using client = await connect(server, { revision: '2025-11-25', limits: { clientIds: 4 } })
    const held = failure(client.call('hold'))
    for (let turn = 0; turn < 10; turn++) expect(await client.call('go')).toBe('done')
    expect(server.connections.length).toBeGreaterThan(3)
    const pending = (server.sent() as readonly Message[]).find(
      ({ params }) => params?.['name'] === 'hold',
    )?.id
    const again = server.connections
      .slice(1)
      .flat()
      .map(({ text }) => (JSON.parse(text) as Message).id)
    expect(again).not.toContain(pending)
    expect(server.closed).toBe(server.connections.length - 2)
    await client.close()
    expect(await held).toMatchObject({ kind: 'closed' })
  })
})
