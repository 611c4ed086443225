import { describe, expect, test } from 'vitest'
import { createServer, ToolError } from '../../src/index.ts'
import { erlmcp } from '../../src/profiles/erlmcp.ts'
import { headed } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { send } from '../http/wire.ts'
import { envelope, follow, post, shake, start, tools } from './server.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('the handshake', () => {
  test('is answered with a connection descriptor [S1-2-1] [S1-2-2] [S1-10-1] [S1-5-4]', async () => {
    const { port } = await start()
    const reply = await post(port, {
      mcp_version: '2025-11',
      capabilities: ['stream', 'async', 'registry', 'schema_ref', 'telepathy', 'stream'],
      client_id: 'desk-7',
    })
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json'])
    expect(reply.json).toEqual({
      version: '2025-11',
      client_id: 'desk-7',
      server_id: 'wire',
      transport: 'http',
      capabilities: ['stream', 'schema_ref'],
      session: expect.stringMatching(UUID),
      mcp_version: '2025-11',
    })
  })

  test('gives a client without an id one, and takes no capabilities for none', async () => {
    const { port } = await start()
    const { json } = await post(port, { mcp_version: '2025-11' })
    expect(json).toMatchObject({ client_id: expect.stringMatching(UUID), capabilities: [] })
  })

  test.each([
    ['2025-11', '2025-11', '2025-11', '2025-11-25'],
    ['2025-06', '2025-06', '2025-06', '2025-06-18'],
    ['2025-03', '2025-03', '2025-03', '2025-03-26'],
    ['2024-11', '2024-11', '2024-11', '2024-11-05'],
    ['2025-11-25', '2025-11', '2025-11-25', '2025-11-25'],
    ['2024-11-05', '2024-11', '2024-11-05', '2024-11-05'],
    ['2026-07', '2025-11', '2025-11', '2025-11-25'],
    ['2026-07-28', '2025-11', '2025-11-25', '2025-11-25'],
    ['2025-12', '2025-11', '2025-11', '2025-11-25'],
    ['2025-09', '2025-06', '2025-06', '2025-06-18'],
  ])('asked for %s agrees on %s [S1-2-1] [S1-2-3]', async (asked, version, form, spoken) => {
    const { port } = await start(tools().tool('revision', {}, (_, { revision }) => revision))
    const { json } = await post(port, { mcp_version: asked, capabilities: [] })
    expect(json).toMatchObject({ version, mcp_version: form })
    const called = await post(port, envelope('revision', {}, { session: json['session'] }))
    expect(called.json).toMatchObject({ result: { content: [{ text: spoken }] } })
  })

  test.each(['2026-12', '2030-01-01', '2024-10', '2023-01'])(
    'asked for %s, more than one cycle away, is refused with what is served [S1-2-3]',
    async (asked) => {
      const { port } = await start()
      const reply = await post(port, { mcp_version: asked, capabilities: [] })
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({
        status: 'error',
        error: {
          code: -32022,
          message: `protocol version ${asked} is not supported`,
          refusal: { code: 1027 },
          data: { supported: ['2024-11', '2025-03', '2025-06', '2025-11'], requested: asked },
        },
      })
    },
  )

  test('counts calendar months where the server wants that [S1-2-3]', async () => {
    const app = createServer({ name: 'old', version: '1', revisions: ['2024-11-05', '2025-06-18'] })
    const { port } = await start(app, { gist: { cycle: 'month' } })
    const statuses = await Promise.all(
      ['2025-06', '2025-07', '2025-08', '2025-11'].map(
        async (asked) => (await post(port, { mcp_version: asked })).status,
      ),
    )
    expect(statuses).toEqual([200, 200, 400, 400])
    const { port: other } = await start(app)
    expect((await post(other, { mcp_version: '2025-11' })).json).toMatchObject({ version: '2025-06' })
  })

  test('passes through whatever wraps initialize, and the client is known by its id', async () => {
    const app = tools()
    const seen: unknown[] = []
    app.use('initialize', async ({ params }, next) => {
      await Promise.resolve()
      const { clientInfo } = params as { clientInfo: { name: string } }
      seen.push(clientInfo.name)
      if (clientInfo.name === 'stranger') throw new Error('go away')
      return next()
    })
    app.tool('who', {}, (_input, { client }) => client.info?.name ?? 'nobody')
    const { port } = await start(app)
    const { json } = await post(port, { mcp_version: '2025-11', client_id: 'friend' })
    const who = await post(port, envelope('who', {}, { session: json['session'] }))
    expect(who.json).toMatchObject({ result: { content: [{ text: 'friend' }] } })
    expect((await post(port, { mcp_version: '2025-11', client_id: 'stranger' })).status).toBe(503)
    expect(seen).toEqual(['friend', 'stranger'])
  })

  test('leaves no more sessions than allowed, though many run at the same time', async () => {
    const gate = new Gate()
    let waiting = 0
    const app = tools({ sessions: 5 })
    app.use('initialize', async (_context, next) => {
      waiting++
      await gate.opened
      return next()
    })
    const { port } = await start(app)
    const handshakes = Array.from({ length: 60 }, () => post(port, { mcp_version: '2025-11' }))
    await expect.poll(() => waiting).toBe(60)
    gate.open()
    const replies = await Promise.all(handshakes)
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(app.counts.get('session_limit')).toBe(55)
  })

  test('is refused by a server that has only the newest revision', async () => {
    const { port } = await start(createServer({ name: 'new', version: '1', revisions: ['2026-07-28'] }))
    for (const value of [{ mcp_version: '2025-11' }, envelope('echo')]) {
      const { status, json } = await post(port, value)
      expect([status, json]).toMatchObject([400, { error: { code: -32022, data: { supported: [] } } }])
    }
  })
})

describe('a call', () => {
  test('is answered with a result envelope that holds the official result [S1-4.1-1] [S1-4.2-1] [S1-4.2-2]', async () => {
    const { port } = await start()
    const { session } = await shake(port)
    const asked = envelope('echo', { text: 'hello' }, { session, mode: 'sync', context: {} })
    const reply = await post(port, asked)
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json'])
    expect(reply.json).toEqual({
      request_id: asked['request_id'],
      status: 'success',
      result: { content: [{ type: 'text', text: 'hello' }], isError: false },
      metadata: { duration_ms: expect.any(Number) },
    })
  })

  test('has structured content in the form of the version agreed on', async () => {
    const { port } = await start()
    const old = (await post(port, { mcp_version: '2024-11' })).json
    const { session } = await shake(port)
    const told = async (more: object): Promise<unknown> =>
      (await post(port, envelope('sum', { count: 3 }, { ...more }))).json['result']
    expect(await told({ session })).toMatchObject({ structuredContent: { sum: 3 } })
    expect(await told({})).toMatchObject({ structuredContent: { sum: 3 } })
    expect(await told({ session: old['session'] })).not.toHaveProperty('structuredContent')
  })

  test('without a session stands alone [S1-4.1-1]', async () => {
    const { port } = await start()
    expect((await post(port, envelope('echo', { text: 'once' }))).json).toMatchObject({ status: 'success' })
    const nobody = envelope('echo', { text: 'once' }, { session: null, context: null })
    expect((await post(port, nobody)).json).toMatchObject({ status: 'success' })
  })

  test('passes on the caller and its trace [S1-4.1-3]', async () => {
    const app = tools()
    app.tool('context', {}, (_input, { client, params }) =>
      JSON.stringify([client.info?.name, params['_meta']]),
    )
    const { port } = await start(app)
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const told = async (context: object): Promise<unknown> => {
      const { json } = await post(port, envelope('context', {}, { context: { ...context } }))
      const { content } = json['result'] as { content: { text: string }[] }
      return JSON.parse(content[0]?.text as string)
    }
    expect(await told({ client_name: 'desk', trace_id: traceparent })).toEqual(['desk', { traceparent }])
    expect(await told({ trace_id: 'abc-1' })).toEqual([null, { 'dev.pierhead/traceId': 'abc-1' }])
    const none = `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`
    expect(await told({ trace_id: none })).toEqual([null, { 'dev.pierhead/traceId': none }])
    const { body, headers } = headed('tools/call', { name: 'context', _meta: { traceparent } })
    const { content } = (await send(port, { body, headers })).json['result'] as {
      content: { text: string }[]
    }
    expect(JSON.parse(content[0]?.text as string)).toMatchObject(['wire', { traceparent }])
  })

  test('reports tokens where the handler does [S1-4.2-2]', async () => {
    const app = tools()
    app.tool('model', {}, () => ({
      content: [{ type: 'text', text: 'ok' }],
      _meta: { 'dev.pierhead/tokens': 42 },
    }))
    app.tool('cached', {}, () => ({ content: [], _meta: { 'dev.pierhead/tokens': 0 } }))
    app.tool('liar', {}, () => ({ content: [], _meta: { 'dev.pierhead/tokens': 'many' } }))
    app.tool('braggart', {}, () => ({ content: [], _meta: { 'dev.pierhead/tokens': Infinity } }))
    const { port } = await start(app)
    const { json } = await post(port, envelope('model'))
    expect(json['metadata']).toEqual({ duration_ms: expect.any(Number), tokens_used: 42 })
    expect((await post(port, envelope('cached'))).json['metadata']).toMatchObject({ tokens_used: 0 })
    for (const tool of ['liar', 'braggart'])
      expect((await post(port, envelope(tool))).json['metadata']).not.toHaveProperty('tokens_used')
  })

  test('measures how long it took [S1-4.2-2]', async () => {
    const app = tools()
    app.tool('nap', {}, () => new Promise<string>((resolve) => setTimeout(() => resolve('ok'), 30)))
    const { port } = await start(app)
    const { json } = await post(port, envelope('nap'))
    expect((json['metadata'] as { duration_ms: number }).duration_ms).toBeGreaterThan(20)
  })

  test('of a tool that fails has the status error, and the words for the model [S1-4.2-1]', async () => {
    const app = tools()
    app.tool('deny', {}, () => {
      throw new ToolError('the harbour is closed')
    })
    app.tool('crash', {}, () => {
      throw new Error('secret of the house')
    })
    const { port } = await start(app)
    const denied = await post(port, envelope('deny'))
    expect([denied.status, denied.json]).toMatchObject([
      200,
      {
        status: 'error',
        result: { isError: true, content: [{ text: 'the harbour is closed' }] },
        error: { code: -32000, message: 'the harbour is closed' },
        metadata: {},
      },
    ])
    expect((await post(port, envelope('crash'))).text).not.toContain('secret')
    expect((await post(port, envelope('echo', {}))).json).toMatchObject({
      status: 'error',
      error: { code: expect.any(Number), message: expect.stringContaining('text') },
    })
  })

  test('passes through the same middleware as any other', async () => {
    const app = tools()
    app.use('tools/call', async ({ params }, next) => {
      if (params['name'] === 'sum') return { content: [{ type: 'text', text: 'instead' }] }
      return next()
    })
    const { port } = await start(app)
    expect((await post(port, envelope('sum', { count: 1 }))).json).toMatchObject({
      result: { content: [{ text: 'instead' }] },
    })
  })

  test('that asks the user something fails with words for the model', async () => {
    const app = tools()
    app.tool('ask', {}, async (_input, { elicit }) => {
      await elicit('Sure?', { type: 'object', properties: { yes: { type: 'boolean' } } })
      return 'asked'
    })
    const { port } = await start(app)
    const { status, json } = await post(port, envelope('ask'))
    expect([status, json]).toMatchObject([200, { status: 'error', result: { isError: true } }])
  })
})

describe('a stream', () => {
  test('tells progress in percent and parts of the output before the result [S1-5-4] [S1-4.2-1]', async () => {
    const { port } = await start()
    const { session } = await shake(port)
    const asked = envelope('steps', { count: 4 }, { session })
    const { messages, response } = await (await follow(port, asked)).end()
    const id = asked['request_id']
    expect(response.headers['content-type']).toBe('text/event-stream')
    const step = (percent: number, text: string): object => ({
      request_id: id,
      status: 'in_progress',
      progress: { percent },
      result: { content: [{ type: 'text', text }] },
    })
    expect(messages.slice(0, -1)).toEqual([
      step(25, 'step 1'),
      step(50, 'step 2'),
      step(75, 'step 3'),
      step(100, 'step 4'),
    ])
    expect(messages.at(-1)).toMatchObject({ request_id: id, status: 'success', metadata: {} })
  })

  test('sends what a generator yields, with the steps done if the total is unknown [S1-5-4]', async () => {
    const app = tools()
    app.tool('tides', {}, async function* () {
      yield 'ebb'
      await new Promise((resolve) => setImmediate(resolve))
      yield 'flood'
    })
    const { port } = await start(app)
    const { messages } = await (await follow(port, envelope('tides'))).end()
    expect(messages).toMatchObject([
      { progress: { steps: 1 }, result: { content: [{ text: 'ebb' }] } },
      { progress: { steps: 2 }, result: { content: [{ text: 'flood' }] } },
      { status: 'success', result: { content: [{ text: 'ebb' }, { text: 'flood' }] } },
    ])
  })

  test('ends with an error envelope when the call fails after it began', async () => {
    const app = tools()
    app.use('tools/call', async ({ progress }, next) => {
      progress(1, 2)
      await next()
      throw new Error('lost')
    })
    const { port } = await start(app)
    const { messages, status } = await (await follow(port, envelope('sum', { count: 1 }))).end()
    expect([status, messages]).toMatchObject([
      200,
      [{ progress: { percent: 50 } }, { status: 'error', error: { code: -32603 } }],
    ])
  })

  test('is not started without progress, nor for a session that did not agree on it [S1-5-4]', async () => {
    const { port } = await start()
    const { session } = await shake(port, [])
    const plain = await follow(port, envelope('echo', { text: 'x' }))
    const quiet = await follow(port, envelope('steps', { count: 2 }, { session }))
    for (const { response } of [plain, quiet])
      expect(response.headers['content-type']).toBe('application/json')
    const only = { accept: 'text/event-stream' }
    const refused = await post(port, envelope('steps', { count: 2 }, { session }), only)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('did not agree')])
    const events = await post(port, envelope('echo', { text: 'x' }), only)
    expect(events.events.map(({ data }) => JSON.parse(data))).toMatchObject([{ status: 'success' }])
  })
})

test('a profile of the server changes nothing of it', async () => {
  const app = createServer({ name: 'wire', version: '1', profile: erlmcp, log: () => undefined })
  app.tool('echo', { input: { type: 'object', required: ['text'] } }, () => {
    throw new ToolError('closed')
  })
  const { port } = await start(app)
  const { session } = await shake(port)
  for (const more of [{}, { session }]) {
    const failed = await post(port, envelope('echo', { text: 'x' }, more))
    expect([failed.status, failed.json]).toMatchObject([200, { result: { isError: true } }])
    const unknown = await post(port, envelope('none', {}, more))
    expect([unknown.status, unknown.json]).toMatchObject([404, { error: { code: -32602 } }])
  }
})

test('a tool may refer to definitions of its schema, and both sides agree on that [S1-5-6]', async () => {
  const place = { type: 'object', properties: { at: { $ref: '#/$defs/hour' } }, required: ['at'] } as const
  const app = tools().tool(
    'tide',
    { input: { ...place, $defs: { hour: { type: 'integer', maximum: 23 } } } },
    () => 'high',
  )
  const { port } = await start(app)
  const { session, capabilities } = await shake(port, ['schema_ref'])
  expect(capabilities).toEqual(['schema_ref'])
  const told = async (at: number): Promise<unknown> =>
    (await post(port, envelope('tide', { at }, { session }))).json['status']
  expect([await told(7), await told(24)]).toEqual(['success', 'error'])
  const { json } = await post(port, { request_id: crypto.randomUUID(), list: 'tools' })
  const { tools: listed } = json['result'] as { tools: { tool_id: string }[] }
  expect(listed.find((tool) => tool.tool_id === 'tide')).toMatchObject({
    input_schema: { properties: { at: { $ref: '#/$defs/hour' } }, $defs: { hour: { maximum: 23 } } },
  })
})

describe('a list', () => {
  test('holds tools as descriptors', async () => {
    const { port } = await start()
    const asked = { request_id: crypto.randomUUID(), list: 'tools' }
    const { json } = await post(port, asked)
    expect(json).toMatchObject({ request_id: asked.request_id, status: 'success', metadata: {} })
    const { tools: listed } = json['result'] as { tools: object[] }
    expect(listed.slice(0, 2)).toEqual([
      {
        tool_id: 'echo',
        name: 'Says it again',
        description: 'Gives back a text.',
        input_schema: expect.objectContaining({ type: 'object', required: ['text'] }),
      },
      {
        tool_id: 'sum',
        name: 'sum',
        input_schema: expect.objectContaining({ type: 'object' }),
        output_schema: expect.objectContaining({ type: 'object' }),
      },
    ])
  })

  test('follows changes, and comes page by page', async () => {
    const app = createServer({ name: 'many', version: '1', pageSize: 2 })
    for (const name of ['a', 'b', 'c']) app.tool(name, {}, () => name)
    const { port } = await start(app)
    const page = async (
      cursor?: unknown,
    ): Promise<{ tools: { tool_id: string }[]; next_cursor?: string }> => {
      const asked = {
        request_id: crypto.randomUUID(),
        list: 'tools',
        ...(cursor !== undefined && { cursor }),
      }
      return (await post(port, asked)).json['result'] as never
    }
    const first = await page()
    const second = await page(first.next_cursor)
    expect([...first.tools, ...second.tools].map((tool) => tool.tool_id)).toEqual(['a', 'b', 'c'])
    expect(second.next_cursor).toBeUndefined()
    app.remove('tool', 'a')
    expect((await page()).tools.map((tool) => tool.tool_id)).toEqual(['b', 'c'])
    const wrong = await post(port, { request_id: crypto.randomUUID(), list: 'tools', cursor: 'junk' })
    expect([wrong.status, wrong.json]).toMatchObject([400, { status: 'error' }])
  })
})
