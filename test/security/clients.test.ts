import { expect, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { all, answer, endOf, meet, text, tool, until, type Asked, type Wire, web } from '../hostile/peer.ts'
import { processorMs } from '../harness/processor.ts'

/** What a server does with one method, and how the client must fare. */
interface Row {
  readonly id: string
  readonly method: string
  act(asked: Asked, wire: Wire): unknown
  run(client: Client): Promise<unknown>
  /** How what is run may end: the kind of its error, or `fine`. */
  readonly ends: readonly string[]
}

const called = (words: string): JsonObject => ({ resultType: 'complete', ...text(words) })
const list = (client: Client): Promise<unknown> => all(client.tools())
const callEcho = (client: Client, patience = {}): Promise<unknown> =>
  client.call('echo', {}, { onProgress: () => undefined, ...patience })
const calling = (id: string, ends: readonly string[], act: Row['act']): Row => ({
  id,
  method: 'tools/call',
  act,
  run: (client) => callEcho(client, ends.includes('timeout') ? { timeout: 150, total: 400 } : {}),
  ends,
})
const page = (more: JsonObject): JsonObject => ({
  resultType: 'complete',
  tools: [tool('echo')],
  ttlMs: 0,
  cacheScope: 'private',
  ...more,
})

const self = { $ref: '#/$defs/node' }
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  'C.ref-remote': { type: 'object', $ref: 'http://127.0.0.1:9/schema.json' },
  'C.ref-cycle': { type: 'object', $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
  'C.schema-deep': JSON.parse(
    `${'{"type":"object","properties":{"a":'.repeat(50)}{}${'}}'.repeat(50)}`,
  ) as JsonObject,
  'C.schema-blowup': {
    type: 'object',
    ...self,
    $defs: {
      node: { anyOf: Array.from({ length: 5 }, () => ({ properties: { a: self }, required: ['b'] })) },
    },
  },
  'C.schema-redos': { type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' } } },
  'C.schema-bad': { type: 'object', properties: 5, required: 'x' },
}
const DEEP = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as JsonObject

const ROWS: readonly Row[] = [
  calling('C.sane', ['fine'], (_, wire) => wire.reply(called('hi'))),
  {
    id: 'C.page-endless',
    method: 'tools/list',
    act: ({ params }, wire) => wire.reply(page({ nextCursor: String(Number(params['cursor'] ?? 0) + 1) })),
    run: list,
    ends: ['answer_too_large'],
  },
  {
    id: 'C.page-loop',
    method: 'tools/list',
    act: (_, wire) => wire.reply(page({ nextCursor: 'same' })),
    run: list,
    ends: ['bad_answer'],
  },
  calling('C.hang', ['timeout'], () => undefined),
  calling('C.progress-endless', ['timeout'], ({ params }, wire) => {
    const { progressToken } = params['_meta'] as JsonObject
    let progress = 0
    const timer = setInterval(() => {
      const told = { progressToken, progress: ++progress }
      wire.send({ jsonrpc: '2.0', method: 'notifications/progress', params: told })
    }, 50)
    setTimeout(() => clearInterval(timer), 1500)
  }),
  calling('C.json-huge', ['answer_too_large'], (_, wire) => wire.reply(called('x'.repeat(300_000)))),
  calling('C.json-deep', ['bad_answer'], ({ id }, wire) =>
    wire.send(`{"jsonrpc":"2.0","id":${id},"result":{"a":${'['.repeat(40_000)}${']'.repeat(40_000)}}}`),
  ),
  calling('C.wrong-id', ['timeout', 'stream_lost', 'bad_answer'], ({ id = 0 }, wire) =>
    wire.send(answer(id + 1000, called('not yours'))),
  ),
  calling('C.twice', ['fine'], ({ id }, wire) => {
    wire.send(answer(id, called('first')))
    wire.send(answer(id, called('second')))
  }),
  ...[null, 5, 'x', [], { content: 5 }, { content: [{ type: 5 }] }].map((result) =>
    calling('C.result-types', ['bad_answer'], ({ id }, wire) =>
      wire.send(
        answer(
          id,
          result !== null && typeof result === 'object' && !Array.isArray(result)
            ? { resultType: 'complete', ...result }
            : result,
        ),
      ),
    ),
  ),
  calling('C.not-json', ['bad_answer', 'timeout'], (_, wire) => wire.send('this is not JSON')),
  calling('C.html', ['bad_answer', 'timeout'], (_, wire) => wire.send('<!doctype html><title>x</title>')),
  calling('C.proto', ['fine'], ({ id }, wire) =>
    wire.send(
      `{"jsonrpc":"2.0","id":${id},"__proto__":{"polluted":1},"result":{"resultType":"complete","content":[],"__proto__":{"polluted":1},"structuredContent":{"__proto__":{"polluted":1}}}}`,
    ),
  ),
]

test.each(
  REVISIONS.flatMap((revision) => (['stdio', 'http'] as const).map((way) => [way, revision] as const)),
)(
  `${[...new Set(ROWS.map(({ id }) => id))].join(' ')} ${Object.keys(SCHEMAS).join(' ')} over %s at %s a hostile server ends in a clear error, and the client goes on`,
  async (way, speaks) => {
    let row: Row | undefined
    let outputSchema: JsonObject | undefined
    const { client } = await meet(
      way,
      (asked, wire) => {
        if (row !== undefined && asked.method === row.method) return row.act(asked, wire)
        if (outputSchema === undefined) return false
        if (asked.method === 'tools/list')
          return wire.reply(page({ tools: [tool('echo', { outputSchema })] }))
        const structuredContent = { ...DEEP, s: `${'a'.repeat(40)}!` }
        if (asked.method === 'tools/call') return wire.reply({ ...called('x'), structuredContent })
        return false
      },
      { speaks, timeout: '5s', probe: '1s', limits: { pages: 20, clientBytes: 200_000 } },
    )
    expect((await client.server()).revision).toBe(speaks)
    for (row of ROWS) {
      const end = await endOf(row.run(client))
      expect([row.id, end, row.ends.includes(end)]).toEqual([row.id, end, true])
      expect(({} as JsonObject)['polluted']).toBeUndefined()
    }
    row = undefined
    for (const [id, schema] of Object.entries(SCHEMAS)) {
      outputSchema = schema
      const ms = await processorMs(async () => {
        await endOf(all(client.tools()))
        await endOf(client.call('echo'))
      })
      expect([id, ms < 2000]).toEqual([id, true])
    }
    outputSchema = undefined
    expect(await client.call('echo', { a: 1 })).toBe('{"a":1}')
  },
)

test.each(
  REVISIONS.filter((revision) => revision !== '2026-07-28').flatMap((revision) =>
    (['stdio', 'http'] as const).map((way) => [way, revision] as const),
  ),
)(
  'C.server-requests C.version over %s at %s undeclared questions are refused, and other revisions not spoken',
  async (way, speaks) => {
    const asks = ['sampling/createMessage', 'roots/list', 'elicitation/create', 'no/such']
    const { client, seen } = await meet(
      way,
      ({ method, id }, wire) => {
        if (method !== 'tools/call') return false
        asks.forEach((question, at) =>
          wire.send({ jsonrpc: '2.0', id: `q${at}`, method: question, params: {} }),
        )
        return setTimeout(() => wire.send(answer(id, text('done'))), 50)
      },
      { speaks, timeout: '2s' },
    )
    expect(await client.call('echo')).toBe('done')
    const answers = (): Asked[] => seen.filter(({ id }) => String(id).startsWith('q'))
    await until(() => answers().length === asks.length)
    for (const { error } of answers()) expect(error?.code).toBe(-32601)
    const odd = meet(
      way,
      ({ method }, wire) =>
        method === 'initialize'
          ? wire.reply({
              protocolVersion: '1999-01-01',
              capabilities: {},
              serverInfo: { name: 'x', version: '1' },
            })
          : false,
      { revision: speaks, speaks },
    )
    expect(await endOf(odd)).toBe('no_revision')
  },
)

test('C.endpoint-foreign an event that names another endpoint, as the oldest servers send it, is not followed', async () => {
  const other = await web((_, response) => response.writeHead(200).end())
  const oldest = await web(({ verb }, response) => {
    if (verb !== 'GET') return response.writeHead(405).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.write(`event: endpoint\ndata: ${other.url}\n\n`)
  })
  for (const revision of [undefined, '2024-11-05'] as const) {
    const options = revision === undefined ? {} : { revision }
    expect(await endOf(connect(oldest.url, { timeout: 1000, ...options }))).toBe('connect_failed')
  }
  expect(other.requests).toEqual([])
})

test('C.oauth-rm-foreign C.oauth-rm-scheme metadata that a refusal names is not fetched', async () => {
  const other = await web((_, response) => response.writeHead(200).end())
  const places = [
    `${other.origin}/.well-known/oauth-protected-resource`,
    'file:///etc/passwd',
    'javascript:alert(1)',
  ]
  for (const place of places) {
    const guarded = await web((_, response) =>
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${place}"` }).end(),
    )
    expect(await endOf(connect(guarded.url, { timeout: 1000 }))).toBe('http_failed')
    expect(new Set(guarded.requests.map(({ path }) => path))).toEqual(new Set(['/mcp']))
  }
  expect(other.requests).toEqual([])
})
