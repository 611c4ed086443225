import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'
import { BOTH, call, ENVELOPE, headed, initialize, message } from './messages.ts'
import { Gate, open, start, tools } from './server.ts'
import { post, send, stream } from './wire.ts'

const ECHO = headed('tools/call', { name: 'echo', arguments: { text: 'hi' } })

function without(name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(ECHO.headers).filter(([key]) => key !== name))
}

describe('the standard headers', () => {
  test.each(['mcp-protocol-version', 'mcp-method', 'mcp-name'])(
    'N.missing a request without %s is 400 and -32020 [R114]',
    async (name) => {
      const { port } = await start()
      const reply = await post(port, ECHO.body, without(name))
      expect([reply.status, reply.json]).toMatchObject([
        400,
        { id: 1, error: { code: -32020, data: { header: expect.stringMatching(new RegExp(name, 'i')) } } },
      ])
    },
  )

  test.each([
    ['mcp-method', 'tools/list'],
    ['mcp-method', 'TOOLS/CALL'],
    ['mcp-method', 'tools/call, tools/call'],
    ['mcp-name', 'other'],
    ['mcp-name', 'Echo'],
    ['mcp-name', '=?base64?b3RoZXI=?='],
    ['mcp-name', '=?base64?ZWNobw?='],
    ['mcp-name', '=?BASE64?ZWNobw==?='],
    ['mcp-name', '=?base64?****?='],
    ['mcp-protocol-version', '2025-11-25'],
  ])('N.mismatch %s: %s is 400 and -32020 [R114] [R115] [R116]', async (name, value) => {
    const { port } = await start()
    const reply = await post(port, ECHO.body, { ...ECHO.headers, [name]: value })
    expect([reply.status, reply.json['error']]).toMatchObject([400, { code: -32020 }])
  })

  test('N.doubled a header that is sent twice is refused [R114]', async () => {
    const { port } = await start()
    for (const name of ['mcp-method', 'mcp-name', 'mcp-protocol-version'] as const) {
      const value = ECHO.headers[name] as string
      const reply = await send(port, {
        body: ECHO.body,
        headers: { ...ECHO.headers, [name]: [value, value] },
      })
      expect(reply.status).toBe(400)
    }
  })

  test('N.case names in any case, values with space around them and in base64 are read [R115] [R116]', async () => {
    const { port } = await start()
    const { 'mcp-method': method, 'mcp-name': name, ...rest } = ECHO.headers
    for (const headers of [
      { ...rest, 'MCP-METHOD': method as string, 'mCp-NaMe': name as string },
      { ...rest, 'mcp-method': ` ${method}\t`, 'mcp-name': `\t${name} ` },
      { ...rest, 'mcp-method': method as string, 'mcp-name': '=?base64?ZWNobw==?=' },
    ]) {
      expect((await post(port, ECHO.body, headers)).json).toMatchObject({
        result: { content: [{ text: 'hi' }] },
      })
    }
  })

  test('N.unicode a name beyond ASCII travels in base64 [R116]', async () => {
    const app = tools().resource('memo://grüße', { name: 'memo' }, () => 'hallo')
    const { port } = await start(app)
    const { body, headers } = headed('resources/read', { uri: 'memo://grüße' })
    const encoded = `=?base64?${Buffer.from('memo://grüße').toString('base64')}?=`
    const reply = await post(port, body, { ...headers, 'mcp-name': encoded })
    expect(reply.json['result']).toMatchObject({ contents: [{ text: 'hallo' }] })
    const { 'mcp-name': _, ...unnamed } = headers
    expect((await post(port, body, unnamed)).status).toBe(400)
  })

  test('N.orphan-name a name that belongs to no param is refused [R114]', async () => {
    const { port } = await start()
    const { body, headers } = headed('tools/list')
    expect((await post(port, body, { ...headers, 'mcp-name': 'echo' })).json['error']).toMatchObject({
      code: -32020,
    })
  })

  test('N.downgrade a body of 2026-07-28 under the headers of 2025 is refused', async () => {
    const { port } = await start()
    const reply = await post(port, ECHO.body, {
      ...BOTH,
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': 'x',
    })
    expect([reply.status, reply.json['error']]).toMatchObject([400, { code: -32020 }])
    expect((await post(port, ECHO.body, BOTH)).status).toBe(400)
  })
})

describe('headers from arguments', () => {
  const region = { type: 'string', 'x-mcp-header': 'Region' } as const
  const level = { type: 'integer', 'x-mcp-header': 'Level' } as const
  const regional = (): App =>
    tools().tool(
      'regional',
      { input: { type: 'object', properties: { region, level } } as never },
      () => 'ok',
    )
  const ask = (
    args: object,
    more: Record<string, string>,
  ): { body: string; headers: Record<string, string> } => {
    const { body, headers } = headed('tools/call', { name: 'regional', arguments: { ...args } })
    return { body, headers: { ...headers, ...more } }
  }

  test.each<[string, object, Record<string, string>]>([
    ['equal', { region: 'eu' }, { 'mcp-param-region': 'eu' }],
    ['in base64', { region: 'ü' }, { 'mcp-param-region': '=?base64?w7w=?=' }],
    ['equal as a number', { level: 42 }, { 'mcp-param-level': '42' }],
    ['absent like the argument', {}, {}],
  ])('N.param a header that is %s is accepted [R120]', async (_, args, more) => {
    const { port } = await start(regional())
    const { body, headers } = ask(args, more)
    expect((await post(port, body, headers)).json).toMatchObject({ result: { content: [{ text: 'ok' }] } })
  })

  test.each<[string, object, Record<string, string>]>([
    ['missing', { region: 'eu' }, {}],
    ['different', { region: 'eu' }, { 'mcp-param-region': 'us' }],
    ['different in case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
    ['badly encoded', { region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    ['no number', { level: 42 }, { 'mcp-param-level': 'many' }],
  ])('N.param a header that is %s is 400 and -32020 [R120]', async (_, args, more) => {
    const { port } = await start(regional())
    const { body, headers } = ask(args, more)
    const reply = await post(port, body, headers)
    expect([reply.status, reply.json['error']]).toMatchObject([400, { code: -32020 }])
  })
})

describe('metadata and versions', () => {
  test('N.version one that is not supported is 400 and -32022, and lists what is [R123]', async () => {
    const { port } = await start()
    const { body, headers } = headed('tools/list', { _meta: { [META.protocolVersion]: '2099-01-01' } })
    const reply = await post(port, body, { ...headers, 'mcp-protocol-version': '2099-01-01' })
    expect([reply.status, reply.json]).toMatchObject([
      400,
      {
        id: 1,
        error: {
          code: -32022,
          data: { requested: '2099-01-01', supported: expect.arrayContaining(['2026-07-28']) },
        },
      },
    ])
  })

  test.each([
    ['no metadata', undefined],
    ['no version', { [META.clientCapabilities]: {} }],
    ['no capabilities', { [META.protocolVersion]: '2026-07-28' }],
    ['capabilities that are no object', { ...ENVELOPE, [META.clientCapabilities]: [] }],
  ])('N.meta with %s it is 400 and -32602 [R044]', async (_, meta) => {
    const { port } = await start()
    const { headers } = headed('tools/list')
    const reply = await post(
      port,
      message('tools/list', meta === undefined ? {} : { _meta: meta }, 1),
      headers,
    )
    expect([reply.status, reply.json]).toMatchObject([400, { id: 1, error: { code: -32602 } }])
  })

  test('a request without the name of its client is served', async () => {
    const { port } = await start()
    const { headers } = headed('tools/list')
    const { [META.clientInfo]: _, ...meta } = ENVELOPE
    expect((await post(port, message('tools/list', { _meta: meta }, 1), headers)).status).toBe(200)
  })

  test('initialize under the version header of 2026-07-28 is refused', async () => {
    const { port } = await start()
    const reply = await post(port, initialize(), {
      ...BOTH,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'initialize',
    })
    expect([reply.status, reply.json['error']]).toMatchObject([400, { code: -32020 }])
  })
})

describe('statuses', () => {
  test.each([
    'nothing/here',
    'ping',
    'initialize',
    'logging/setLevel',
    'resources/subscribe',
    'prompts/list',
    'tasks/list',
  ])('N.unknown %s is 404 and -32601 [R122] [R053]', async (method) => {
    const { port } = await start()
    const { body, headers } = headed(method)
    const reply = await post(port, body, headers)
    expect([reply.status, reply.json]).toMatchObject([404, { id: 1, error: { code: -32601 } }])
  })

  test('an unknown tool is an error in a reply of 200', async () => {
    const { port } = await start()
    const { body, headers } = headed('tools/call', { name: 'nothing' })
    const reply = await post(port, body, headers)
    expect([reply.status, reply.json['error']]).toMatchObject([200, { code: -32602 }])
  })

  test('what needs an undeclared capability is 400 and -32021, also for a client that takes only events [R051]', async () => {
    const app = tools().tool('model', {}, (_, { sample }) => sample({ messages: [], maxTokens: 1 }))
    const { port } = await start(app)
    const { body, headers } = headed('tools/call', { name: 'model' })
    for (const accept of ['*/*', 'text/event-stream']) {
      const reply = await post(port, body, { ...headers, accept })
      expect([reply.status, reply.json['error']]).toMatchObject([
        400,
        { code: -32021, message: expect.stringContaining('sampling') },
      ])
    }
  })

  test('N.notification a notification is 202 without a body [R124] [R110]', async () => {
    const { port } = await start()
    const { headers } = headed('notifications/cancelled')
    const reply = await post(
      port,
      message('notifications/cancelled', { requestId: 1, _meta: ENVELOPE }),
      headers,
    )
    expect([reply.status, reply.text]).toEqual([202, ''])
  })

  test('N.response a response that is posted is refused [R110]', async () => {
    const { port } = await start()
    const reply = await post(port, '{"jsonrpc":"2.0","id":1,"result":{}}', {
      ...BOTH,
      'mcp-protocol-version': '2026-07-28',
    })
    expect(reply.status).toBe(400)
  })

  test('N.get N.delete other verbs under the version header of 2026-07-28 are 405', async () => {
    const { port } = await start()
    for (const method of ['GET', 'DELETE']) {
      const headers = {
        accept: 'text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-session-id': 'x',
        'last-event-id': 'r1_0',
      }
      const reply = await send(port, { method, headers })
      expect([reply.status, reply.headers.allow]).toMatchObject([405, expect.stringContaining('POST')])
    }
  })

  test('N.session-header session and event headers are ignored, and no session id comes back [R130]', async () => {
    const { port, endpoint } = await start()
    const more = { 'mcp-session-id': 'mine', 'last-event-id': 'r1_0' }
    const reply = await post(port, ECHO.body, { ...ECHO.headers, ...more })
    expect([reply.status, reply.headers['mcp-session-id']]).toEqual([200, undefined])
    expect(endpoint.sessions.size).toBe(0)
  })
})

describe('a client that goes away', () => {
  /** A tool that waits until it is stopped. */
  function waiting(): { app: App; entered: Promise<void>; stopped: Promise<void> } {
    const gate = new Gate()
    let stop: () => void
    const stopped = new Promise<void>((resolve) => (stop = resolve))
    const app = tools().tool('wait', {}, async (_, { signal, progress }) => {
      signal.addEventListener('abort', () => stop())
      progress(1)
      gate.enter()
      await stopped
      progress(2)
      return 'never'
    })
    return { app, entered: gate.entered, stopped }
  }

  test('F11 from an open stream cancels its request [R127]', async () => {
    const { app, stopped } = waiting()
    const { port, endpoint } = await start(app)
    const { body, headers } = headed('tools/call', { name: 'wait', _meta: { progressToken: 1 } })
    const open = await stream(port, { body, headers })
    await open.until(({ messages }) => messages.length === 1)
    open.drop()
    await stopped
    await expect.poll(() => endpoint.running).toBe(0)
    expect(open.messages).toHaveLength(1)
  })

  test('F11 before the reply began cancels its request [R127]', async () => {
    const { app, entered, stopped } = waiting()
    const { port, endpoint } = await start(app)
    const { body, headers } = headed('tools/call', { name: 'wait' })
    const controller = new AbortController()
    const reply = fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      body,
      headers,
      signal: controller.signal,
    })
    const failed = reply.then(
      () => 'answered',
      () => 'aborted',
    )
    await entered
    controller.abort()
    await stopped
    expect(await failed).toBe('aborted')
    await expect.poll(() => endpoint.running).toBe(0)
  })
})

describe('listening', () => {
  const LISTEN = headed('subscriptions/listen', { notifications: { toolsListChanged: true } }, 7)

  test('begins with what is honoured and tells of changes, each marked with its id [R228] [R229]', async () => {
    const { port, app } = await start()
    const open = await stream(port, LISTEN)
    await open.until(({ messages }) => messages.length === 1)
    app.prompt('unasked', {}, () => 'x').tool('more', {}, () => 1)
    await open.until(({ messages }) => messages.length === 2)
    const marked = { _meta: { [META.subscriptionId]: 7 } }
    expect(open.messages).toMatchObject([
      {
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true }, ...marked },
      },
      { method: 'notifications/tools/list_changed', params: marked },
    ])
    expect(open.response.headers['x-accel-buffering']).toBe('no')
  })

  test('a quiet stream gets comments', async () => {
    const { port } = await start(tools(), { limits: { keepAliveMs: 20 } })
    const open = await stream(port, LISTEN)
    await open.until(({ raw }) => raw.split(': keep-alive\n\n').length > 3)
    expect(open.events).toHaveLength(1)
  })

  test('N.listen-300 three hundred listeners that go away leave nothing behind', async () => {
    const { port, app, endpoint } = await start()
    const opened = await Promise.all(
      Array.from({ length: 300 }, (_, id) =>
        stream(port, headed('subscriptions/listen', { notifications: { toolsListChanged: true } }, id)),
      ),
    )
    await Promise.all(opened.map((one) => one.until(({ messages }) => messages.length === 1)))
    expect(serviceOf(app).changes.listeners).toBe(300)
    for (const one of opened) one.drop()
    await expect.poll(() => [serviceOf(app).changes.listeners, endpoint.running]).toEqual([0, 0])
  })

  test.each([
    [{}, -32602],
    [{ notifications: null }, -32602],
    [{ notifications: [] }, -32602],
    [{ notifications: { toolsListChanged: 'yes' } }, -32602],
    [{ notifications: { resourceSubscriptions: 'x' } }, -32602],
    [{ notifications: { resourceSubscriptions: Array(1001).fill('a:b') } }, -32602],
  ])('N.listen-odd the filter %j is refused', async (params, code) => {
    const { port } = await start()
    const { body, headers } = headed('subscriptions/listen', params as never)
    expect((await post(port, body, headers)).json['error']).toMatchObject({ code })
  })

  test('N.listen-odd a filter of which nothing is honoured is acknowledged and over [R228] [R229]', async () => {
    const { port } = await start(createServer({ name: 'bare', version: '1' }).tool('a', {}, () => 1))
    const { body, headers } = headed('subscriptions/listen', {
      notifications: { promptsListChanged: true, ['__proto__']: true },
    })
    const reply = await post(port, body, headers)
    expect(reply.events.map(({ data }) => JSON.parse(data))).toMatchObject([
      { params: { notifications: {} } },
      { id: 1, result: {} },
    ])
  })
})

test('a thousand clients that all use the same id get their own answers [S3-9-9]', async () => {
  const app = tools().tool(
    'later',
    { input: { type: 'object', properties: { text: { type: 'string' } } } as const },
    async ({ text }) => {
      await new Promise((resolve) => setTimeout(resolve, Number(text) % 7))
      return `${text}`
    },
  )
  const { port } = await start(app)
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const opened = await Promise.all(Array.from({ length: 20 }, () => open(port)))
  const replies = await Promise.all(
    Array.from({ length: 1000 }, (_, at) => {
      const session = opened[at]
      if (session !== undefined) return session.post(call('later', { text: `${at}` }, 1))
      return send(port, {
        ...headed('tools/call', { name: 'later', arguments: { text: `${at}` } }, 1),
        agent,
      })
    }),
  )
  agent.destroy()
  for (const [at, { json }] of replies.entries())
    expect(json).toMatchObject({ id: 1, result: { content: [{ text: `${at}` }] } })
})

test('requests of both kinds share one URL at the same time', async () => {
  const { port } = await start()
  const opened = await post(port, initialize(), BOTH)
  const headers = { ...BOTH, 'mcp-session-id': opened.headers['mcp-session-id'] as string }
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      at % 2 === 0
        ? post(port, call('echo', { text: `${at}` }, at + 1), headers)
        : post(port, ECHO.body, ECHO.headers),
    ),
  )
  for (const [at, { json }] of replies.entries()) {
    expect(json).toMatchObject({ result: { content: [{ text: at % 2 === 0 ? `${at}` : 'hi' }] } })
    expect('resultType' in (json['result'] as object)).toBe(at % 2 === 1)
  }
})
