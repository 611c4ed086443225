import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { connect } from '../../src/client.ts'
import { createServer, image, text, ToolError } from '../../src/index.ts'
import { toolStream } from '../../src/extensions.ts'
import { Connection } from '../../src/transport/io/connection.ts'
import { CAPABILITIES, scripted, spoken } from '../client/scripted.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'
import { declare, joinWith } from './declare.ts'

const ID = 'dev.pierhead/tools'
const STREAM = `${ID}/stream`
const CONTENT = 'dev.pierhead/content'
const PROGRESS = 'notifications/progress'

let cleaned: () => void = () => undefined

function createStreaming() {
  return createServer({ name: 'streams', version: '1', log: () => undefined })
    .tool('steps', {}, function* () {
      yield 'one'
      yield [text('two'), image('AAAA', 'image/png')]
      yield { n: 3 }
    })
    .tool(
      'counts',
      { input: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] } },
      ({ to }, ctx) => {
        ctx.progress(10, 20, 'half', 'first')
        ctx.progress(5, 20, 'back', 'second')
        ctx.progress(4, 20, 'dropped')
        ctx.progress(20, 20)
        return `counted to ${to}`
      },
    )
    .tool('plain', {}, () => 'plain')
    .tool('typed', { output: { type: 'array', items: { type: 'number' } } }, async function* () {
      yield 'working'
      return [1, 2]
    })
    .tool('fails', {}, function* () {
      yield 'one'
      throw new ToolError('broke')
    })
    .tool('asks', {}, async function* (_, ctx) {
      yield 'asking'
      const answer = await ctx.elicit('Who?', {
        type: 'object',
        properties: { name: { type: 'string' } },
      } as const)
      yield `hello ${answer.content?.name}`
    })
    .tool('endless', {}, async function* (_, { signal }) {
      try {
        for (let at = 0; ; at++) {
          yield `step ${at}`
          await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        if (signal.aborted) cleaned()
      }
    })
    .extend(toolStream)
}

scenario(
  'a streamed call tells its content piece by piece, and ends with the result of tools/call [S2-4.1-2] [S2-9.4-2] [S1-5-4]',
  () => createStreaming(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const message = (words: string): object => (revision === '2024-11-05' ? {} : { message: words })
    const result = await client.get(STREAM, { name: 'steps' }, { meta: { progressToken: 't' } })
    expect(client.heard(PROGRESS)).toEqual([
      { progressToken: 't', progress: 1, ...message('one'), _meta: { [CONTENT]: [text('one')] } },
      {
        progressToken: 't',
        progress: 3,
        ...message('two'),
        _meta: { [CONTENT]: [text('two'), image('AAAA', 'image/png')] },
      },
      { progressToken: 't', progress: 4, ...message('{"n":3}'), _meta: { [CONTENT]: [text('{"n":3}')] } },
    ])
    expect(result).toEqual(await client.call('steps'))
    for (const name of ['plain', 'typed', 'fails'])
      expect(await client.get(STREAM, { name, arguments: {} })).toEqual(await client.call(name, {}))
  },
)

scenario(
  'without a progress token the pieces belong to the id of the request [S2-4.1-2]',
  () => createStreaming(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    await client.get(STREAM, { name: 'fails' }, { id: 'the-id' })
    expect(client.heard(PROGRESS)).toMatchObject([
      { progressToken: 'the-id', _meta: { [CONTENT]: [text('one')] } },
    ])
  },
)

scenario(
  'what a handler reports with its progress is told too, and progress only rises [S1-5-4]',
  () => createStreaming(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const result = await client.get(STREAM, { name: 'counts', arguments: { to: 3 } })
    expect(result).toMatchObject({ content: [text('counted to 3')] })
    const heard = client.heard(PROGRESS)
    expect(heard.map((one) => (one['_meta'] as Record<string, unknown> | undefined)?.[CONTENT])).toEqual([
      [text('first')],
      [text('second')],
      undefined,
    ])
    const values = heard.map((one) => one['progress'] as number)
    expect(values[0]).toBe(10)
    expect(values[1]).toBeGreaterThan(10)
    expect(values[2]).toBe(20)
  },
)

scenario(
  'an ordinary call of the same tool tells no content [S2-4.1-2]',
  () => createStreaming(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    await client.call('counts', { to: 3 }, { meta: { progressToken: 't' } })
    expect(client.heard(PROGRESS).every((one) => one['_meta'] === undefined)).toBe(true)
    expect(client.heard(PROGRESS).map((one) => one['progress'])).toEqual([10, 20])
  },
)

scenario(
  'a streamed call is refused as tools/call would be',
  () => createStreaming(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    for (const params of [{}, { name: 3 }, { name: 'none' }, { name: 'steps', arguments: [] }]) {
      const streamed = await refusal(client.request(STREAM, params))
      const called = await refusal(client.request('tools/call', params))
      expect([streamed.code, streamed.message]).toEqual([called.code, called.message])
    }
    const wrong = { name: 'counts', arguments: { to: 'x' } }
    if (revision < '2025-11-25') expect((await refusal(client.request(STREAM, wrong))).code).toBe(-32602)
    else expect(await client.get(STREAM, wrong)).toEqual(await client.get('tools/call', wrong))
  },
)

scenario(
  'a streamed call asks the user, in rounds where the revision has them',
  () => createStreaming(),
  async (_official, revision, stage) => {
    const capabilities = { ...declare(revision, ID), elicitation: { form: {} } }
    const client = await stage.join({ capabilities })
    client.answer('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }))
    const result = await client.get(STREAM, { name: 'asks' })
    expect(result).toMatchObject({ content: [text('asking'), text('hello Ada')] })
  },
  { since: '2025-06-18' },
)

scenario(
  'a streamed call that is cancelled stops its tool and tells nothing more',
  () => createStreaming(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const ended = new Promise<void>((resolve) => (cleaned = resolve))
    const stop = new AbortController()
    const streamed = client.request(STREAM, { name: 'endless' }, { signal: stop.signal })
    streamed.catch(() => undefined)
    await client.hear(PROGRESS, 3)
    stop.abort()
    await ended
    await client.settle()
    const count = client.heard(PROGRESS).length
    await client.settle()
    expect(client.heard(PROGRESS)).toHaveLength(count)
  },
)

scenario(
  'what guards tools/call guards the streamed call, which passes middleware once',
  () => {
    const app = createStreaming()
    const passed: string[] = []
    app.use((context, next) => {
      passed.push(context.method)
      return next()
    })
    app.use('tools/call', async (context, next) => {
      if (context.params['name'] === 'plain') throw new ToolError('guarded')
      return { ...(await next()), passed: passed.splice(0).join() }
    })
    return app
  },
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    await client.settle()
    await client.request(STREAM, { name: 'plain' }).catch(() => undefined)
    const { passed } = await client.get(STREAM, { name: 'steps' })
    expect(String(passed).split(',').slice(-2)).toEqual(['tools/call', 'tools/call'])
    expect((await refusal(client.request(STREAM, { name: 'plain' }))).code).toBe(-32603)
  },
)

test('a streamed call passes the interceptors of tools/call, and observers see which tool it names', async () => {
  const app = createStreaming()
  const passed: string[] = []
  app.intercept(STREAM, (_call, next) => (passed.push('streamed'), next()))
  app.intercept('tools/call', ({ params }, next) => {
    passed.push(`called ${String(params['name'])}`)
    return params['name'] === 'plain' ? { isError: true, content: [text('paused')] } : next()
  })
  const targets: unknown[] = []
  app.use({ observer: { start: ({ method, target }) => void targets.push([method, target]) } })
  const client = await connect(app, { extensions: [toolStream] })
  const blocked = toolStream.of(client).stream('plain')
  expect(await blocked.next()).toMatchObject({ done: true, value: { content: [text('paused')] } })
  for await (const _piece of toolStream.of(client).stream('steps')) break
  expect(passed).toEqual(['streamed', 'called plain', 'streamed', 'called steps'])
  expect(targets.slice(-2)).toEqual([
    [STREAM, 'plain'],
    [STREAM, 'steps'],
  ])
  await client.close()
})

test('a client takes the pieces in a loop, and the whole result in the end', async () => {
  for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'] as const) {
    const client = await connect(createStreaming(), { extensions: [toolStream], revision })
    const stream = toolStream.of(client).stream('steps')
    const pieces = []
    let step = await stream.next()
    for (; step.done !== true; step = await stream.next()) pieces.push(step.value)
    expect(pieces).toEqual([[text('one')], [text('two'), image('AAAA', 'image/png')], [text('{"n":3}')]])
    expect(step.value.content).toEqual(pieces.flat())
    expect(step.value.isError).toBe(false)
    await client.close()
  }
})

test('a loop that is left cancels the call', async () => {
  const client = await connect(createStreaming(), { extensions: [toolStream] })
  const ended = new Promise<void>((resolve) => (cleaned = resolve))
  const pieces: unknown[] = []
  for await (const piece of toolStream.of(client).stream('endless')) {
    pieces.push(piece)
    break
  }
  expect(pieces).toEqual([[text('step 0')]])
  await ended
  await client.close()
})

test('a signal of the caller ends the loop with its reason', async () => {
  const client = await connect(createStreaming(), { extensions: [toolStream] })
  const stop = new AbortController()
  const loop = async (): Promise<void> => {
    for await (const _piece of toolStream.of(client).stream('endless', {}, { signal: stop.signal }))
      stop.abort()
  }
  await expect(loop()).rejects.toThrow('the request was cancelled')
  await client.close()
})

test('pieces keep a slow call alive beyond the silence that would end it', async () => {
  const app = createServer({ name: 'slow', version: '1' })
    .tool('slow', {}, async function* () {
      for (let at = 0; at < 6; at++) {
        yield `${at}`
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
    })
    .extend(toolStream)
  const client = await connect(app, { extensions: [toolStream], timeout: '1500ms' })
  const pieces = []
  for await (const piece of toolStream.of(client).stream('slow')) pieces.push(piece)
  expect(pieces).toHaveLength(6)
  await client.close()
})

test('pieces that nobody takes are not kept without end: the call ends with an error', async () => {
  let wasStopped = (): void => undefined
  const stopped = new Promise<void>((resolve) => (wasStopped = resolve))
  const app = createServer({ name: 'flood', version: '1' })
    .tool('flood', {}, async function* (_, { signal }) {
      signal.addEventListener('abort', wasStopped)
      for (let at = 0; at < 100 && !signal.aborted; at++) {
        yield 'x'.repeat(1_000_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    .extend(toolStream)
  const client = await connect(app, { extensions: [toolStream] })
  const stream = toolStream.of(client).stream('flood')
  await stream.next()
  await stopped
  const rest = (async () => {
    for await (const _piece of stream) continue
  })()
  await expect(rest).rejects.toMatchObject({ kind: 'answer_too_large' })
  await client.close()
})

test('an id too large to write as a number needs a progress token', async () => {
  const received: string[] = []
  const end = createStreaming().connect({ receive: (line) => received.push(line) })
  const capabilities = { extensions: { [ID]: {} } }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const params = JSON.stringify({ name: 'steps', _meta: meta })
  end.send(`{"jsonrpc":"2.0","id":9007199254740993,"method":"${STREAM}","params":${params}}`)
  await expect.poll(() => received.length).toBe(1)
  expect(received[0]).toContain('it needs a progress token, or a smaller id')
  end.close()
})

test('a client that is far behind misses plain progress, but no piece of content', async () => {
  const app = createStreaming()
  const sent: string[] = []
  const { limits } = app
  const connection = new Connection({
    service: serviceOf(app),
    limits,
    source: {},
    send: (line) => sent.push(line),
    isBehind: () => true,
  })
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { [ID]: {} } },
  }
  const params = { name: 'counts', arguments: { to: 1 }, _meta: meta }
  connection.receive(JSON.stringify({ jsonrpc: '2.0', id: 1, method: STREAM, params }))
  await expect.poll(() => sent.some((line) => line.includes('counted to 1'))).toBe(true)
  expect(sent.filter((line) => line.includes(PROGRESS))).toHaveLength(2)
  expect(app.counts.get('notice_dropped')).toBe(1)
  connection.close()
})

test('a streamed call that fails has one reference: in its result, in the log and for observers', async () => {
  const references: unknown[] = []
  const app = createServer({
    name: 'streams',
    version: '1',
    log: (_level, _message, facts) => void references.push(facts?.['reference']),
  })
    .tool('breaks', {}, async (_input, { reference }) => {
      references.push(reference)
      throw new Error('no')
    })
    .extend(toolStream)
  app.use({
    observer: { start: ({ method, reference }) => void (method === STREAM && references.push(reference)) },
  })
  const client = await connect(app, { extensions: [toolStream] })
  const result = await client.request(STREAM, { name: 'breaks', _meta: { progressToken: 1 } })
  await client.close()
  const [, reference] = /\(reference ([-0-9a-f]{36})\)/.exec(JSON.stringify(result)) ?? []
  expect(references).toEqual([reference, reference, reference])
})

test('pieces that nobody takes count with the memory that they need, not with their text', async () => {
  const piece = Array.from({ length: 450_000 }, () => ({}))
  const capabilities = { ...CAPABILITIES, extensions: { [ID]: {} } }
  const server = scripted(
    '2026-07-28',
    ({ method, params }, peer) => {
      if (method !== STREAM) return false
      const { progressToken } = (params?.['_meta'] ?? {}) as { progressToken?: number }
      for (let progress = 1; progress <= 8; progress++)
        peer.send({ method: PROGRESS, params: { progressToken, progress, _meta: { [CONTENT]: piece } } })
      peer.reply(spoken('done'))
      return true
    },
    capabilities,
  )
  await using client = await connect(server, { extensions: [toolStream] })
  const read = async (): Promise<void> => {
    for await (const _piece of toolStream.of(client).stream('flood')) continue
  }
  await expect(read()).rejects.toMatchObject({ kind: 'answer_too_large' })
})

test('a streamed call passes the middleware of tools/call on both sides, and middleware for its own method', async () => {
  const app = createStreaming()
  const passed: string[] = []
  app.use('tools/call', (_context, next) => (passed.push('server'), next()))
  await using client = await connect(app, { extensions: [toolStream] })
  client.use(({ method }, next) => (passed.push(`any ${method}`), next()))
  client.use(STREAM, ({ method }, next) => (passed.push(`own ${method}`), next()))
  client.use('tools/call', async ({ method, params }, next) => {
    passed.push(`call ${method}`)
    if (params['name'] !== 'plain') throw new Error('not approved')
    return { ...(await next({ params: { ...params, name: 'typed' } })), isError: true }
  })
  const drained = async (name: string): Promise<unknown> => {
    const stream = toolStream.of(client).stream(name)
    let step = await stream.next()
    while (step.done !== true) step = await stream.next()
    return step.value
  }
  expect(await drained('plain')).toMatchObject({ isError: true, structuredContent: [1, 2] })
  expect(passed).toEqual(['any tools/call', `own ${STREAM}`, 'call tools/call', 'server'])
  await expect(drained('steps')).rejects.toThrow('not approved')
  await expect(client.request(STREAM, { name: 'steps' })).rejects.toThrow('not approved')
  expect(passed.filter((one) => one === 'server')).toHaveLength(1)
})

test('a streamed call is checked as tools/call is: its input if the client checks it, its blocks and its output', async () => {
  const number = (name: string): object => ({
    type: 'object',
    properties: { [name]: { type: 'number' } },
    required: [name],
  })
  let result: object = { content: [], structuredContent: { v: 'not a number' } }
  const server = scripted(
    '2025-11-25',
    ({ method }, peer) => {
      if (method === 'tools/list')
        peer.reply({ tools: [{ name: 't', inputSchema: number('n'), outputSchema: number('v') }] })
      else if (method === STREAM) peer.reply(result as never)
      else return false
      return true
    },
    { ...CAPABILITIES, experimental: { [ID]: {} } },
  )
  await using client = await connect(server, { extensions: [toolStream], checkInput: true })
  await client.tools().toArray()
  const streamed = (input: object): Promise<unknown> =>
    toolStream
      .of(client)
      .stream('t', input as never)
      .next()
  await expect(streamed({ n: 1 })).rejects.toMatchObject({
    kind: 'bad_answer',
    message: expect.stringContaining('v: expected number'),
  })
  await expect(streamed({ n: 'one' })).rejects.toMatchObject({ kind: 'tool_arguments' })
  result = { content: [{ type: 'text' }], structuredContent: { v: 1 } }
  await expect(streamed({ n: 1 })).rejects.toMatchObject({ kind: 'bad_answer' })
  result = { content: [], structuredContent: { v: 1 } }
  expect(await streamed({ n: 1 })).toEqual({ done: true, value: result })
})
