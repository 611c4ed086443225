import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import {
  EARLIER,
  WAYS,
  endOf,
  failure,
  meet,
  methodOf,
  serve,
  serveWell,
  until,
  web,
  type Way,
} from './peer.ts'

/** For what never comes. */
const SHORT = { timeout: 300, total: 900, probe: 300 } as const
/** For what does come, however busy the machine is. */
const LONG = { timeout: 30_000, probe: 30_000 } as const

test.each(WAYS)('C.hang a request that is never answered times out, over %s', async (way) => {
  for (const speaks of ['2026-07-28', EARLIER] as const) {
    const { client } = await meet(way, ({ method }) => (method === 'tools/call' ? undefined : false), {
      ...LONG,
      speaks,
    })
    const error = await failure(client.call('echo', {}, { timeout: 300 }))
    expect(error).toMatchObject({ kind: 'timeout' })
    await client.ping()
  }
})

test.each(WAYS)('C.hang a server that never says anything cannot be connected to, over %s', async (way) => {
  const target = await serve(way, () => undefined)
  const error = await failure(connect(target, SHORT))
  expect(error).toMatchObject({ name: 'McpError', kind: 'timeout' })
})

test('C.hang a server that takes a notification and never says so holds nobody up', async () => {
  const network = await web((request, response) => {
    const method = methodOf(request)
    if (request.verb === 'DELETE' || method?.startsWith('notifications/') === true) return
    serveWell(request, response, EARLIER, 'one')
  })
  expect(await endOf(connect(network.url, { ...SHORT, revision: EARLIER }))).toBe('timeout')
})

test('C.hang a server that stops taking notifications holds nobody up', async () => {
  let takes = true
  const network = await web((request, response) => {
    const told = methodOf(request)?.startsWith('notifications/') === true
    if (takes || (request.verb !== 'DELETE' && !told)) serveWell(request, response, EARLIER, 'one')
  })
  const client = await connect(network.url, { timeout: 2000, revision: EARLIER })
  takes = false
  expect(await endOf(client.notify('notifications/roots/list_changed'))).toBe('timeout')
  await client.close()
})

test('C.hang a server that begins a reply and never ends it times out', async () => {
  for (const type of ['application/json', 'text/event-stream', 'text/html']) {
    const network = await web((_, response) => {
      response.writeHead(200, { 'content-type': type }).flushHeaders()
      response.write(type === 'application/json' ? '{"jsonrpc":"2.0",' : 'data: {')
    })
    const error = await failure(connect(network.url, SHORT))
    expect(error).toMatchObject({ name: 'McpError' })
  }
})

test('C.sse-endless a stream of comments without an answer times out', async () => {
  for (const noise of [
    ': still here\n\n',
    'retry: 10\n',
    'event: x\n',
    'id: 1\ndata:\n\n',
    'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n',
  ]) {
    const network = await web((request, response) => {
      if (methodOf(request) !== 'tools/call') return serveWell(request, response, '2026-07-28')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const timer = setInterval(() => response.write(noise), 5)
      return response.on('close', () => clearInterval(timer))
    })
    const client = await connect(network.url, LONG)
    const error = await failure(client.call('echo', {}, { timeout: 300, total: 900 }))
    expect(error).toMatchObject({ kind: 'timeout' })
    await client.close()
  }
})

test.each(WAYS)('C.sse-endless notifications without an answer time out, over %s', async (way) => {
  const { client, end } = await chatty(way, () => ({
    method: 'notifications/message',
    params: { level: 'info', data: 1 },
  }))
  const error = await failure(client.call('echo', {}, { timeout: 300 }))
  end()
  expect(error).toMatchObject({ kind: 'timeout' })
})

test.each(WAYS)('C.progress-endless progress without an answer ends at a maximum, over %s', async (way) => {
  let progress = 0
  const { client, end } = await chatty(way, (token) => ({
    method: 'notifications/progress',
    params: { progressToken: token, progress: progress++ },
  }))
  let heard = 0
  const patience = { timeout: 20_000, total: 1500 }
  const error = await failure(client.call('echo', {}, { ...patience, onProgress: () => heard++ }))
  end()
  expect(error).toMatchObject({ kind: 'timeout', message: expect.stringContaining('1500 ms') as string })
  expect(heard).toBeGreaterThan(2)
})

test('C.progress-endless rounds without end are bounded', async () => {
  const { client, count } = await meet(
    'memory',
    ({ method }, wire) => {
      if (method !== 'tools/call') return false
      const ask = {
        method: 'elicitation/create',
        params: { message: 'again?', requestedSchema: { type: 'object', properties: {} } },
      }
      return wire.reply({ resultType: 'input_required', inputRequests: { a: ask }, requestState: 'x' })
    },
    { answers: { elicit: () => ({ action: 'decline' }) } },
  )
  expect(await failure(client.call('echo'))).toMatchObject({ kind: 'bad_answer' })
  expect(count('tools/call')).toBeLessThanOrEqual(10)
})

/** A server that talks all the time and never answers a call. */
async function chatty(
  way: Way,
  words: (token: unknown) => object,
): Promise<{ readonly client: Awaited<ReturnType<typeof meet>>['client']; end(): void }> {
  let timer: NodeJS.Timeout | undefined
  const { client, count } = await meet(
    way,
    ({ method, params }, wire) => {
      if (method !== 'tools/call') return false
      const token = (params['_meta'] as Record<string, unknown> | undefined)?.['progressToken']
      timer = setInterval(() => wire.send({ jsonrpc: '2.0', ...words(token) }), 20)
      return undefined
    },
    LONG,
  )
  void until(() => count('tools/call') > 0).catch(() => undefined)
  return { client, end: () => clearInterval(timer) }
}

test.each(WAYS)(
  'C.hang a server that confirms no end of a subscription holds nobody up, over %s',
  async (way) => {
    const uris = Array.from({ length: 20 }, (_, index) => `note://${index}`)
    const { client, count } = await meet(
      way,
      ({ method, params }, wire) => {
        if (method === 'resources/unsubscribe') return undefined
        if (method !== 'resources/subscribe') return false
        if (params['uri'] === 'note://19')
          wire.send({
            jsonrpc: '2.0',
            method: 'notifications/resources/updated',
            params: { uri: 'note://19' },
          })
        return wire.reply({})
      },
      { speaks: EARLIER, timeout: '5m', total: '1h' },
    )
    for await (const _ of client.watch({ resources: uris })) break
    // The others wait until the server has confirmed these.
    expect(count('resources/unsubscribe')).toBe(16)
    const stop = new AbortController()
    for await (const _ of client.watch({ resources: uris, signal: stop.signal })) stop.abort()
    const end = await client.subscribe('note://19', () => undefined)
    await end()
  },
)

test('C.hang each resource that is no longer watched is unsubscribed, and only those', async () => {
  const uris = Array.from({ length: 40 }, (_, index) => `note://${index}`)
  const { client, seen, count } = await meet(
    'memory',
    ({ method, params }, wire) => {
      if (method === 'resources/unsubscribe') return wire.reply({})
      if (method !== 'resources/subscribe') return false
      if (params['uri'] === 'note://39')
        wire.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://39' } })
      return wire.reply({})
    },
    { speaks: EARLIER },
  )
  const end = await client.subscribe('note://0', () => undefined)
  for await (const _ of client.watch({ resources: uris })) break
  expect(count('resources/unsubscribe')).toBe(39)
  await end()
  await client.ping()
  const ended = seen.filter(({ method }) => method === 'resources/unsubscribe')
  expect(new Set(ended.map(({ params }) => params['uri']))).toEqual(new Set(uris))
  expect(ended).toHaveLength(40)
})
