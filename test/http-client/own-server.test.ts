import { describe, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject, Message } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import type { ClientTransport, OutgoingRequest } from '../../src/rpc/client-transport.ts'
import { after, failure, open, outgoing, until, type Opened, type OutgoingParts } from './peer.ts'

const LATEST = '2026-07-28'
const CLIENT = { name: 'line', version: '1' }
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

interface Work {
  readonly url: string
  /** Resolves when the tool `wait` runs. */
  readonly waits: Promise<void>
  readonly stopped: string[]
  change(): void
}

async function start(sessions = true): Promise<Work> {
  const stopped: string[] = []
  let begun = (): void => undefined
  const waits = new Promise<void>((resolve) => (begun = resolve))
  let changes = 0
  const app = createServer({ name: 'works', version: '1', log: () => undefined, limits: { drainMs: 20 } })
    .tool(
      'add',
      { input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } },
      ({ a, b }) => String(Number(a) + Number(b)),
    )
    .tool('count', {}, async (_, { progress }) => {
      for (let n = 1; n <= 3; n++) progress(n, 3)
      await Promise.resolve()
      return 'counted'
    })
    .tool('poll', {}, async (_, { progress, closeStream }) => {
      progress(1, 3)
      closeStream(40)
      progress(2, 3)
      await new Promise((resolve) => setTimeout(resolve, 80))
      progress(3, 3)
      return 'polled'
    })
    .tool('who', {}, async (_, { elicit }) => JSON.stringify(await elicit('Who?', NAME)))
    .tool('wait', {}, async (_, { signal }) => {
      begun()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      stopped.push((signal.reason as Error).message)
      return ''
    })
  const running = await app.listen({ http: { port: 0, sessions } })
  after(() => running.close())
  const change = (): void => void app.tool(`late-${++changes}`, {}, () => '')
  return { url: running.url as string, waits, stopped, change }
}

/** A request as the client would seal it. */
function sealed(
  revision: Revision,
  method: string,
  params: JsonObject,
  parts: OutgoingParts = {},
): OutgoingRequest {
  if (revision !== LATEST) return outgoing(method, { ...parts, params })
  const meta = {
    [META.protocolVersion]: revision,
    [META.clientCapabilities]: { elicitation: {} },
    [META.clientInfo]: CLIENT,
    ...(params['_meta'] as object),
  }
  const name = params['name']
  const headers = {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
  return outgoing(method, { headers, ...parts, params: { ...params, _meta: meta } })
}

async function connect(url: string, revision: Revision, own: typeof fetch = fetch): Promise<Opened> {
  const opened = await open(url, { fetch: own })
  const { line } = opened
  if (revision === LATEST) {
    await line.request(sealed(revision, 'server/discover', {}))
    line.agree(revision)
    return opened
  }
  const params = { protocolVersion: revision, capabilities: { elicitation: {} }, clientInfo: CLIENT }
  await line.request(sealed(revision, 'initialize', params))
  line.agree(revision)
  await line.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return opened
}

function call(
  line: ClientTransport,
  revision: Revision,
  name: string,
  parts: OutgoingParts & { readonly args?: object; readonly meta?: object } = {},
): Promise<Message> {
  const { args = {}, meta = {}, ...rest } = parts
  return line.request(sealed(revision, 'tools/call', { name, arguments: args, _meta: meta }, rest))
}

function textOf({ result }: Message): unknown {
  return (result?.['content'] as readonly JsonObject[] | undefined)?.[0]?.['text']
}

describe.each(REVISIONS)('against our own server at %s', (revision) => {
  test('requests are answered, many at once too [C.sane] [R101]', async () => {
    const { url } = await start()
    const { line } = await connect(url, revision)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => call(line, revision, 'add', { args: { a: n, b: 1 } })),
    )
    expect(answers.map(textOf)).toEqual(Array.from({ length: 50 }, (_, n) => String(n + 1)))
  })

  test('notifications come before the answer', async () => {
    const { url } = await start()
    const { line } = await connect(url, revision)
    const heard: unknown[] = []
    const onMessage = ({ params }: Message): void => void heard.push(params?.['progress'])
    expect(textOf(await call(line, revision, 'count', { meta: { progressToken: 1 }, onMessage }))).toBe(
      'counted',
    )
    expect(heard).toEqual([1, 2, 3])
  })

  test('a server that hangs up is asked again for the rest, where the revision has that [R095]', async () => {
    const { url } = await start()
    const { line } = await connect(url, revision)
    const heard: unknown[] = []
    const onMessage = ({ params }: Message): void => void heard.push(params?.['progress'])
    expect(textOf(await call(line, revision, 'poll', { meta: { progressToken: 1 }, onMessage }))).toBe(
      'polled',
    )
    expect(heard).toEqual([1, 2, 3])
  })

  test('cancelling stops the work, in the way of the revision [R127]', async () => {
    const { url, waits, stopped } = await start()
    const { line } = await connect(url, revision)
    expect(line.cancels).toBe(revision === LATEST ? 'itself' : 'message')
    const abort = new AbortController()
    const waiting = call(line, revision, 'wait', { id: 77, signal: abort.signal })
    void waits.then(() => abort.abort(new Error('enough')))
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled', cause: { message: 'enough' } })
    const early = stopped.length
    const text = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}'
    if (line.cancels === 'message') await line.send(text)
    await until(() => stopped.length === 1)
    expect(early).toBe(0)
  })

  test('a refused request is answered with the error of the server', async () => {
    const { url } = await start()
    const { line } = await connect(url, revision)
    const { error } = await line.request(sealed(revision, 'no/such', {}))
    expect(error?.code).toBe(-32601)
  })

  test('a line that is closed leaves nothing behind', async () => {
    const { url, waits } = await start()
    const { line } = await connect(url, revision)
    void line.listen?.()
    const waiting = failure(call(line, revision, 'wait'))
    await waits
    await line.close()
    expect(await waiting).toMatchObject({ kind: 'closed' })
  })
})

describe.each(REVISIONS.filter((revision) => revision !== LATEST))(
  'sessions of our own server at %s',
  (revision) => {
    test('changes come on the stream for notifications', async () => {
      const { url, change } = await start()
      let opened = false
      const watched: typeof fetch = async (input, init) => {
        const response = await fetch(input, init)
        if (init?.method === 'GET') opened = true
        return response
      }
      const { line, messages } = await connect(url, revision, watched)
      void line.listen?.()
      await until(() => opened)
      change()
      await until(() => messages.length === 1)
      expect(messages[0]!.method).toBe('notifications/tools/list_changed')
    })

    test('a session that another ended is lost [R086]', async () => {
      const { url } = await start()
      const ids: string[] = []
      const spy: typeof fetch = async (input, init) => {
        const response = await fetch(input, init)
        ids.push(response.headers.get('mcp-session-id') ?? '')
        return response
      }
      const opened = await open(url, { fetch: spy })
      const params = { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT }
      await opened.line.request(sealed(revision, 'initialize', params))
      opened.line.agree(revision)
      await fetch(url, {
        method: 'DELETE',
        headers: { 'mcp-session-id': ids[0]!, 'mcp-protocol-version': revision },
      })
      await expect(call(opened.line, revision, 'add')).rejects.toMatchObject({ kind: 'session_lost' })
      expect(opened.downs.length).toBe(1)
    })

    test('a server without sessions works too', async () => {
      const { url } = await start(false)
      const { line, notes, downs } = await connect(url, revision)
      void line.listen?.()
      expect(textOf(await call(line, revision, 'add', { args: { a: 1, b: 2 } }))).toBe('3')
      await line.close()
      expect([notes, downs]).toEqual([[], []])
    })
  },
)

test.each(['2025-06-18', '2025-11-25'] as const)(
  'a question on the stream of a request is answered with a message at %s',
  async (revision) => {
    const { url } = await start()
    const { line } = await connect(url, revision)
    const onMessage = ({ id, method }: Message): void => {
      expect(method).toBe('elicitation/create')
      const result = { action: 'accept', content: { name: 'Ada' } }
      void line.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    expect(textOf(await call(line, revision, 'who', { onMessage }))).toContain('Ada')
  },
)
