import { expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { BOTH, call, headed, initialize, JSON_TYPE, message, type Sendable } from './messages.ts'
import { start, tools } from './server.ts'
import { send } from './wire.ts'

interface Row {
  readonly title: string
  readonly method?: string
  readonly body?: string | Uint8Array
  readonly headers?: Sendable
  /** Whether the request belongs to a session. */
  readonly session?: boolean
}

const ECHO = headed('tools/call', { name: 'echo', arguments: { text: 'hi' } })
const HOST = { host: 'localhost' }

const ROWS: readonly Row[] = [
  { title: 'initialize', body: initialize(), headers: BOTH },
  {
    title: 'initialize as events',
    body: initialize(),
    headers: { ...JSON_TYPE, accept: 'text/event-stream' },
  },
  { title: 'a broken initialize', body: message('initialize', {}, 1), headers: BOTH },
  { title: 'a call in a session', body: call('echo', { text: 'hi' }), headers: BOTH, session: true },
  {
    title: 'a call with progress',
    body: call('steps', { count: 3 }, 2, { progressToken: 1 }),
    headers: BOTH,
    session: true,
  },
  { title: 'a ping', body: message('ping', {}, 1), headers: BOTH, session: true },
  { title: 'a notification', body: message('notifications/initialized'), headers: BOTH, session: true },
  { title: 'a response', body: '{"jsonrpc":"2.0","id":1,"result":{}}', headers: BOTH, session: true },
  { title: 'a batch', body: `[${message('ping', {}, 1)}]`, headers: BOTH, session: true },
  { title: 'a batch without a session', body: '[]', headers: BOTH },
  { title: 'an unknown method', body: message('nothing/here', {}, 1), headers: BOTH, session: true },
  { title: 'a missing session', body: message('ping', {}, 1), headers: BOTH },
  { title: 'an unknown session', body: message('ping', {}, 1), headers: { ...BOTH, 'mcp-session-id': 'x' } },
  {
    title: 'an unknown version',
    body: message('ping', {}, 1),
    headers: { ...BOTH, 'mcp-protocol-version': '1999-01-01' },
    session: true,
  },
  { title: 'a request of 2026-07-28', ...ECHO },
  {
    title: 'one with progress',
    ...headed('tools/call', { name: 'steps', arguments: { count: 2 }, _meta: { progressToken: 1 } }),
  },
  { title: 'one without headers', body: ECHO.body, headers: BOTH },
  { title: 'one of an unknown method', ...headed('nothing/here') },
  {
    title: 'one of an unknown version',
    body: ECHO.body.replaceAll('2026-07-28', '2099-01-01'),
    headers: { ...ECHO.headers, 'mcp-protocol-version': '2099-01-01' },
  },
  {
    title: 'a notification of 2026-07-28',
    body: message('notifications/cancelled', { requestId: 1 }),
    headers: ECHO.headers,
  },
  { title: 'no JSON', body: '{', headers: BOTH },
  { title: 'an empty body', body: '', headers: BOTH },
  { title: 'no UTF-8', body: Buffer.from([0x22, 0xff, 0x22]), headers: BOTH },
  {
    title: 'a body at the limit',
    body: initialize() + ' '.repeat(20_000 - initialize().length),
    headers: BOTH,
  },
  { title: 'a body beyond the limit', body: ' '.repeat(20_001), headers: BOTH },
  { title: 'a twin of a member', body: '{"jsonrpc":"2.0","ID":1,"id":2,"method":"ping"}', headers: BOTH },
  { title: 'a key twice', body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', headers: BOTH },
  { title: 'too deep a body', body: '['.repeat(200) + ']'.repeat(200), headers: BOTH },
  { title: 'a wrong type', body: initialize(), headers: { ...BOTH, 'content-type': 'text/plain' } },
  { title: 'an encoded body', body: initialize(), headers: { ...BOTH, 'content-encoding': 'gzip' } },
  { title: 'nothing acceptable', body: initialize(), headers: { ...BOTH, accept: 'text/html' } },
  { title: 'a foreign page', body: initialize(), headers: { ...BOTH, origin: 'https://evil.example' } },
  { title: 'a listed page', body: initialize(), headers: { ...BOTH, origin: 'https://app.example' } },
  { title: 'a foreign host', body: initialize(), headers: { ...BOTH, host: 'evil.example' } },
  {
    title: 'a preflight',
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-headers': 'mcp-param-x' },
  },
  { title: 'PUT', method: 'PUT', headers: BOTH },
  { title: 'GET without a session', method: 'GET', headers: BOTH },
  { title: 'GET of 2026-07-28', method: 'GET', headers: ECHO.headers },
  {
    title: 'GET after an unknown event',
    method: 'GET',
    headers: { ...BOTH, 'last-event-id': 'x' },
    session: true,
  },
  { title: 'DELETE without a session', method: 'DELETE', headers: BOTH },
  { title: 'DELETE', method: 'DELETE', headers: BOTH, session: true },
]

const OPTIONS = { hosts: ['loopback'], cors: ['https://app.example'] }

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | null>>
  readonly body: string
  readonly isOpen: boolean
  session(): string
}

type Ask = (row: Row) => Promise<Reply>

test.each(ROWS)('$title is answered the same over fetch and over a socket', async (row) => {
  const app = tools()
  const { session: _, ...node } = await asked(await nodeAsk(app), row)
  const { session: _other, ...web } = await asked(fetchAsk(app), row)
  expect(web).toEqual(node)
})

async function asked(ask: Ask, row: Row): Promise<Reply> {
  if (row.session !== true) return ask(row)
  const opened = await ask({ title: '', body: initialize(), headers: BOTH })
  const id = { 'mcp-session-id': opened.session() }
  return ask({ ...row, headers: { ...row.headers, ...id } })
}

async function nodeAsk(app: App): Promise<Ask> {
  const { port } = await start(app, { ...OPTIONS, limits: { httpBytes: 20_000 } })
  return async ({ method = 'POST', body = '', headers = {} }) => {
    const reply = await send(port, {
      method,
      headers: { ...HOST, ...headers },
      ...(method === 'POST' && { body }),
    })
    return shown(reply.status, (name) => (reply.headers[name] as string | undefined) ?? null, reply.text)
  }
}

function fetchAsk(app: App): Ask {
  const serve = createFetch(app)
  return async ({ method = 'POST', body = '', headers = {} }) => {
    const given = { ...HOST, ...headers }
    const request = new Request('http://localhost/mcp', {
      method,
      headers: given,
      ...(method === 'POST' && { body: body as string }),
    })
    const reply = await serve(request)
    return shown(reply.status, (name) => reply.headers.get(name), await reply.text())
  }
}

/** The same limits as over the socket. */
function createFetch(app: App): (request: Request) => Promise<Response> {
  Object.assign(app, { limits: { ...app.limits, httpBytes: 20_000 } })
  return app.fetchWith(OPTIONS)
}

/** What must be the same. Session ids are made anew each time. */
function shown(status: number, header: (name: string) => string | null, body: string): Reply {
  const names = [
    'content-type',
    'allow',
    'retry-after',
    'access-control-allow-origin',
    'access-control-allow-headers',
    'x-accel-buffering',
  ]
  const headers = Object.fromEntries(names.map((name) => [name, header(name)]))
  const session = header('mcp-session-id')
  return { status, headers, body, isOpen: session !== null, session: () => session ?? '' }
}
