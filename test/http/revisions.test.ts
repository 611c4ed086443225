import { afterEach, expect, test } from 'vitest'
import { createServer, type App } from 'pierhead'

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const OPENING = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(
  app: App,
): Promise<
  (
    method: string,
    body?: object,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; body: unknown }>
> {
  const running = await app.listen({ http: { port: 0 } })
  closers.push(() => running.close())
  return async (method, body, headers = {}) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const accept = { accept: 'application/json, text/event-stream' }
    const init = {
      method,
      headers: { ...accept, ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    const reply = await fetch(running.url!, init)
    const text = await reply.text()
    return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}

test('a server of the newest revision only names it to a client that shakes hands [R052]', async () => {
  const send = await start(
    createServer({ name: 'new', version: '1', revisions: ['2026-07-28'] }).tool('t', {}, () => 'x'),
  )
  const reply = await send('POST', { jsonrpc: '2.0', id: 1, method: 'initialize', params: OPENING })
  expect(reply).toMatchObject({
    status: 400,
    body: { id: 1, error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2025-06-18' } } },
  })
})

test('a server of the newest revision only has neither GET nor DELETE and ignores session headers [R129]', async () => {
  const send = await start(
    createServer({ name: 'new', version: '1', revisions: ['2026-07-28'] }).tool('t', {}, () => 'x'),
  )
  expect((await send('GET')).status).toBe(405)
  expect((await send('DELETE')).status).toBe(405)
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 't', _meta: ENVELOPE } }
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 't',
    'mcp-session-id': 'none',
    'last-event-id': 'r1_1',
  }
  expect(await send('POST', call, headers)).toMatchObject({
    status: 200,
    body: { id: 2, result: { isError: false } },
  })
})

test('a server of older revisions only refuses the newest, names those it serves and offers the newest of them [R033]', async () => {
  const app = createServer({ name: 'old', version: '1', revisions: ['2025-06-18', '2024-11-05'] }).tool(
    't',
    {},
    () => 'x',
  )
  const send = await start(app)
  const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: ENVELOPE } }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }
  expect(await send('POST', discover, headers)).toMatchObject({
    status: 400,
    body: {
      error: { code: -32022, data: { supported: ['2024-11-05', '2025-06-18'], requested: '2026-07-28' } },
    },
  })
  const opening = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { ...OPENING, protocolVersion: '2025-11-25' },
  }
  expect(await send('POST', opening)).toMatchObject({ body: { result: { protocolVersion: '2025-06-18' } } })
})

test('a revision that does not exist is refused when the server is made', () => {
  expect(() => createServer({ name: 'x', version: '1', revisions: ['2025-01-01' as '2024-11-05'] })).toThrow(
    /revisions must be a list, each element '2024-11-05', '2025-03-26', .*; "2025-01-01" is not/,
  )
  expect(() => createServer({ name: 'x', version: '1', revisions: [] })).toThrow(/name at least one/)
})
