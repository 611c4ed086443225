import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { connect, type Client } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { serveFetch } from '../../src/transport/http/server/fetch.ts'
import { createAuthority, type Identity } from '../harness/certificates.ts'
import type { AnyApp } from '../harness/connection.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { Gate, open, start, tools } from '../http/server.ts'
import { Raw, send, type Received } from '../http/wire.ts'
import { dial, serve } from '../tcp/wire.ts'

/** A server with a tool that waits for the test. */
function waiting(limits: object = {}): { readonly app: App; readonly gate: Gate; running(): number } {
  const gate = new Gate()
  const app = createServer({ name: 'callers', version: '1.0.0', limits, log: () => undefined })
    .tool('wait', {}, async () => {
      await gate.opened
      return 'waited'
    })
    .tool('echo', {}, () => 'echo')
  return { app, gate, running: () => serviceOf(app).load.running }
}

const wait = (id: number): ReturnType<typeof headed> => headed('tools/call', { name: 'wait' }, id)
const TOO_MANY = { code: 1060, data: { refusal: { name: 'CONCURRENT_LIMIT_EXCEEDED', httpStatus: 429 } } }

function refusalOf({ status, headers, json }: Received): unknown {
  return [status, headers['retry-after'], json['error']]
}

test('all callers together have a limit, at every revision, and rejected callers may try again', async () => {
  const { app, gate, running } = waiting()
  const { port } = await start(app, { limits: { allInFlight: 4, queued: 0 } })
  const session = await open(port)
  const calls = [
    send(port, wait(1)),
    send(port, wait(2)),
    session.post(call('wait', {}, 3)),
    session.post(call('wait', {}, 4)),
  ]
  await expect.poll(running).toBe(4)
  const overloaded = {
    code: 1005,
    message: 'the server is working on too many requests',
    data: { refusal: { name: 'BACKPRESSURE_ACTIVE', retryable: true, retryAfterMs: 1000 } },
  }
  for (const refused of [await send(port, wait(5)), await session.post(call('echo', {}, 5))]) {
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(refused.json).toMatchObject({ id: 5, error: overloaded })
  }
  expect((await session.post(message('notifications/cancelled', { requestId: 4 }))).status).toBe(202)
  gate.open()
  await Promise.all(calls)
  expect(running()).toBe(0)
  expect((await send(port, wait(6))).status).toBe(200)
  expect(app.counts.get('overloaded')).toBe(2)
})

test('streams that last are no part of what runs', async () => {
  const { app, running } = waiting()
  const { port } = await start(app, { limits: { allInFlight: 1, inFlight: 1 } })
  const listen = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const raws = [1, 2, 3].map(() => new Raw(port).write(textOf(listen)))
  onTestFinished(() => raws.forEach((raw) => raw.destroy()))
  for (const raw of raws) await raw.until(/acknowledged/)
  expect(running()).toBe(0)
  expect((await send(port, headed('tools/call', { name: 'echo' }))).status).toBe(200)
})

test('a connection at 2026-07-28 has a limit of requests being answered, others are served', async () => {
  const { app, gate, running } = waiting()
  const { port } = await start(app, { limits: { inFlight: 2 } })
  const raw = new Raw(port).write([1, 2, 3].map((id) => textOf(wait(id))).join(''))
  onTestFinished(() => raw.destroy())
  await expect.poll(running).toBe(2)
  expect((await send(port, headed('tools/call', { name: 'echo' }))).status).toBe(200)
  gate.open()
  const { text } = await raw.until(/"id":3/)
  expect([...text.matchAll(/HTTP\/1.1 (\d+)/g)].map((match) => match[1])).toEqual(['200', '200', '429'])
  expect(text).toContain('CONCURRENT_LIMIT_EXCEEDED')
})

test('an authenticated caller has one limit over all connections and sessions', async () => {
  const { app, gate, running } = waiting({ inFlight: 3 })
  const serve = app.node()
  const server = createHttp((request: IncomingMessage & { auth?: object }, response: ServerResponse) => {
    request.auth = { sub: String(request.headers['x-caller']) }
    serve(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const as = (caller: string, { body, headers }: { body: string; headers: JsonObject }): Promise<Received> =>
    send(port, { body, headers: { ...(headers as Record<string, string>), 'x-caller': caller } })
  const opened = await as('ann', { body: initialize(), headers: BOTH })
  const headers = { ...BOTH, 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  const calls = [
    as('ann', wait(1)),
    as('ann', wait(2)),
    as('ann', { body: call('wait', {}, 3), headers }),
    as('bob', wait(1)),
  ]
  await expect.poll(running).toBe(4)
  expect(refusalOf(await as('ann', wait(9)))).toMatchObject([429, '1', TOO_MANY])
  expect(refusalOf(await as('ann', { body: call('echo', {}, 9), headers }))).toMatchObject([
    429,
    '1',
    TOO_MANY,
  ])
  expect((await as('bob', headed('tools/call', { name: 'echo' }))).status).toBe(200)
  gate.open()
  await Promise.all(calls)
  expect((await as('ann', headed('tools/call', { name: 'echo' }))).status).toBe(200)
  expect(app.counts.get('too_many_calls')).toBe(2)
})

test('on a connection that carries messages both ways the limits are the same', async () => {
  const { app, gate, running } = waiting({ inFlight: 3, allInFlight: 4, queued: 0 })
  const connected = (): { replies: JsonObject[]; send(text: string): void } => {
    const replies: JsonObject[] = []
    const end = app.connect({ receive: (text) => void replies.push(JSON.parse(text) as JsonObject) })
    onTestFinished(() => end.close())
    end.send(initialize())
    return { replies, send: (text) => end.send(text) }
  }
  const [ann, bob] = [connected(), connected()]
  for (const id of [2, 3, 4, 5]) ann.send(call('wait', {}, id))
  expect(ann.replies.at(-1)).toMatchObject({ id: 5, error: TOO_MANY })
  for (const id of [2, 3]) bob.send(call('wait', {}, id))
  await expect.poll(() => bob.replies.at(-1)).toMatchObject({ id: 3, error: { code: 1005 } })
  gate.open()
  await expect.poll(running).toBe(0)
  bob.send(call('echo', {}, 7))
  await expect.poll(() => bob.replies.at(-1)).toMatchObject({ id: 7, result: {} })
})

test('a full table of sessions makes room for a newcomer by the one that was idle the longest', async () => {
  let now = 0
  const { port, app } = await start(tools(), { limits: { sessions: 3 }, now: () => now })
  const busy = await open(port)
  const stream = await busy.get()
  onTestFinished(() => void stream.response.destroy())
  const [idle, used] = [await open(port), await open(port)]
  const refused = await send(port, { body: initialize(), headers: BOTH })
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
  now = 10_001
  expect((await used.post(message('ping', {}, 1))).status).toBe(200)
  const newcomer = await open(port)
  const statuses = await Promise.all(
    [busy, used, newcomer, idle].map(async (session) => (await session.post(message('ping', {}, 2))).status),
  )
  expect(statuses).toEqual([200, 200, 200, 404])
  expect(Object.fromEntries(app.counts)).toMatchObject({ session_evicted: 1, session_limit: 1 })
})

describe('a full table of sessions with several owners', () => {
  /** Answers requests of callers who are known by name, by a clock that the test sets. */
  async function serve(sessions: number): Promise<{
    later(ms: number): void
    open(sub: string): Promise<string | number>
    ping(sub: string, id: string | number): Promise<number>
  }> {
    let now = 0
    const { endpoint } = await start(tools(), { limits: { sessions }, now: () => now })
    const answer = serveFetch(endpoint)
    const post = (sub: string, body: string, more: object = {}): Promise<Response> => {
      const headers = { ...BOTH, ...more }
      return answer(new Request('http://localhost/mcp', { method: 'POST', headers, body }), { auth: { sub } })
    }
    return {
      later: (ms) => void (now += ms),
      open: async (sub) => {
        const { status, headers } = await post(sub, initialize())
        return headers.get('mcp-session-id') ?? status
      },
      ping: async (sub, id) =>
        (await post(sub, message('ping', {}, 1), { 'mcp-session-id': String(id) })).status,
    }
  }

  test('takes room from the owner with the most, not from others that were idle for longer', async () => {
    const { later, open, ping } = await serve(10)
    const [ann, eve] = [await open('ann'), await open('eve')]
    later(20_000)
    for (let each = 0; each < 20; each++) {
      await open('eve')
      later(5000)
    }
    expect([await ping('ann', ann), await ping('eve', eve)]).toEqual([200, 404])
  })

  test('has room for an owner with few, even if those of the owner with the most are in use', async () => {
    const { open, ping } = await serve(10)
    const ids: (string | number)[] = []
    for (let each = 0; each < 12; each++) ids.push(await open('eve'))
    expect(ids.slice(-2)).toEqual([503, 503])
    const ann = await open('ann')
    expect([await ping('ann', ann), await ping('eve', ids[0] as string)]).toEqual([200, 404])
    expect(await open('eve')).toBe(503)
  })

  test('keeps the only session of an owner for a moment after its use', async () => {
    const { later, open, ping } = await serve(1)
    const eve = await open('eve')
    expect([await open('ann'), await ping('eve', eve)]).toEqual([503, 200])
    later(10_000)
    const ann = await open('ann')
    expect([await ping('ann', ann), await ping('eve', eve)]).toEqual([200, 404])
  })
})

function textOf({ body, headers }: { body: string; headers: Readonly<Record<string, string>> }): string {
  const head = Object.entries({ host: 'localhost', 'content-length': String(body.length), ...headers })
  return `POST /mcp HTTP/1.1\r\n${head.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n${body}`
}

test('the requests of an authenticated caller count together, whatever connections they use', async () => {
  const authority = createAuthority('Harbour authority')
  const { key, cert } = authority.issue('server', ['127.0.0.1'])
  const { app, gate, running } = waiting({ inFlight: 2 })
  const tls = { key, cert, ca: authority.cert }
  const { addresses, close } = await app.listen({ ws: { port: 0, tls }, tcp: { port: 0, tls } })
  onTestFinished(() => close())
  onTestFinished(() => gate.open())
  const [anna, bob] = [authority.issue('anna'), authority.issue('bob')]
  const dial = async (transport: 'ws' | 'tcp', own: Identity): Promise<Client> => {
    const identity = { key: own.key, cert: own.cert, ca: authority.cert }
    const client = await connect(addresses[transport] as string, { tls: identity })
    onTestFinished(() => client.close())
    return client
  }
  const [first, second, third, fourth] = [
    await dial('tcp', anna),
    await dial('ws', anna),
    await dial('tcp', anna),
    await dial('ws', anna),
  ]
  const calls = [first.call('wait'), second.call('wait')]
  await expect.poll(running).toBe(2)
  for (const client of [third, fourth])
    await expect(client.call('echo')).rejects.toMatchObject({ kind: 'too_many_calls' })
  expect(await (await dial('tcp', bob)).call('echo')).toBe('echo')
  gate.open()
  expect(await Promise.all(calls)).toEqual(['waited', 'waited'])
})

test('a few anonymous connections cannot take all places: one with many requests leaves the last quarter to others', async () => {
  const { app, gate, running } = waiting({ inFlight: 64, allInFlight: 256, queued: 0 })
  const address = (await serve(app as AnyApp, { tcp: { port: 0 } })).addresses.tcp
  const many = Array.from({ length: 64 }, (_, id) => `${wait(id).body}\n`).join('')
  // Each from its own address, which would otherwise be limited as a whole.
  let host = 1
  for (const [taken, refused] of [
    [64, 0],
    [128, 0],
    [192, 0],
    [208, 48],
    [224, 96],
  ] as const) {
    const wire = await dial(address, {}, `127.0.0.${++host}`)
    await wire.write(many)
    await expect.poll(running).toBe(taken)
    await expect.poll(() => app.counts.get('overloaded') ?? 0).toBe(refused)
  }
  const other = await dial(address)
  await other.write(`${wait(1).body}\n`)
  await expect.poll(running).toBe(225)
  gate.open()
  expect(await other.heard(1)).toMatchObject([{ id: 1, result: {} }])
  await expect.poll(running).toBe(0)
})

test('a caller without others may take all places', async () => {
  const { app, gate, running } = waiting({ inFlight: 64, allInFlight: 64, queued: 0 })
  const wire = await dial((await serve(app as AnyApp, { tcp: { port: 0 } })).addresses.tcp)
  await wire.write(Array.from({ length: 64 }, (_, id) => `${wait(id).body}\n`).join(''))
  await expect.poll(running).toBe(64)
  gate.open()
  await wire.heard(64)
})

test('requests beyond the share of their caller wait until there is room', async () => {
  const { app, gate, running } = waiting({ inFlight: 64, allInFlight: 64, waitMs: 600_000 })
  const address = (await serve(app as AnyApp, { tcp: { port: 0 } })).addresses.tcp
  const [one, other] = [await dial(address), await dial(address)]
  await other.write(`${wait(1).body}\n`)
  await expect.poll(running).toBe(1)
  await one.write(Array.from({ length: 64 }, (_, id) => `${wait(id).body}\n`).join(''))
  await expect.poll(() => serviceOf(app).load.waiting).toBe(17)
  expect(running()).toBe(48)
  gate.open()
  expect((await one.heard(64)).every(({ result }) => result !== undefined)).toBe(true)
})
