import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectGist, ToolError, type GistClient, type GistConnectOptions } from '../../src/gist.ts'
import { createServer } from '../../src/index.ts'
import { failureOf } from '../harness/failure.ts'
import { Gate } from '../http/server.ts'
import { serve, type Seen } from '../http-client/peer.ts'
import { start, tools } from './server.ts'

async function meet(url: string, options: GistConnectOptions = {}): Promise<GistClient> {
  const client = await connectGist(url, options)
  onTestFinished(() => client.close())
  return client
}

const DESCRIPTOR = {
  version: '2025-11',
  client_id: 'me',
  server_id: 'other',
  transport: 'http',
  capabilities: ['stream'],
  session: '00000000-0000-4000-8000-000000000001',
  mcp_version: '2025-11',
}

type Envelope = Readonly<Record<string, unknown>>

/** A server of somebody else, which answers a handshake and whatever the test says. */
async function other(
  answer: (envelope: Envelope, response: ServerResponse, seen: Seen) => object | undefined,
  shake: (envelope: Envelope) => object = () => DESCRIPTOR,
): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  return serve((seen, response) => {
    const envelope = seen.message as unknown as Envelope
    const reply = 'mcp_version' in envelope ? shake(envelope) : answer(envelope, response, seen)
    if (reply === undefined) return
    const status = (reply as { status?: unknown }).status === 'error' ? 400 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
}

const refused = (supported: readonly string[]): object => ({
  request_id: null,
  status: 'error',
  error: { code: -32022, message: 'no', data: { supported } },
})

describe('the handshake of the client', () => {
  test('gives the descriptor, and calls go on in its session [S1-2-2]', async () => {
    const { url } = await start()
    const client = await meet(url, { clientId: 'desk', clientName: 'Desk' })
    expect(client.descriptor).toMatchObject({
      version: '2025-11',
      client_id: 'desk',
      server_id: 'wire',
      transport: 'http',
      capabilities: ['stream', 'schema_ref'],
    })
    const reply = await client.call('echo', { text: 'hello' }, { traceId: 'abc' })
    expect(reply).toMatchObject({
      status: 'success',
      result: { content: [{ type: 'text', text: 'hello' }] },
      metadata: { duration_ms: expect.any(Number) },
    })
  })

  test('takes what is one cycle older [S1-2-3]', async () => {
    const app = createServer({ name: 'old', version: '1', revisions: ['2025-06-18'] })
    const { url } = await start(app)
    expect((await meet(url)).descriptor).toMatchObject({ version: '2025-06', mcp_version: '2025-06' })
  })

  test('refuses what is two cycles older with a typed error [S1-2-3]', async () => {
    const app = createServer({ name: 'old', version: '1', revisions: ['2025-03-26'] })
    const { url } = await start(app)
    const error = await failureOf(connectGist(url))
    expect([error.kind, error.message]).toEqual(['no_revision', expect.stringContaining('2025-03')])
    expect((await meet(url, { version: '2025-06' })).descriptor.version).toBe('2025-03')
  })

  test('asks again, for less, a server that only refuses [S1-2-3]', async () => {
    const asked: unknown[] = []
    const { url } = await other(
      () => undefined,
      ({ mcp_version: version }) => {
        asked.push(version)
        if (version === '2025-06') return { ...DESCRIPTOR, version, mcp_version: version }
        return refused(['2024-11', '2025-06'])
      },
    )
    expect((await meet(url)).descriptor.version).toBe('2025-06')
    expect(asked).toEqual(['2025-11', '2025-06'])
  })

  test('counts calendar months on request [S1-2-3]', async () => {
    const app = createServer({ name: 'old', version: '1', revisions: ['2025-06-18'] })
    const { url } = await start(app)
    expect(await failureOf(connectGist(url, { cycle: 'month' }))).toMatchObject({ kind: 'no_revision' })
    expect((await meet(url, { cycle: 'month', version: '2025-07' })).descriptor.version).toBe('2025-06')
  })

  test.each([
    ['a version that we do not know', { ...DESCRIPTOR, mcp_version: '2025-10' }, 'no_revision'],
    ['a version that is newer than ours', { ...DESCRIPTOR, mcp_version: '2026-07' }, 'no_revision'],
    ['no version', { ...DESCRIPTOR, mcp_version: undefined }, 'bad_answer'],
    ['no session', { ...DESCRIPTOR, session: undefined }, 'bad_answer'],
    ['capabilities that are none', { ...DESCRIPTOR, capabilities: 'stream' }, 'bad_answer'],
    ['versions that are none', refused(['yesterday']), 'no_revision'],
    ['no versions', refused([]), 'revision_unsupported'],
  ])('refuses %s', async (_, answer, kind) => {
    const { url } = await other(
      () => undefined,
      () => answer,
    )
    expect(await failureOf(connectGist(url))).toMatchObject({ kind })
  })

  test('fails where the route is not served, and where nothing listens', async () => {
    const { url } = await start(tools(), { gist: false })
    expect(await failureOf(connectGist(url))).toMatchObject({ kind: 'http_failed' })
    expect(await failureOf(connectGist('http://127.0.0.1:1/gist'))).toMatchObject({ kind: 'connect_failed' })
  })

  test.each<[string, GistConnectOptions | string, RegExp]>([
    ['an unknown option', { clientid: 'x' } as object, /did you mean "clientId"/],
    [
      'a version that is none',
      { version: 'new' },
      /version must be a month such as 2025-11, or a date, not "new"/,
    ],
    ['a cycle that is none', { cycle: 'year' as 'month' }, /cycle must be 'revision' or 'month', not "year"/],
    ['a header that is none', { headers: { 'a b': 'x' } }, /not a header name/],
    ['a URL that is none', 'nowhere', /not a URL/],
    ['a URL that is not HTTP', 'ws://localhost/gist', /not an http/],
  ])('refuses %s', async (_, given, words) => {
    const asked =
      typeof given === 'string' ? connectGist(given) : connectGist('http://127.0.0.1:1/gist', given)
    expect((await failureOf(asked)).message).toMatch(words)
  })
})

describe('a call of the client', () => {
  test('receives progress and parts of the output [S1-5-4] [S1-4.2-1]', async () => {
    const { url } = await start()
    const client = await meet(url)
    const heard: unknown[] = []
    const reply = await client.call(
      'steps',
      { count: 4 },
      { onProgress: ({ progress, result }) => heard.push([progress, result?.['content']]) },
    )
    expect(heard).toEqual(
      [25, 50, 75, 100].map((percent, at) => [{ percent }, [{ type: 'text', text: `step ${at + 1}` }]]),
    )
    expect(reply.result).toMatchObject({ content: [{ text: 'done' }] })
  })

  test('throws the failure of a tool, and the refusal of a server', async () => {
    const app = tools()
    app.tool('deny', {}, () => {
      throw new ToolError('closed', { until: 7 })
    })
    const { url } = await start(app)
    const client = await meet(url)
    const denied = client.call('deny')
    await expect(denied).rejects.toBeInstanceOf(ToolError)
    await expect(denied).rejects.toMatchObject({ message: 'closed', data: { until: 7 } })
    const error = await failureOf(client.call('ehco'))
    expect([error.kind, error.message]).toEqual(['unknown_tool', expect.stringContaining('"echo"')])
  })

  test('ends when its time is up, which progress begins anew, and the tool is stopped', async () => {
    const app = tools()
    const gate = new Gate()
    app.tool('slow', {}, async (_input, { signal, progress }) => {
      signal.addEventListener('abort', () => gate.open())
      for (let step = 1; step <= 4; step++) {
        await new Promise((resolve) => setTimeout(resolve, 300))
        progress(step, 4)
      }
      await gate.opened
    })
    const { url } = await start(app)
    const client = await meet(url, { timeout: '10s' })
    const heard: unknown[] = []
    const error = await failureOf(
      client.call('slow', {}, { timeout: 1000, onProgress: ({ progress }) => heard.push(progress?.percent) }),
    )
    expect([error.kind, heard]).toEqual(['timeout', [25, 50, 75, 100]])
    expect(error.message).toContain('1000 ms')
    await gate.opened
    expect(await failureOf(client.call('slow', {}, { total: 80 }))).toMatchObject({ kind: 'timeout' })
  })

  test('ends when its caller no longer waits, or the client closes', async () => {
    const app = tools()
    const gates = [new Gate(), new Gate()]
    let calls = 0
    app.tool('wait', {}, async (_input, { signal }) => {
      const gate = gates[calls++] as Gate
      signal.addEventListener('abort', () => gate.open())
      gate.enter()
      await gate.opened
    })
    const { url } = await start(app)
    const client = await meet(url)
    const controller = new AbortController()
    const first = failureOf(client.call('wait', {}, { signal: controller.signal }))
    await gates[0]?.entered
    controller.abort()
    expect(await first).toMatchObject({ kind: 'cancelled' })
    await gates[0]?.opened
    const second = failureOf(client.call('wait'))
    await gates[1]?.entered
    await client.close()
    expect(await second).toMatchObject({ kind: 'closed' })
    await gates[1]?.opened
    expect(await failureOf(client.call('wait'))).toMatchObject({ kind: 'closed' })
  })

  test('opens a new session when the server forgot ours, once for all that wait', async () => {
    let opened = 0
    const fresh = '00000000-0000-4000-8000-000000000002'
    const { url, seen } = await other(
      ({ request_id: id, session }) =>
        session === fresh
          ? { request_id: id, status: 'success', result: { content: [] } }
          : {
              request_id: id,
              status: 'error',
              error: { code: -32001, message: 'gone', refusal: { code: 1016, name: 'SESSION_INVALID' } },
            },
      () => (opened++ === 0 ? DESCRIPTOR : { ...DESCRIPTOR, session: fresh }),
    )
    const client = await meet(url)
    const replies = await Promise.all(['a', 'b', 'c'].map((name) => client.call(name)))
    expect(replies.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
    expect([opened, client.descriptor.session]).toEqual([2, fresh])
    expect(seen).toHaveLength(2 + 6)
  })

  test('is refused when the server forgets the new session too', async () => {
    const { url, seen } = await other(({ request_id: id }) => ({
      request_id: id,
      status: 'error',
      error: { code: -32001, message: 'gone', refusal: { code: 1026, name: 'INVALID_SESSION_ID' } },
    }))
    const client = await meet(url)
    expect(await failureOf(client.call('any'))).toMatchObject({ code: -32001, message: 'gone' })
    expect(seen).toHaveLength(4)
  })

  test('sends the headers of its caller, and names itself', async () => {
    const { url, seen } = await other(({ request_id: id }) => ({
      request_id: id,
      status: 'success',
      result: { content: [] },
    }))
    let count = 0
    const client = await meet(url, { headers: () => ({ 'x-count': String(++count) }), clientName: 'Desk' })
    await client.call('any', {}, { traceId: 't' })
    expect(seen.map(({ headers }) => headers['x-count'])).toEqual(['1', '2'])
    expect(seen.at(-1)?.message).toMatchObject({
      tool_id: 'any',
      mode: 'sync',
      session: DESCRIPTOR.session,
      context: { client_name: 'Desk', trace_id: 't' },
    })
  })
})

describe('a server that answers nonsense', () => {
  test.each<[string, (id: unknown) => object, string]>([
    ['another request', () => ({ request_id: 'x', status: 'success', result: {} }), 'bad_answer'],
    ['no request', () => ({ status: 'success', result: {} }), 'bad_answer'],
    ['no status', (id) => ({ request_id: id, result: {} }), 'bad_answer'],
    ['no result', (id) => ({ request_id: id, status: 'success' }), 'bad_answer'],
    ['a list', () => [], 'bad_answer'],
    ['a job', (id) => ({ request_id: id, status: 'in_progress', job_id: 'j', poll_after: 5 }), 'bad_answer'],
    ['an empty error', (id) => ({ request_id: id, status: 'error', error: {} }), 'bad_answer'],
    ['no error at all', (id) => ({ request_id: id, status: 'error' }), 'bad_answer'],
  ])('about %s is told apart', async (_, answer, kind) => {
    const { url } = await other(({ request_id: id }) => answer(id))
    const client = await meet(url)
    expect(await failureOf(client.call('any'))).toMatchObject({ kind })
  })

  test.each<[string, (response: ServerResponse) => void, string]>([
    [
      'what is not JSON',
      (to) => to.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'bad_answer',
    ],
    ['a page', (to) => to.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), 'bad_answer'],
    [
      'the page of a proxy',
      (to) => to.writeHead(502, { 'content-type': 'text/html' }).end('<p>'),
      'http_failed',
    ],
    [
      'JSON of a proxy',
      (to) => to.writeHead(502, { 'content-type': 'application/json' }).end('{}'),
      'http_failed',
    ],
    ['nothing', (to) => to.destroy(), 'stream_lost'],
    [
      'half a body',
      (to) => half(to, { 'content-length': '100', 'content-type': 'application/json' }),
      'stream_lost',
    ],
    ['a stream without a result', (to) => to.writeHead(200, EVENTS).end(': hello\n\n'), 'stream_lost'],
    ['a broken stream', (to) => half(to, EVENTS), 'stream_lost'],
    ['nonsense on a stream', (to) => to.writeHead(200, EVENTS).end('data: {\n\n'), 'bad_answer'],
    [
      'too much',
      (to) => to.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(20_000)}"`),
      'answer_too_large',
    ],
    [
      'too much on a stream',
      (to) => to.writeHead(200, EVENTS).end(`data: ${'x'.repeat(20_000)}\n\n`),
      'answer_too_large',
    ],
    [
      'what is too deep',
      (to) =>
        to
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"a":${'['.repeat(200)}${']'.repeat(200)}}`),
      'bad_answer',
    ],
    ['another place', (to) => to.writeHead(307, { location: 'http://evil.example/' }).end(), 'http_failed'],
  ])('with %s fails the call', async (_, answer, kind) => {
    const { url } = await other((_envelope, response) => {
      answer(response)
      return undefined
    })
    const client = await meet(url, { limits: { clientBytes: 10_000 } })
    expect(await failureOf(client.call('any'))).toMatchObject({ kind })
  })

  test.each([
    ['at once', { 'content-type': 'application/json' }, ''],
    ['on a stream', { 'content-type': 'text/event-stream' }, 'data: '],
  ])(
    'with too many values %s fails the call before they are parsed [limits.values]',
    async (_, type, start) => {
      const { url } = await other((_envelope, response) => {
        response
          .writeHead(200, type)
          .end(`${start}{"status":"success","result":[${'{},'.repeat(100)}{}]}\n\n`)
        return undefined
      })
      const client = await meet(url, { limits: { values: 100 } })
      expect(await failureOf(client.call('any'))).toMatchObject({
        kind: 'bad_answer',
        message: expect.stringContaining('more than 100 values'),
      })
    },
  )

  test('with too many members fails the call before they are parsed [limits.keys]', async () => {
    const { url } = await other(({ request_id }) => ({
      request_id,
      status: 'success',
      result: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, 1])),
    }))
    const client = await meet(url, { limits: { keys: 100 } })
    expect(await failureOf(client.call('any'))).toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('more than 100 object members'),
    })
  })
})

const EVENTS = { 'content-type': 'text/event-stream' }

function half(to: ServerResponse, headers: Record<string, string>): void {
  to.writeHead(200, headers)
  to.write('da', () => to.destroy())
}

test('the list of tools follows every page, in the names of descriptors', async () => {
  const app = createServer({ name: 'many', version: '1', pageSize: 2 })
  for (const name of ['a', 'b', 'c', 'd', 'e']) app.tool(name, { title: name.toUpperCase() }, () => name)
  const { url } = await start(app)
  const client = await meet(url)
  const listed = await client.tools()
  expect(listed.map(({ tool_id: id, name }) => [id, name])).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((name) => [name, name.toUpperCase()]),
  )
  const impatient = await meet(url, { limits: { pages: 2 } })
  expect(await failureOf(impatient.tools())).toMatchObject({ kind: 'answer_too_large' })
})

/** A server whose list of tools has pages as the test says. */
function listing(page: (count: number) => object): ReturnType<typeof other> {
  let count = 0
  return other(({ request_id }) => ({ request_id, status: 'success', result: page(++count) }))
}

test('the total timeout of a list covers all its pages, and its signal ends it', async () => {
  let pages = 0
  const { url } = await other(({ request_id }, response) => {
    const result = { tools: [], next_cursor: `c${pages++}` }
    setTimeout(() => response.end(JSON.stringify({ request_id, status: 'success', result })), 100)
    response.writeHead(200, { 'content-type': 'application/json' })
    return undefined
  })
  const client = await meet(url, { timeout: '5s', total: 500 })
  expect(await failureOf(client.tools())).toMatchObject({
    kind: 'timeout',
    message: expect.stringContaining('within 500 ms'),
  })
  expect(pages).toBeLessThan(10)
  expect(await failureOf(client.tools({ total: 200 }))).toMatchObject({
    message: expect.stringContaining('within 200 ms'),
  })
  const stop = new AbortController()
  const listing = failureOf(client.tools({ total: '1m', signal: stop.signal }))
  stop.abort()
  expect(await listing).toMatchObject({ kind: 'cancelled' })
  expect(await failureOf(client.tools({ onProgress: () => undefined } as object))).toMatchObject({
    kind: 'bad_option',
  })
})

test('a list that repeats a cursor is given up', async () => {
  const { url, seen } = await listing(() => ({ tools: [{ tool_id: 'a' }], next_cursor: 'same' }))
  const client = await meet(url)
  expect(await failureOf(client.tools())).toMatchObject({
    kind: 'bad_answer',
    message: expect.stringContaining('a cursor was repeated') as string,
  })
  // The handshake and two pages.
  expect(seen.length).toBe(3)
})

test('a list that takes too much memory is given up', async () => {
  // Each page weighs about 13 MB.
  const tools = [{ tool_id: 'a', x: Array.from({ length: 200_000 }, () => []) }]
  const { url, seen } = await listing((count) => ({ tools, next_cursor: `c${count}` }))
  const client = await meet(url)
  expect(await failureOf(client.tools())).toMatchObject({ kind: 'answer_too_large' })
  expect(seen.length).toBeLessThan(15)
})

test('readings of a list at the same time are given up if they take too much memory together', async () => {
  // Each page weighs about 13 MB.
  const tools = [{ tool_id: 'a', x: Array.from({ length: 200_000 }, () => []) }]
  const { url } = await other(({ request_id, cursor }) => {
    const page = Number(cursor ?? 0)
    return {
      request_id,
      status: 'success',
      result: { tools, ...(page < 4 && { next_cursor: `${page + 1}` }) },
    }
  })
  const client = await meet(url)
  const lists = await Promise.allSettled(Array.from({ length: 4 }, () => client.tools()))
  const failed = lists.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  expect(failed.length).toBeGreaterThanOrEqual(2)
  for (const reason of failed) expect(reason).toMatchObject({ kind: 'answer_too_large' })
  expect(await client.tools()).toHaveLength(5)
})

test('one page may have more tools than a function takes arguments', async () => {
  const tools = Array.from({ length: 200_000 }, () => ({ tool_id: 'a' }))
  const { url } = await listing(() => ({ tools }))
  const client = await meet(url)
  expect((await client.tools()).length).toBe(200_000)
})
