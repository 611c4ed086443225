import { AsyncLocalStorage } from 'node:async_hooks'
import { PassThrough } from 'node:stream'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { serveStdio } from '../../src/transport/stdio/server.ts'
import { open } from '../harness/client.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { Transport } from '../harness/connection.ts'
import { scenario } from '../harness/scenario.ts'
import { headed, message } from '../http/messages.ts'
import { open as openSession, start } from '../http/server.ts'
import { post } from '../http/wire.ts'
import { dial, echo, greet } from '../tcp/wire.ts'
import { frame } from '../ws/raw.ts'
import { open as openWs } from '../ws/server.ts'
import { expectAlive, expectRefused, sound, target } from './target.ts'
import { processorMs } from '../harness/processor.ts'

const KINDS: readonly (readonly [Transport, Revision])[] = [
  ['memory', '2025-11-25'],
  ...REVISIONS.map((revision) => ['stdio', revision] as const),
  ...REVISIONS.map((revision) => ['http', revision] as const),
  ...REVISIONS.map((revision) => ['tcp', revision] as const),
  ...REVISIONS.map((revision) => ['ws', revision] as const),
]
const attacked = target()
const { app } = attacked
afterAll(() => closeListeners())

function nested(opening: string, closing: string, levels: number): string {
  return opening.repeat(levels) + closing.repeat(levels)
}

test.each(KINDS)(
  'M.deep-1k M.deep-100k M.deep-1m M.deep-objects nesting beyond the limit is refused without being followed over %s at %s [R010]',
  async (transport, revision) => {
    const client = await open(app, { transport, revision })
    const before = attacked.ran
    const good = client.requestText('spoilt', 'tools/call', { name: 'any', arguments: { a: 'x' } })
    for (const value of [
      nested('[', ']', 1000),
      nested('[', ']', 100_000),
      nested('[', ']', 1_000_000),
      nested('{"a":', '}', 50_000).replace('}', '1}'),
      '['.repeat(500_000),
      nested('[{"a":', '}]', 1000).replace('}', '1}'),
    ]) {
      await expectRefused(client, good.replace('"x"', value), -32600)
    }
    await expectRefused(client, nested('[', ']', 1_000_000), -32600)
    expect(attacked.ran).toBe(before)
    await expectAlive(client)
    await client.close()
  },
)

test('M.deep-async the same holds where asynchronous context is tracked', async () => {
  const storage = new AsyncLocalStorage<number>()
  await storage.run(1, async () => {
    const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
    for (const levels of [127, 128, 129, 10_000, 1_000_000]) {
      const text = client.requestText('spoilt', 'tools/call', { name: 'any', arguments: { a: 'x' } })
      await client.post(text.replace('"x"', nested('[', ']', levels)))
      await expectAlive(client)
    }
    expect(storage.getStore()).toBe(1)
  })
})

test.each(KINDS)(
  'M.wide-object M.index-keys M.big-number very many members and digits cost time in proportion over %s at %s',
  async (transport, revision) => {
    const client = await open(app, { transport, revision })
    const good = client.requestText('spoilt', 'tools/call', { name: 'any', arguments: { a: 'x' } })
    const keys = (toKey: (at: number) => string, count: number): string =>
      good.replace(
        '"a":"x"',
        Array.from({ length: count }, (_, at) => `${JSON.stringify(toKey(at))}:1`).join(),
      )
    const timed = async (text: string): Promise<unknown> => {
      let reply: unknown
      expect(await processorMs(async () => (reply = await client.post(text)))).toBeLessThan(5000)
      return reply
    }
    const wide = [
      keys((at) => `key ${at}`, 60_000),
      keys((at) => String(at * 65_537), 20_000),
      keys((at) => String(4_294_967_296 + at * 1024), 20_000),
    ]
    for (const text of wide) {
      const shown = expect.stringMatching(/^[26]0000 members$/) as string
      expect(await timed(text)).toMatchObject({ result: { content: [{ text: shown }] } })
    }
    // Distinct keys of one object take the longest of all values to read, so their limit is lower.
    for (const count of [80_000, 200_000])
      await expectRefused(
        client,
        keys((at) => `key ${at}`, count),
        -32600,
      )
    // Numbers as names take ten times as long.
    await expectRefused(
      client,
      keys((at) => String(at * 65_537), 25_000),
      -32600,
    )
    expect(await timed(good.replace('"x"', '9'.repeat(1_000_000)))).toMatchObject({ result: {} })
    expect(await timed(good.replace('"x"', `0.${'1'.repeat(1_000_000)}e-5`))).toMatchObject({
      result: {},
    })
    await expectAlive(client)
    await client.close()
  },
)

scenario(
  'M.method-1m M.toolname-1m names of a million letters get a short answer [R144]',
  app,
  async (client) => {
    const long = 'x'.repeat(1_000_000)
    const requests: [string, Record<string, unknown>][] = [
      ['tools/call', { name: long }],
      ['prompts/get', { name: long }],
      ['resources/read', { uri: long }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: long }, argument: { name: 'a', value: 'x' } },
      ],
      [
        'completion/complete',
        { ref: { type: 'ref/resource', uri: long }, argument: { name: 'a', value: 'x' } },
      ],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: long, value: 'x' } },
      ],
      ['tools/list', { cursor: long }],
      ['resources/subscribe', { uri: long }],
      ['logging/setLevel', { level: long }],
      [long, {}],
    ]
    for (const [method, params] of requests) {
      await expectRefused(
        client,
        client.requestText('spoilt', method, params),
        method === long ? -32601 : -32602,
      )
      expect(client.transcript.at(-1)?.text.length).toBeLessThan(4096)
    }
    await expectAlive(client)
  },
  { until: '2025-11-25' },
)

test('M.method-1m M.toolname-1m at 2026-07-28 headers of a million characters are rejected by HTTP, and line transports answer briefly', async () => {
  const { port } = await start(app as never)
  const long = 'x'.repeat(1_000_000)
  const { headers, body } = headed(long)
  expect((await post(port, body, headers)).status).toBe(431)
  expect((await post(port, body, { ...headers, 'mcp-method': 'x' })).text.length).toBeLessThan(4096)
  for (const transport of ['memory', 'stdio'] as const) {
    const client = await open(app, { transport, revision: '2026-07-28' })
    await expectRefused(client, client.requestText('spoilt', long), -32601)
    for (const method of ['tools/call', 'prompts/get']) {
      await expectRefused(client, client.requestText('spoilt', method, { name: long }), -32602)
    }
    await expectRefused(client, client.requestText('spoilt', 'resources/read', { uri: long }), -32602)
    for (const { text } of client.transcript.filter(({ from }) => from === 'server')) {
      expect(text.length).toBeLessThan(4096)
    }
    await client.close()
  }
})

test('M.method-control a method with control characters is unknown, over stdio, tcp and ws, and under headers that cannot say it', async () => {
  const lines = (['stdio', 'tcp', 'ws'] as const).flatMap((way) =>
    REVISIONS.map((one) => [way, one] as const),
  )
  const earlier = REVISIONS.filter((revision) => revision !== '2026-07-28')
  for (const [transport, revision] of [...lines, ...earlier.map((one) => ['http', one] as const)]) {
    const client = await open(app, { transport, revision })
    for (const method of ['tools/call\r\n', '\u001b[2J', 'a\0b', '\u202e', 'x\u2028y']) {
      const reply = await expectRefused(client, client.requestText('spoilt', method), -32601)
      expect(reply.id).toBe('spoilt')
    }
    await client.close()
  }
  const { port } = await start(app as never)
  const { headers, body } = headed('tools/call\r\nx')
  expect((await post(port, body, { ...headers, 'mcp-method': 'tools/call' })).status).toBe(400)
})

const BROKEN: readonly [string, number[]][] = [
  ['a stray continuation', [0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ['a cut sequence', [0xe2, 0x82]],
  ['no UTF-8 at all', [0xff, 0xfe]],
]

test.each(BROKEN)(
  'M.utf8-bad M.utf8-bad.refused %s is refused over HTTP and stdio in every revision [R009] [R068]',
  async (_, bytes) => {
    const spoilt = (text: string): Buffer => {
      const [head = '', tail = ''] = text.split('SPOILT')
      return Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)])
    }
    const { port } = await start(app as never)
    const before = attacked.ran
    for (const revision of REVISIONS) {
      const params = { name: 'echo', arguments: { text: 'SPOILT' } }
      const { body, headers } = headed('tools/call', params)
      const session = revision === '2026-07-28' ? undefined : await openSession(port, revision)
      const reply = await post(
        port,
        spoilt(session === undefined ? body : message('tools/call', params, 1)),
        session?.headers ?? headers,
      )
      expect([reply.status, reply.json]).toMatchObject([400, { error: { code: -32700 } }])
    }
    expect(attacked.ran).toBe(before)
    const body = spoilt(message('ping', { a: 'SPOILT' }, 1))

    const [input, output] = [new PassThrough(), new PassThrough()]
    const server = serveStdio(serviceOf(app), { limits: app.limits, input, output })
    let said = ''
    output.on('data', (chunk: Buffer) => void (said += chunk.toString('utf8')))
    input.write(body)
    input.write('\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
    input.end()
    await server.closed
    const replies = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect(replies).toMatchObject([{ error: { code: -32700 } }, { id: 2, result: {} }])
  },
)

test.each(BROKEN)(
  'M.utf8-bad M.utf8-bad.refused %s is refused over tcp, and over ws with 1007, in every revision [R009] [R068]',
  async (_, bytes) => {
    const before = attacked.ran
    const running = await app.listen({ tcp: { port: 0 }, ws: { port: 0 }, onUncaught: 'exit' })
    onTestFinished(() => running.close())
    for (const revision of REVISIONS) {
      const [head = '', tail = ''] = echo(revision, 5, 'SPOILT').split('SPOILT')
      const spoilt = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)])
      const wire = await greet(await dial(running.addresses.tcp), revision)
      const ping = `${message('ping', {}, 2)}\n`
      await wire.write(ping, spoilt, '\n', ping)
      const pong = { id: 2, result: {} }
      expect(await wire.heard(3)).toMatchObject([pong, { error: { code: -32700 } }, pong])
      wire.socket.destroy()
      const raw = await openWs(Number(new URL(running.addresses.ws as string).port))
      raw.write(frame(spoilt))
      expect(await raw.closeCode()).toBe(1007)
    }
    expect(attacked.ran).toBe(before)
  },
)

test('M.batch-members a batch cannot smuggle in requests of another revision [R016]', async () => {
  const client = await open(app, { transport: 'memory', revision: '2025-03-26' })
  const modern = await open(app, { transport: 'memory', revision: '2026-07-28' })
  const before = attacked.ran
  await expectRefused(client, `[${sound(client, 'a')},${sound(modern, 'b')}]`, -32600)
  expect(attacked.ran).toBe(before)
})
