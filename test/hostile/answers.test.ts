import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { LATEST } from '../../src/protocol/revisions.ts'
import {
  all,
  answer,
  EARLIER,
  WAYS,
  endOf,
  failure,
  meet,
  methodOf,
  serve,
  serveWell,
  text,
  tool,
  web,
  type Attack,
} from './peer.ts'

const PATIENCE = { timeout: 15_000, total: 15_000, probe: 15_000 } as const

/** A server that answers calls with a text of its own. */
function calls(reply: (id: number) => string): Attack {
  return ({ id, method }, wire) => (method === 'tools/call' ? wire.send(reply(id as number)) : false)
}

test.each(WAYS)('C.json-deep a deeply nested answer is an error, not a crash, over %s', async (way) => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = `${open.repeat(100_000)}0${close.repeat(100_000)}`
    const { client } = await meet(
      way,
      calls((id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}`),
      PATIENCE,
    )
    expect(await failure(client.call('echo'))).toMatchObject({ kind: 'bad_answer' })
    await client.ping()
  }
})

test.each(WAYS)('C.json-deep a deeply nested notification changes nothing, over %s', async (way) => {
  const { client } = await meet(
    way,
    ({ method }, wire) => {
      if (method !== 'tools/call') return false
      wire.send(
        `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
      )
      return wire.reply(text('still here'))
    },
    PATIENCE,
  )
  expect(['fine', 'bad_answer']).toContain(await endOf(client.call('echo')))
  await client.ping()
})

test.each(WAYS)('C.wrong-id answers under other ids are not taken as the answer, over %s', async (way) => {
  const { client } = await meet(
    way,
    ({ id, method, params }, wire) => {
      if (method !== 'tools/call') return false
      for (const other of [
        Number(id) + 1,
        Number(id) - 1,
        String(id),
        `${id}.0`,
        0,
        -Number(id),
        Number(id) + 2 ** 32,
        null,
        [id],
        { id },
      ])
        wire.send(answer(other, text('wrong')))
      wire.send(`{"jsonrpc":"2.0","id":${id}.5,"result":{"content":[]}}`)
      return params['name'] === 'right' ? wire.reply(text('right')) : undefined
    },
    PATIENCE,
  )
  // A stream that carries something that is no message is of no further use.
  const outcome = await client.call('right').catch((error: unknown) => (error as { kind?: string }).kind)
  expect(way === 'http' ? ['right', 'bad_answer'] : ['right']).toContain(outcome)
  const error = await failure(client.call('never', {}, { timeout: 400 }))
  expect(['timeout', 'bad_answer', 'stream_lost']).toContain(error.kind)
  await client.ping()
})

test.each(WAYS)(
  'C.wrong-id an answer that comes after the patience is over goes to nobody, over %s',
  async (way) => {
    let late: () => void = () => undefined
    const { client } = await meet(
      way,
      ({ method, params }, wire) => {
        if (method !== 'tools/call') return false
        if (params['name'] === 'late') return void (late = () => wire.reply(text('late')))
        late()
        return wire.reply(text('on time'))
      },
      { ...PATIENCE, speaks: EARLIER },
    )
    expect(await failure(client.call('late', {}, { timeout: 400 }))).toMatchObject({ kind: 'timeout' })
    expect(await client.call('next')).toBe('on time')
  },
)

test.each(WAYS)('C.twice a second answer under the same id is ignored, over %s', async (way) => {
  const { client } = await meet(way, ({ id, method, params }, wire) => {
    if (method !== 'tools/call') return false
    for (const words of [params['name'], 'second', 'third']) wire.send(answer(id, text(String(words))))
    wire.send({ jsonrpc: '2.0', id, error: { code: -32603, message: 'changed my mind' } })
    return undefined
  })
  for (const name of ['a', 'b', 'c']) expect(await client.call(name)).toBe(name)
  expect(await Promise.all(['d', 'e', 'f'].map((name) => client.call(name)))).toEqual(['d', 'e', 'f'])
})

/** Opens a connection at every revision. */
const OPENED = {
  supportedVersions: [LATEST],
  protocolVersion: EARLIER,
  capabilities: { tools: {} },
  serverInfo: { name: 'hostile', version: '1' },
}

const WRONG: readonly (readonly [method: string, wrong: readonly unknown[]])[] = [
  [
    'tools/call',
    [
      null,
      [],
      'x',
      7,
      true,
      {},
      { content: null },
      { content: 'x' },
      { content: {} },
      { content: [null] },
      { content: ['x'] },
      { content: [{ type: 7 }] },
      { content: [{ type: 'text' }] },
      { content: [{ type: 'text', text: 7 }] },
      { content: [{ type: 'image', data: {} }] },
      { content: [], isError: 'no' },
      { resultType: 'other', content: [] },
      { resultType: 7, content: [] },
      { resultType: 'input_required' },
      { resultType: 'input_required', inputRequests: null },
      { resultType: 'input_required', inputRequests: 7 },
      { resultType: 'input_required', inputRequests: [] },
      { resultType: 'input_required', inputRequests: 'abc' },
      { resultType: 'input_required', inputRequests: { a: null } },
      { resultType: 'input_required', inputRequests: { a: { method: 'tools/call' } } },
      { resultType: 'input_required', inputRequests: { a: { method: 'elicitation/create', params: 7 } } },
      { resultType: 'input_required', requestState: 7 },
    ],
  ],
  [
    'tools/list',
    [
      null,
      [],
      {},
      { tools: null },
      { tools: {} },
      { tools: 'x' },
      { tools: [null] },
      { tools: [[]] },
      { tools: [{}] },
      { tools: [{ name: 7 }] },
      { tools: [], nextCursor: 7 },
      { tools: [], nextCursor: {} },
      { resultType: 'input_required', requestState: 'x' },
    ],
  ],
  ['resources/list', [{}, { resources: [{ name: 'x' }] }, { resources: { length: 1 } }]],
  [
    'resources/read',
    [
      {},
      { contents: null },
      { contents: [{}] },
      { contents: [{ uri: {} }] },
      { contents: 'x' },
      { contents: [{ uri: 'a:b', text: 7 }] },
      { contents: [{ uri: 'a:b', blob: {} }] },
    ],
  ],
  ['prompts/list', [{}, { prompts: [{ name: null }] }]],
  [
    'prompts/get',
    [
      {},
      { messages: 'x' },
      { messages: [null] },
      { messages: [{ role: 'user' }] },
      { messages: [{ role: 7, content: { type: 'text', text: '' } }] },
      { messages: [{ role: 'user', content: [] }] },
      { messages: [{ role: 'user', content: { type: 'resource' } }] },
      { messages: [{ role: 'user', content: { type: 'resource', resource: { uri: 'a:b', text: 7 } } }] },
    ],
  ],
  [
    'completion/complete',
    [{}, { completion: null }, { completion: { values: 'x' } }, { completion: { values: [7] } }],
  ],
]

test.each(WAYS)('C.result-types a result of the wrong type is an error, over %s', async (way) => {
  let wrong: unknown
  let about = ''
  const { client } = await meet(way, ({ method }, wire) => (method === about ? wire.reply(wrong) : false), {
    ...PATIENCE,
    answers: { elicit: () => ({ action: 'decline' }) },
  })
  const uses: Record<string, () => Promise<unknown>> = {
    'tools/call': () => client.call('echo'),
    'tools/list': () => all(client.tools()),
    'resources/list': () => all(client.resources()),
    'resources/read': () => client.read('note://one'),
    'prompts/list': () => all(client.prompts()),
    'prompts/get': () => client.prompt('greet'),
    'completion/complete': () => client.complete('greet', { name: 'a', value: '' }),
  }
  for (const [method, results] of WRONG) {
    about = method
    for (wrong of results) {
      const error = (await uses[method]!().catch((thrown: unknown) => thrown)) as { name?: string }
      expect([method, JSON.stringify(wrong), error.name]).toEqual([method, JSON.stringify(wrong), 'McpError'])
    }
  }
  about = ''
  await client.ping()
})

test.each(WAYS)('C.result-types what opens a connection is checked too, over %s', async (way) => {
  const discovered = [
    null,
    [],
    {},
    { supportedVersions: 'x', capabilities: {} },
    { supportedVersions: ['2026-07-28'], capabilities: [] },
  ]
  const opened = [
    null,
    'x',
    {},
    { protocolVersion: 7, capabilities: {}, serverInfo: {} },
    { protocolVersion: EARLIER, capabilities: null, serverInfo: {} },
    { protocolVersion: EARLIER, capabilities: {}, serverInfo: 'x' },
  ]
  for (const [index, wrong] of discovered.entries()) {
    const target = await serve(way, ({ method, id }, wire) => {
      if (id === undefined) return undefined
      return wire.reply(method === 'server/discover' ? wrong : opened[index])
    })
    const error = await failure(connect(target, PATIENCE))
    expect(error).toMatchObject({ name: 'McpError' })
  }
})

const NOT_META: readonly unknown[] = ['x'.repeat(100), 7, true, ['x']]

test.each(WAYS)('C.result-types `_meta` that is not an object is an error, over %s', async (way) => {
  for (const speaks of [LATEST, EARLIER] as const) {
    let _meta: unknown
    const { client, count } = await meet(
      way,
      ({ method }, wire) => (method === 'tools/call' ? wire.reply({ ...text('x'), _meta }) : false),
      { ...PATIENCE, speaks },
    )
    for (_meta of NOT_META) expect(await failure(client.call('echo'))).toMatchObject({ kind: 'bad_answer' })
    expect(count('tools/call')).toBe(NOT_META.length)
  }
})

test('C.result-types `_meta` that is not an object is an error in what opens a connection too', async () => {
  for (const speaks of [LATEST, EARLIER] as const)
    for (const _meta of NOT_META) {
      const opens = speaks === LATEST ? 'server/discover' : 'initialize'
      const attack: Attack = ({ method }, wire) =>
        method === opens ? wire.reply({ ...OPENED, _meta }) : false
      await expect(meet('memory', attack, { speaks })).rejects.toMatchObject({ name: 'McpError' })
    }
})

test.each(WAYS)('servers that write null for no `_meta` are understood, over %s', async (way) => {
  const { client } = await meet(way, ({ method }, wire) =>
    method === 'tools/call' ? wire.reply({ ...text('fine'), _meta: null }) : false,
  )
  expect(await client.call('echo')).toBe('fine')
})

test.each(WAYS)(
  'C.result-types an error of the wrong type is an error all the same, over %s',
  async (way) => {
    const errors = [
      null,
      'x',
      7,
      [],
      {},
      { code: 'x', message: 'y' },
      { code: 1.5, message: 'y' },
      { code: 1 },
      { code: 1, message: {} },
      { code: -32603, message: 'fine', data: null },
      { code: -32603, message: 'fine', data: { refusal: null } },
      { code: -32603, message: 'fine', data: { refusal: { name: 7, retryAfterMs: 'x' } } },
      { code: -32602, message: 'fine', data: [] },
    ]
    let index = 0
    const { client } = await meet(
      way,
      calls((id) => JSON.stringify({ jsonrpc: '2.0', id, error: errors[index] })),
      PATIENCE,
    )
    for (; index < errors.length; index++)
      expect(await failure(client.call('echo'))).toMatchObject({ name: 'McpError' })
  },
)

test.each(WAYS)('C.not-json an answer that is not JSON is an error, over %s', async (way) => {
  const texts = (id: number): readonly string[] => [
    'not json',
    '{',
    `{"jsonrpc":"2.0","id":${id},"result":{"content":[]`,
    `{"jsonrpc":"2.0","id":${id},"result":undefined}`,
    `{'jsonrpc':'2.0','id':${id},'result':{}}`,
    `{"jsonrpc":"1.0","id":${id},"result":{"content":[]}}`,
    `{"id":${id},"result":{"content":[]}}`,
    `{"jsonrpc":"2.0","id":${id},"id":${id},"result":{"content":[]}}`,
    `{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"error":{"code":1,"message":"x"}}`,
    '\u0000\u0001\u0002',
  ]
  let index = 0
  const { client } = await meet(
    way,
    calls((id) => texts(id)[index]!),
    // Over HTTP, every text is the reply to a request, and none is waited for.
    way === 'http' ? PATIENCE : { timeout: 150, total: 300, probe: 1000 },
  )
  for (; index < texts(0).length; index++) {
    const error = await failure(client.call('echo'))
    expect(way === 'http' ? ['bad_answer'] : ['bad_answer', 'timeout']).toContain(error.kind)
  }
  await client.ping({ timeout: 2000 })
})

test('C.not-json bytes that are no text are an error', async () => {
  for (const bytes of [
    Buffer.from([0xff, 0xfe, 0x7b]),
    Buffer.alloc(0),
    Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"x":"\xff"}}', 'latin1'),
  ]) {
    const network = await web((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(bytes),
    )
    expect(await failure(connect(network.url, PATIENCE))).toMatchObject({ name: 'McpError' })
  }
})

test('C.html an HTML answer is an error', async () => {
  const page = '<!doctype html><title>Sign in</title><script>alert(1)</script>\u001b[31m'
  for (const status of [200, 201, 206, 400, 401, 403, 404, 405, 418, 500, 502]) {
    const network = await web((_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end(page),
    )
    const error = await failure(connect(network.url, PATIENCE))
    expect([status, error]).toMatchObject([status, { name: 'McpError' }])
    expect(error.message).not.toContain('script')
  }
})

test('C.html a server that begins to answer with pages fails those requests', async () => {
  const network = await web((request, response) => {
    if (methodOf(request) !== 'tools/call') return serveWell(request, response, EARLIER, 'one')
    return response.writeHead(200, { 'content-type': 'text/html' }).end('<p>{"jsonrpc":"2.0"}</p>')
  })
  const client = await connect(network.url, PATIENCE)
  expect(await failure(client.call('echo'))).toMatchObject({ kind: 'bad_answer' })
  await client.ping()
  await client.close()
})

test.each(WAYS)(
  'C.version a protocol version the client does not know ends the connection, over %s',
  async (way) => {
    for (const version of [
      '2099-01-01',
      '1.0',
      '',
      '2026-07-28',
      '__proto__',
      '2025-11-25 ',
      '\u001b[31m',
      'x'.repeat(100_000),
    ]) {
      const seen: (string | undefined)[] = []
      const target = await serve(way, ({ id, method }, wire) => {
        seen.push(method)
        if (id === undefined) return undefined
        if (method === 'server/discover')
          return wire.reply({
            supportedVersions: [version === '2026-07-28' ? '2099-01-01' : version],
            capabilities: {},
          })
        return wire.reply({
          protocolVersion: version,
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        })
      })
      const error = await failure(connect(target, PATIENCE))
      expect([version.slice(0, 20), error.kind]).toEqual([version.slice(0, 20), 'no_revision'])
      expect(error.message.length).toBeLessThan(500)
      expect(seen).not.toContain('notifications/initialized')
    }
  },
)

test.each(WAYS)('C.version a pinned revision is insisted on, over %s', async (way) => {
  const target = await serve(way, ({ id }, wire) =>
    id === undefined
      ? undefined
      : wire.reply({
          protocolVersion: '2024-11-05',
          capabilities: {},
          serverInfo: { name: 'x', version: '1' },
        }),
  )
  expect(await failure(connect(target, { ...PATIENCE, revision: EARLIER }))).toMatchObject({
    kind: 'no_revision',
  })
})

test('C.result-types a tool that is listed with nonsense does no harm', async () => {
  const nonsense = [null, 7, 'x', [], true]
  const { client } = await meet('memory', ({ method }, wire) => {
    if (method !== 'tools/list') return false
    const tools = nonsense.map((each, index) =>
      tool(`t${index}`, {
        inputSchema: each as never,
        outputSchema: each as never,
        annotations: each as never,
        _meta: each as never,
        icons: each as never,
        title: (each === 'x' ? 7 : each) as never,
      }),
    )
    return wire.reply({ tools })
  })
  const listed = await all(client.tools())
  const names = listed.map(({ name }) => name)
  const inputSchema = { type: 'object' }
  for (const { name, ...rest } of listed)
    expect([name, rest]).toEqual([name, expect.objectContaining({ inputSchema })])
  const odd = new Set(listed.flatMap((one) => Object.keys(one)))
  for (const member of ['outputSchema', 'annotations', '_meta', 'title']) expect(odd).not.toContain(member)
  expect(names).toEqual(nonsense.map((_, index) => `t${index}`))
  for (const name of names) expect(await client.call(name)).toBe('{}')
})
