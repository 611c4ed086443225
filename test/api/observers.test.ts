import { expect, onTestFinished, test } from 'vitest'
import {
  createServer,
  type App,
  type ObservedRequest,
  type Observer,
  type RequestEnd,
} from '../../src/index.ts'
import { call, initialize, message } from '../http/messages.ts'
import { open as openSession, start } from '../http/server.ts'
import { open, TRANSPORTS_OF_TEST } from './observed.ts'

interface Seen extends Observer {
  readonly log: string[]
  readonly ends: { readonly request: ObservedRequest; readonly end: RequestEnd }[]
}

function watch(app: App): Seen {
  const log: string[] = []
  const ends: { request: ObservedRequest; end: RequestEnd }[] = []
  const seen: Seen = {
    log,
    ends,
    start: ({ method }) => void log.push(`start ${method ?? '?'}`),
    end: (request, end) => {
      log.push(`end ${request.method ?? '?'} ${end.outcome}`)
      ends.push({ request, end })
    },
  }
  app.use({ observer: seen })
  return seen
}

/** A promise, and the function that resolves it. */
function createGate(): readonly [Promise<void>, () => void] {
  let open = (): void => undefined
  return [new Promise<void>((resolve) => (open = resolve)), () => open()]
}

function server(): App {
  return createServer({ name: 'observed', version: '1', log: () => undefined, limits: { inFlight: 1 } })
    .tool('now', {}, () => 'now')
    .tool('later', {}, async () => 'later')
    .tool('broken', {}, () => {
      throw new Error('no')
    })
}

test.each(TRANSPORTS_OF_TEST)(
  'over %s an observer sees the start and end of every request',
  async (transport) => {
    const app = server()
    const seen = watch(app)
    const client = await open(app, transport)
    seen.log.length = 0
    seen.ends.length = 0
    await client.call('now')
    await client.call('later')
    const failure = await client.call('broken').catch((error: unknown) => (error as Error).message)
    expect(failure).toMatch(/^tool "broken" failed/)
    await expect(client.request('tools/call', { name: 'nothing' })).rejects.toThrow('nothing')
    expect(seen.log).toEqual([
      'start tools/call',
      'end tools/call result',
      'start tools/call',
      'end tools/call result',
      'start tools/call',
      'end tools/call tool_error',
      'start tools/call',
      'end tools/call error',
    ])
    const { request, end } = seen.ends[0] as (typeof seen.ends)[number]
    expect(request).toMatchObject({ target: 'now', revision: '2025-11-25', client: { name: 'watcher' } })
    expect(request.size).toBeGreaterThan(20)
    expect(new Set(seen.ends.map((one) => one.request.reference)).size).toBe(4)
    expect(failure).toContain(`(reference ${seen.ends[2]?.request.reference})`)
    expect(end.durationMs).toBeGreaterThanOrEqual(0)
    expect(seen.ends[3]?.end.error).toMatchObject({ kind: 'unknown_tool' })
  },
)

test.each(TRANSPORTS_OF_TEST)('over %s a request that is cancelled ends as cancelled', async (transport) => {
  const app = server()
  const [running, begun] = createGate()
  app.tool('wait', {}, (_, { signal }) => {
    begun()
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    )
  })
  const seen = watch(app)
  const client = await open(app, transport)
  const stop = new AbortController()
  const answer = client.call('wait', {}, { signal: stop.signal })
  await running
  stop.abort()
  await expect(answer).rejects.toMatchObject({ kind: 'cancelled' })
  await expect.poll(() => seen.log.at(-1)).toBe('end tools/call cancelled')
})

test.each(TRANSPORTS_OF_TEST)(
  'over %s a promise from the end hook delays the response',
  async (transport) => {
    const app = server()
    const order: string[] = []
    const [gate, release] = createGate()
    const client = await open(app, transport)
    app.use({
      observer: {
        async end({ target }) {
          order.push(`ended ${target}`)
          await gate
          order.push(`released ${target}`)
        },
      },
    })
    const answers = ['now', 'later'].map(async (name) => {
      await client.call(name)
      order.push(`answered ${name}`)
    })
    await expect.poll(() => order).toEqual(['ended now', 'ended later'])
    release()
    await Promise.all(answers)
    expect(order.slice(2, 4)).toEqual(['released now', 'released later'])
    expect(order.slice(4).toSorted()).toEqual(['answered later', 'answered now'])
  },
)

test.each(['http', 'tcp', 'ws'] as const)(
  'over %s closing waits for responses that observers delay',
  async (transport) => {
    const app = server()
    const [gate, release] = createGate()
    const [ended, end] = createGate()
    const client = await open(app, transport)
    app.use({ observer: { end: () => (end(), gate) } })
    const answer = client.call('now')
    await ended
    let isClosed = false
    const closed = app.close().then(() => (isClosed = true))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(isClosed).toBe(false)
    release()
    expect(await answer).toBe('now')
    await closed
  },
)

test('a promise from the end hook also delays a response that follows progress on an event stream', async () => {
  const app = server().tool('steps', {}, async (_, { progress }) => {
    progress(1, 2)
    return 'done'
  })
  const [gate, release] = createGate()
  const [ended, end] = createGate()
  app.use({ observer: { end: ({ target }) => (target === 'steps' ? (end(), gate) : undefined) } })
  const { port } = await start(app)
  const session = await openSession(port)
  const reply = await session.stream(call('steps', {}, 5, { progressToken: 't' }))
  await ended
  await session.post(message('ping', {}, 6))
  expect(reply.messages).toMatchObject([{ method: 'notifications/progress' }])
  release()
  await reply.end()
  expect(reply.messages[1]).toMatchObject({ id: 5, result: { content: [{ text: 'done' }] } })
})

test('an observer learns the size of the response, also of a list that is sent from a cache', async () => {
  const app = server()
  const seen = watch(app)
  const sizes = (): (number | undefined)[] => seen.ends.map(({ end }) => end.size)
  const { port } = await start(app)
  const session = await openSession(port)
  const replies: string[] = []
  const memory = app.connect({ receive: (text) => void replies.push(text) })
  onTestFinished(() => memory.close())
  memory.send(initialize())
  seen.ends.length = 0
  for (const [id, body] of [
    message('tools/list', {}, 1),
    message('tools/list', {}, 2),
    call('now', {}, 3),
    call('later', {}, 4),
  ].entries()) {
    const { text } = await session.post(body)
    memory.send(body)
    await expect.poll(() => replies.length).toBe(id + 2)
    expect(sizes().slice(-2)).toEqual([text.length, replies.at(-1)?.length])
  }
})

test('the end hook also delays the response to a request rejected before any handler ran', async () => {
  const app = server()
  const [gate, release] = createGate()
  const methods: (string | undefined)[] = []
  app.use({ observer: { end: ({ method }) => (methods.push(method), gate) } })
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const order: string[] = []
  const replies: string[] = []
  const memory = app.connect({ receive: (text) => void replies.push(text) })
  onTestFinished(() => memory.close())
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  memory.send(request)
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = fetch(running.url as string, { method: 'POST', body: request, headers })
  const answered = post.then(({ status }) => void order.push(`answered ${status}`))
  await expect.poll(() => methods).toEqual(['tools/list', 'tools/list'])
  expect(replies).toEqual([])
  order.push('released')
  release()
  await answered
  expect(order).toEqual(['released', 'answered 400'])
  expect(replies).toEqual([expect.stringContaining('"id":1')])
})

test('requests that are rejected before a handler runs are seen too', async () => {
  const app = server()
  const seen = watch(app)
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const url = running.url as string
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (body: string, more: object = {}): Promise<Response> =>
    fetch(url, { method: 'POST', body, headers: { ...headers, ...more } })
  expect((await post('{"jsonrpc"')).status).toBe(400)
  expect((await post('{}', { origin: 'https://evil.example' })).status).toBe(403)
  expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
  expect(seen.ends.map(({ end }) => end.error?.kind)).toEqual([
    'parse_failed',
    'forbidden_origin',
    'bad_type',
  ])
  expect(seen.log.filter((line) => line.startsWith('start'))).toHaveLength(3)
  expect([...app.counts.keys()]).toEqual(['parse_failed', 'forbidden_origin', 'bad_type'])
})

test('on a connection, text that is not a message is seen, and so is a request too many', async () => {
  const app = server()
  const seen = watch(app)
  let release = (): void => undefined
  app.tool('hold', {}, () => new Promise((resolve) => (release = () => resolve('held'))))
  const replies: string[] = []
  const end = app.connect({ receive: (text) => void replies.push(text) })
  onTestFinished(() => end.close())
  const clientInfo = { name: 'watcher', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  end.send('nonsense')
  end.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
  end.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'initialize', params }))
  for (const id of [3, 4])
    end.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'hold' } }))
  expect(
    seen.ends.map(({ request, end: { outcome, error } }) => [request.method, outcome, error?.kind]),
  ).toEqual([
    [undefined, 'error', 'parse_failed'],
    ['tools/list', 'error', 'not_initialized'],
    ['initialize', 'result', undefined],
    ['tools/call', 'error', 'too_many_calls'],
  ])
  release()
  await expect.poll(() => seen.ends.length).toBe(5)
})

test('an observer that fails is reported and changes nothing', async () => {
  const reports: unknown[] = []
  const app = createServer({
    name: 'x',
    version: '1',
    log: (_level, text, facts) => void reports.push([text, facts]),
  })
  app.tool('now', {}, () => 'now')
  const fail = (): never => {
    throw new Error('observer')
  }
  app.use({ observer: { start: fail, end: fail } })
  app.use({ observer: { end: () => Promise.reject(new Error('later')) } })
  const client = await open(app, 'memory')
  reports.length = 0
  expect(await client.call('now')).toBe('now')
  const message = (text: string): unknown => [
    'an observer failed',
    { error: expect.objectContaining({ message: text }) },
  ]
  expect(reports).toEqual([message('observer'), message('observer'), message('later')])
})
