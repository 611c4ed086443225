import { createServer, defineTools, McpError, ToolError, type App } from 'pierhead'
import * as v from 'valibot'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { serviceOf } from '../../src/app/app.ts'
import { refusal } from '../harness/wire-error.ts'
import { callerOf } from './caller.ts'

/** What a user without types, or with a typo that types cannot see, may write. */
type Loose = Record<
  'tool' | 'resource' | 'prompt' | 'complete' | 'use' | 'add' | 'node',
  (...args: unknown[]) => unknown
>

let app: App
let loose: Loose
beforeEach(() => {
  app = createServer({ name: 'refusals', version: '1' })
  loose = app as unknown as Loose
})

function refused(run: () => unknown): McpError {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof McpError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}

describe('an option that does not exist is refused, and the nearest is named', () => {
  test.each([
    [
      'createServer',
      () => createServer({ name: 'x', version: '1', pagesize: 1 } as never),
      'pagesize',
      'pageSize',
    ],
    ['tool', () => loose.tool('t', { descripton: 'x' }, () => 1), 'descripton', 'description'],
    ['hints', () => loose.tool('t', { hints: { readonly: true } }, () => 1), 'readonly', 'readOnly'],
    ['resource', () => loose.resource('a://b', { mimetype: 'x' }, () => 1), 'mimetype', 'mimeType'],
    ['prompt', () => loose.prompt('p', { arg: {} }, () => 1), 'arg', 'args'],
    ['a name from elsewhere', () => loose.tool('t', { inputSchema: {} }, () => 1), 'inputSchema', 'input'],
    ['node', () => loose.node({ host: ['x'] }), 'host', 'hosts'],
  ])('%s', (_where, run, wrong, meant) => {
    const error = refused(run)
    expect(error.message).toContain(wrong)
    expect(error.message).toContain(`"${meant}"`)
    expect(error.hint).not.toBe('')
  })

  test('listen', async () => {
    await expect(app.listen({ htpp: {} } as never)).rejects.toThrow(/htpp.*"http"/)
    await expect(app.listen({ http: { prot: 0 } } as never)).rejects.toThrow(/prot.*"port"/)
    await expect(app.listen({ port: 0 } as never)).rejects.toThrow(/"port".*\{ http: \{ port \} \}/)
  })
})

describe('an option that cannot be meant so is refused in words', () => {
  test.each([
    ['no options', () => createServer(undefined as never), /createServer.*object/],
    ['a page of nothing', () => createServer({ name: 'x', version: '1', pageSize: 0 }), /pageSize/],
    [
      'a number for a version',
      () => createServer({ name: 'x', version: 1 as never }),
      /version must be a string/,
    ],
    ['no such limits', () => createServer({ name: 'x', version: '1', limits: 'hard' as never }), /'strict'/],
    ['a tool without options', () => loose.tool('t', () => 1), /write tool\(name, \{\}, handler\)/],
    [
      'text for options',
      () => loose.tool('t', 'Adds.', () => 1),
      /tool "t".*a string; write tool\(name, \{ description \}, handler\)/,
    ],
    ['a list of tools', () => loose.add([{ name: 't', run: () => 1 }]), /object with tools by name/],
    ['a map without handlers', () => loose.add({ t: { handler: () => 1 } }), /tool "t".*run/],
    ['text for a list', () => loose.node({ cors: '*' }), /cors: \['\*'\]/],
    [
      'a kind of item that is none',
      () => app.remove('tools' as never, 't'),
      /"tool", "resource" or "prompt"/,
    ],
  ])('%s', (_what, run, said) => {
    expect(refused(run).message).toMatch(said)
  })

  test('an invalid port or transport', async () => {
    await expect(app.listen({ http: { port: Number.NaN } })).rejects.toThrow(
      'listen http: port must be a whole number from 0 to 65535 (0 means any free port), not NaN',
    )
    expect(() => createServer({ name: 'x', version: '1', transports: ['sse' as never] })).toThrow(
      `createServer: transports must be a list, each element 'stdio' or 'http'; "sse" is not`,
    )
    await expect(app.listen({ stdio: false })).rejects.toThrow(/name a transport/)
  })
})

test.each([
  ['a Map', new Map([['a', 1]])],
  ['bytes', new Uint8Array(2)],
  ['a function', () => 'source'],
  ['an Error', new Error('returned')],
  ['a Map within', { found: new Map([['a', 1]]) }],
  ['a Promise in a list', [{ later: Promise.resolve(1) }]],
  ['a Response within', { page: new Response('text') }],
  ['bytes within', { bytes: Buffer.from('a') }],
  ['a Set in a whole result', { content: [], structuredContent: { all: new Set([1]) } }],
])('%s is no answer of a tool, and the log says so', async (_what, value) => {
  const told: unknown[] = []
  app = createServer({
    name: 'x',
    version: '1',
    log: (_level, _message, facts) => told.push(facts?.['error']),
  })
  app.tool('odd', {}, () => value)
  const client = await callerOf(app, '2025-11-25')
  expect(await client.call('odd')).toMatchObject({ isError: true })
  expect(told[0]).toMatchObject({
    name: 'TypeError',
    message: expect.stringMatching(/a tool cannot return/),
  })
  expect(JSON.parse(JSON.stringify(told[0]))).toEqual(told[0])
  await client.close()
})

const circle: Record<string, unknown> = { a: 1 }
circle['self'] = circle
const ring: unknown[] = [{ type: 'text', text: 'x' }]
ring.push(ring)
let well: object = {}
for (let depth = 0; depth < 100_000; depth++) well = { a: well }
const RECURSIVE = { type: 'object', properties: { a: { $ref: '#' }, self: { $ref: '#' } } } as const

test.each<[string, () => unknown, object?]>([
  ['an object that contains itself', () => circle],
  ['such an object for an output schema', () => circle, { type: 'object' }],
  ['such an object for a recursive output schema', () => ({ self: circle }), RECURSIVE],
  ['such an object in a whole result', () => ({ content: [], structuredContent: circle })],
  ['such an object from an async handler', async () => circle],
  [
    'such an object from a generator',
    function* () {
      yield circle
    },
  ],
  ['a list of content that contains itself', () => ring],
  ['an object that is nested too deeply', () => well],
  ['a deep object for a recursive output schema', () => well, RECURSIVE],
])('%s is no answer of a tool, and the log names the tool and the reason', async (_what, run, output) => {
  const told: unknown[] = []
  app = createServer({
    name: 'x',
    version: '1',
    log: (_level, message, facts) => told.push(message, facts?.['error']),
  })
  app.tool('endless', output === undefined ? {} : { output: output as typeof RECURSIVE }, run as () => never)
  const client = await callerOf(app, '2025-11-25')
  expect(await client.call('endless')).toMatchObject({ isError: true })
  expect(told).toMatchObject([
    'tool "endless" failed',
    {
      name: 'TypeError',
      message: 'the result contains itself, or is nested too deeply; leave out the reference',
    },
  ])
  await client.close()
})

test('a stack that overflows in a handler is reported as that', async () => {
  const told: unknown[] = []
  app = createServer({
    name: 'x',
    version: '1',
    log: (_level, _message, facts) => told.push(facts?.['error']),
  })
  const recurse = (): string => `${recurse()}`
  app.tool('recurse', {}, recurse)
  const client = await callerOf(app, '2025-11-25')
  expect(await client.call('recurse')).toMatchObject({ isError: true })
  expect(told).toMatchObject([{ name: 'RangeError' }])
  await client.close()
})

test('the log names the request whose result cannot be encoded', async () => {
  const log = vi.fn<(level: string, message: string, facts?: object) => void>()
  app = createServer({ name: 'x', version: '1', log })
  app.tool('odd', {}, () => ({ content: [{ type: 'text', text: 'x', _meta: circle }] }) as never)
  const client = await callerOf(app, '2025-11-25')
  await expect(client.call('odd')).rejects.toThrow(/^internal error/)
  const facts = { method: 'tools/call', target: 'odd', error: { name: 'TypeError' } }
  expect(log.mock.calls).toMatchObject([['error', 'a request failed', facts]])
  await client.close()
})

test('a tool may return anything that JSON preserves', async () => {
  class Point {
    x = 1
    get far() {
      return false
    }
  }
  const at = new Date(0)
  const value = {
    at,
    url: new URL('a://b'),
    point: new Point(),
    none: {},
    bare: Object.create(null),
    n: new Number(5),
  }
  app.tool('odd', {}, () => value)
  const client = await callerOf(app, '2025-11-25')
  expect(await client.call('odd')).toMatchObject({
    isError: false,
    content: [{ text: JSON.stringify(value) }],
  })
  await client.close()
})

test('failures sent as results are counted', async () => {
  app = createServer({ name: 'x', version: '1', log: () => undefined })
  app
    .tool('tool_failed', {}, () => {
      throw new Error('broken')
    })
    .tool('tool_output', { output: z.object({ n: z.number() }) }, () => ({ n: 'x' as never }))
    .tool('tool_timeout', { timeout: 5 }, () => new Promise(() => undefined))
    .tool('tool_input', { input: z.object({ n: z.number() }) }, () => 1)
  const client = await callerOf(app, '2025-11-25')
  for (const { key } of serviceOf(app).tools.items.values()) await client.call(key)
  expect([...app.counts]).toEqual([...serviceOf(app).tools.items.keys()].map((kind) => [kind, 1]))
  await client.close()
})

describe('a definition that no client could use is refused, and named', () => {
  test.each([
    ['an illegal name', () => app.tool('two words', {}, () => 1), /tool "two words"/],
    ['an empty name', () => app.tool('', {}, () => 1), /tool ""/],
    ['a name of 129 characters', () => app.tool('x'.repeat(129), {}, () => 1), /1 to 128/],
    ['no handler', () => loose.tool('t', {}), /tool "t".*handler/],
    [
      'schemas that nothing wraps',
      () => loose.tool('t', { input: { city: z.string() } }, () => 1),
      /tool "t".*z\.object/,
    ],
    [
      'an argument that no client can send',
      () => app.prompt('p', { args: z.object({ n: z.number() }) }, () => ''),
      /prompt "p".*"n".*strings/,
    ],
    ['an input that is no object', () => app.tool('t', { input: z.string() }, () => 1), /tool "t".*object/],
    [
      'a bare valibot schema',
      () => app.tool('t', { input: v.object({ a: v.string() }) }, () => 1),
      /tool "t".*valibot.*toStandardJsonSchema/,
    ],
    [
      'an output that JSON cannot carry',
      () => app.tool('t', { output: z.object({ at: z.date() }) }, () => ({ at: new Date() })),
      /tool "t".*output/,
    ],
    [
      'a broken raw schema',
      () => loose.tool('t', { input: { type: 'object', required: 'a' } }, () => 1),
      /tool "t".*required/,
    ],
    ['a bad duration', () => app.tool('t', { timeout: 'soon' }, () => 1), /tool "t": timeout.*soon/],
    ['a URI that is none', () => app.resource('not a uri', {}, () => ''), /resource "not a uri"/],
    ['a broken template', () => app.resource('a://{b', {}, () => ''), /resource "a:\/\/\{b"/],
    [
      'completion of nothing',
      () => app.complete('ghost', 'id', () => []),
      /"ghost".*define the prompt or template first/,
    ],
    ['a map with a bad tool', () => app.add(defineTools({ 'no way': { run: () => 1 } })), /tool "no way"/],
    ['middleware that is no function', () => loose.use('tools/call'), /middleware/],
  ])('%s', (_what, run, message) => {
    expect(refused(run).message).toMatch(message)
  })

  test('a name that is taken', () => {
    app
      .tool('t', {}, () => 1)
      .prompt('p', {}, () => '')
      .resource('a://b', {}, () => '')
    expect(refused(() => app.tool('t', {}, () => 2)).message).toMatch(/tool "t".*already/)
    expect(refused(() => app.prompt('p', {}, () => '')).message).toMatch(/prompt "p".*already/)
    expect(refused(() => app.resource('a://b', {}, () => '')).message).toMatch(/resource "a:\/\/b".*already/)
    expect(app.remove('tool', 't')).toBe(true)
    app.tool('t', {}, () => 2)
  })

  test('one bad tool does not spoil the others', async () => {
    app.tool('healthy', { input: z.object({ a: z.string() }) }, ({ a }) => a)
    refused(() => app.tool('bare', { input: v.object({ a: v.string() }) }, () => 1))
    refused(() => app.tool('text', { input: z.string() }, () => 1))
    const client = await callerOf(app, '2026-07-28')
    expect(await client.get('tools/list')).toMatchObject({ tools: [{ name: 'healthy' }] })
    expect(await client.call('healthy', { a: 'x' })).toMatchObject({ content: [{ text: 'x' }] })
    await client.close()
  })
})

test('a server needs a name and a version', () => {
  expect(refused(() => createServer({ version: '1' })).message).toMatch(/name/)
  expect(refused(() => createServer({ name: 'x' } as never)).message).toMatch(/version/)
  expect(refused(() => createServer({ name: 'x', version: '1', capabilities: ['tolls'] })).message).toMatch(
    /tolls/,
  )
  expect(refused(() => createServer({ name: 'x', version: '1', secret: 'short' })).message).toMatch(/16/)
})

test('a misspelt tool or prompt gets a suggestion', async () => {
  app.tool('search', {}, () => '').prompt('triage', {}, () => '')
  const client = await callerOf(app, '2025-11-25')
  expect((await refusal(client.call('serach'))).message).toBe(
    'tool "serach" does not exist; did you mean "search"?',
  )
  expect((await refusal(client.get('prompts/get', { name: 'triaeg' }))).message).toMatch(/"triaeg".*"triage"/)
  expect((await refusal(client.call('constructor'))).code).toBe(-32602)
  await client.close()
})

test('errors that a handler throws on purpose are shown to the model, the rest is masked', async () => {
  const told: unknown[] = []
  app = createServer({
    name: 'x',
    version: '1',
    log: (_level, _message, facts) => told.push(facts?.['reference']),
  })
  app.tool('purpose', {}, () => {
    throw new ToolError('No such order', { id: '7' })
  })
  app.tool('accident', {}, async () => {
    throw new Error('password hunter2 refused by db.internal')
  })
  const client = await callerOf(app, '2025-11-25')
  expect(JSON.stringify(await client.call('purpose'))).toContain('No such order')
  const masked = await client.call('accident')
  expect(masked).toMatchObject({ isError: true })
  expect(JSON.stringify(masked)).not.toMatch(/hunter2|db\.internal/)
  expect(JSON.stringify(masked)).toContain(String(told[0]))
  await client.close()
})

test('an error has a kind, a code, a hint and says whether to try again', () => {
  const error = refused(() => app.tool('two words', {}, () => 1))
  expect(error).toMatchObject({ name: 'McpError', kind: 'bad_definition', retryable: false })
  expect(error.code).toBeTypeOf('number')
  expect(error.hint).toBe(
    'Change the definition as the message says; docs/guides/server.md shows valid ones.',
  )
})
