import { readdirSync, readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import { toLimits } from '../../src/base/limits.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { CLIENT_LIMITS } from '../../src/protocol/client-limits.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { testClient } from '../../src/testing.ts'
import { serveStdio } from '../../src/transport/stdio/server.ts'
import { open } from '../harness/client.ts'
import { closeListeners } from '../harness/connection-http.ts'
import { carries, TRANSPORTS, type AnyApp } from '../harness/connection.ts'
import { Gate } from '../http/server.ts'

afterAll(() => closeListeners())

const folder = (name: string): string[] =>
  readdirSync(new URL(name, import.meta.url)).map((file) => `${name}/${file}`)

test('every limit is named by a test that tries it', () => {
  const files = [
    ...folder('.').filter((file) => file.includes('/limits-')),
    ...folder('../overload'),
    ...folder('../faults'),
    ...folder('../ws'),
    '../scenarios/progress.test.ts',
    '../http-client/replies-together.test.ts',
  ]
  const text = files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n')
  // In a title, as `limits.depth`; set, as `depth: 5`; or at the head of a table row, as `limit: 'depth'` or `['depth'`. A word that happens to be the same proves nothing.
  const isTried = (name: string): boolean =>
    new RegExp(`limits\\.${name}\\b|\\b${name}: [\\d(A-Z]|(?:limit: |\\[)'${name}'`).test(text)
  expect(Object.keys(toLimits()).filter((name) => !isTried(name))).toEqual([])
})

test('limits of "strict" are nowhere wider than the usual ones', () => {
  const wider = Object.entries({ ...LIMITS, ...CLIENT_LIMITS }).filter(
    ([, { usual, strict }]) => strict > usual,
  )
  expect(wider.map(([name]) => name)).toEqual(['reconnectFloorMs'])
  expect(toLimits('strict').depth).toBe(CLIENT_LIMITS.depth.strict)
})

test('an invalid limit and an unknown one are rejected, and the error says what to do', () => {
  for (const value of [0, -1, Number.NaN, '5', null]) {
    expect(() => toLimits({ depth: value } as never)).toThrow('limits.depth: it must be a positive number')
  }
  expect(() => toLimits({ dept: 5 } as never)).toThrow(/"dept".*did you mean "depth"/)
})

const waits = (limits: object): { readonly app: AnyApp; readonly gate: Gate } => {
  const gate = new Gate()
  const app = createServer({ name: 'waits', version: '1', limits })
    .tool('wait', {}, async () => {
      await gate.opened
      return 'done'
    })
    .tool('echo', {}, () => 'echo')
  return { app: app as AnyApp, gate }
}

const KINDS = TRANSPORTS.flatMap((transport) =>
  REVISIONS.filter((revision) => carries(transport, revision)).map(
    (revision) => [transport, revision] as const,
  ),
)
// Over HTTP an unnamed caller of 2026-07-28 is known by its connection, of which each request may have its own.
const KNOWN = KINDS.filter(([transport, revision]) => transport !== 'http' || revision !== '2026-07-28')

test.each(KNOWN)(
  'limits.inFlight one more request than a caller may have is refused, and the others are answered, over %s at %s',
  async (transport, revision) => {
    const { app, gate } = waits({ inFlight: 3 })
    const client = await open(app, { transport, revision })
    const running = [1, 2].map(() => client.call('wait'))
    await expect.poll(() => serviceOf(app).load.running).toBe(2)
    running.push(client.call('wait'))
    await expect.poll(() => serviceOf(app).load.running).toBe(3)
    const words = 'this caller already has 3 requests in flight'
    await expect(client.call('wait')).rejects.toMatchObject({ code: 1060, message: words })
    expect(app.counts.get('too_many_calls')).toBe(1)
    gate.open()
    for (const reply of await Promise.all(running)) expect(reply).toMatchObject({ isError: false })
    expect(await client.call('wait')).toMatchObject({ isError: false })
    await client.close()
  },
)

test.each(['memory', 'stdio'] as const)(
  'limits.streams one more stream than a connection may listen on is refused, and a place is free again when one ends, over %s',
  async (transport) => {
    const { app } = waits({ streams: 2 })
    const client = await open(app, { transport, revision: '2026-07-28' })
    const stop = await client.follow({ lists: ['tools'] })
    await client.follow({ lists: ['tools'] })
    const refused = client.request('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const words = 'this caller already has 2 listen streams open'
    await expect(refused).rejects.toMatchObject({ code: 1060, message: words })
    expect(app.counts.get('too_many_streams')).toBe(1)
    stop()
    await client.settle()
    await client.follow({ lists: ['tools'] })
    await client.close()
  },
)

test('limits.streamBytes a client on stdio that is far behind misses progress, and no answer', async () => {
  const app = createServer({ name: 'floods', version: '1', limits: { streamBytes: 100_000 } }).tool(
    'flood',
    {},
    async (_, { progress }) => {
      for (let step = 1; step <= 50; step++) {
        progress(step, 50, 'x'.repeat(10_000))
        await new Promise((resolve) => setImmediate(resolve))
      }
      return 'done'
    },
  )
  const [input, output] = [new PassThrough(), new PassThrough()]
  const server = serveStdio(serviceOf(app), { limits: app.limits, input, output })
  const lines = [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'flood', _meta: { progressToken: 1 } } },
  ]
  input.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await expect.poll(() => app.counts.get('notice_dropped') ?? 0).toBeGreaterThan(0)
  let said = ''
  output.on('data', (chunk: Buffer) => void (said += chunk.toString('utf8')))
  await expect.poll(() => said).toContain('"id":2,"result"')
  input.end()
  await server.closed
})

/** Schemas that are so many levels deep, or have so many subschemas. */
const deep = (levels: number): never => {
  let schema: object = { type: 'string' }
  for (let level = 2; level <= levels; level++) schema = { type: 'object', properties: { a: schema } }
  return schema as never
}
const wide = (count: number): never => {
  const properties = Array.from({ length: count - 1 }, (_, at) => [`p${at}`, { type: 'string' }])
  return { type: 'object', properties: Object.fromEntries(properties) } as never
}

test.each([
  ['schemaDepth', deep, 'is nested deeper than {} levels'],
  ['subschemas', wide, 'has more than {} subschemas'],
] as const)(
  'limits.%s a larger schema is refused where the tool or prompt is defined',
  (limit, make, words) => {
    for (const value of [10, LIMITS[limit].usual]) {
      const define = (size: number, part: 'input' | 'output'): unknown =>
        createServer({ name: 'defined', version: '1', limits: { [limit]: value } }).tool(
          'sized',
          { [part]: make(size) },
          () => 'x' as never,
        )
      for (const part of ['input', 'output'] as const) {
        for (const size of [value - 1, value]) expect(() => define(size, part)).not.toThrow()
        expect(() => define(value + 1, part)).toThrow(words.replace('{}', String(value)))
        expect(() => define(value + 1, part)).toThrow(expect.objectContaining({ kind: 'bad_definition' }))
      }
    }
  },
)

test.each([100, LIMITS.parsedText.usual])(
  'limits.parsedText a text of more than %i characters is not given to a library that parses it',
  async (parsedText) => {
    const app = createServer({ name: 'parsed', version: '1', limits: { parsedText } })
    app.tool('open', { input: z.object({ url: z.url(), text: z.string() }) }, () => 'opened')
    await using client = await testClient(app)
    const call = (length: number): Promise<unknown> =>
      client.call('open', { url: 'https://example.com/'.padEnd(length, 'a'), text: 'a'.repeat(100_000) })
    expect(await call(parsedText)).toBe('opened')
    await expect(call(parsedText + 1)).rejects.toThrow(`url: must have at most ${parsedText} characters`)
  },
)

test('limits.subschemas a library schema is counted in its converted form, and one object serves servers with different limits', () => {
  const input = z.object({ a: z.string(), b: z.string(), c: z.string() })
  const define = (subschemas: number): unknown =>
    createServer({ name: 'defined', version: '1', limits: { subschemas } }).tool(
      'sized',
      { input },
      () => 'x',
    )
  for (let again = 0; again < 2; again++) {
    expect(() => define(4)).not.toThrow()
    expect(() => define(3)).toThrow('has more than 3 subschemas')
  }
})

test('limits.nameLength a longer name is refused where the tool or prompt is defined', () => {
  for (const value of [10, LIMITS.nameLength.usual, 200]) {
    const app = createServer({ name: 'named', version: '1', limits: { nameLength: value } })
    for (const size of [value - 1, value]) {
      app.tool('n'.repeat(size), {}, () => 'x').prompt('n'.repeat(size), {}, () => 'x')
    }
    const long = 'n'.repeat(value + 1)
    expect(() => app.tool(long, {}, () => 'x')).toThrow(`a name has 1 to ${value} of the characters`)
    expect(() => app.prompt(long, {}, () => 'x')).toThrow(`a name has 1 to ${value} of the characters`)
  }
})
