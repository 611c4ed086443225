import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from '../../src/index.ts'

const REVISION = '2025-11-25'
/** Two units each, and an odd number of them before, so that no piece of even length ends between two. */
const ANSWER = `x${'🚢'.repeat(4_000_000)}`

const STEPS = 40
const TALK = `x${'🚢'.repeat(100_000)}`

interface Kept {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** The event before the answer, and all that follow it. */
  readonly last: string
  readonly rest: string
}

/** Calls a tool with a long answer, or with many events before it, which the server keeps. */
async function keep(tool: 'long' | 'talks' = 'long'): Promise<Kept> {
  const app = createServer({
    name: 'long',
    version: '1',
    log: () => undefined,
    limits: { streamBytes: 2 ** 26, unsentBytes: 2 ** 29 },
  })
  app.tool('long', {}, (_, { progress }) => {
    progress(1)
    return ANSWER
  })
  app.tool('talks', {}, async (_, { progress }) => {
    for (let step = 1; step <= STEPS; step++) {
      progress(step, STEPS, TALK)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return TALK
  })
  const running = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => running.close())
  const url = new URL(running.url as string)
  const accept = 'application/json, text/event-stream'
  const post = (body: object, headers: object = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    })
  const clientInfo = { name: 'c', version: '1' }
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo }
  const opened = await post({ id: 1, method: 'initialize', params })
  const headers = {
    'mcp-session-id': opened.headers.get('mcp-session-id') as string,
    'mcp-protocol-version': REVISION,
  }
  await post({ method: 'notifications/initialized' }, headers)
  const call = { name: tool, arguments: {}, _meta: { progressToken: 1 } }
  const text = await (await post({ id: 2, method: 'tools/call', params: call }, headers)).text()
  const [, last = ''] = /^id: (\S+)/.exec(text) ?? []
  return { url, headers, last, rest: text.slice(text.indexOf('id: ', 1)) }
}

function replay({ url, headers, last }: Kept): Promise<Response> {
  return fetch(url, { headers: { ...headers, accept: 'text/event-stream', 'last-event-id': last } })
}

test('a long answer that is sent again is the same', async () => {
  const kept = await keep()
  for (let turn = 0; turn < 2; turn++) expect((await (await replay(kept)).text()) === kept.rest).toBe(true)
})

/** Asks for the answer again, and leaves when it begins to arrive. */
async function leave({ url, headers, last }: Kept): Promise<string> {
  const socket: Socket = connect(Number(url.port), url.hostname)
  const all = { ...headers, host: url.host, accept: 'text/event-stream', 'last-event-id': last }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const [data] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  socket.destroy()
  await once(socket, 'close')
  return data.toString('latin1', 0, 12)
}

test.each([
  ['a long answer', 'long'],
  ['many events', 'talks'],
] as const)('a client that asks for %s again and leaves costs only what it was sent', async (_, tool) => {
  const kept = await keep(tool)
  const from = vi.spyOn(Buffer, 'from')
  onTestFinished(() => from.mockRestore())
  await leave(kept)
  // The server answers others, and has seen by then that this one left.
  await fetch(kept.url, { method: 'DELETE', headers: kept.headers })
  const encoded = from.mock.calls.reduce((sum, [text]) => {
    return sum + (typeof text === 'string' ? (text as string).length : 0)
  }, 0)
  expect(encoded).toBeGreaterThan(0)
  expect(encoded).toBeLessThan(kept.rest.length / 2)
})

test('many events that are sent again are the same', async () => {
  const kept = await keep('talks')
  expect(kept.rest.split('notifications/progress')).toHaveLength(STEPS + 1)
  for (let turn = 0; turn < 2; turn++) expect((await (await replay(kept)).text()) === kept.rest).toBe(true)
})

test('clients that left do not count as readers who are slow', async () => {
  const kept = await keep()
  for (let turn = 0; turn < 40; turn++) expect(await leave(kept)).toBe('HTTP/1.1 200')
})
