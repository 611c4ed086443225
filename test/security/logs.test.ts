import { pino } from 'pino'
import { Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type ServerOptions } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { bundle, run } from './bundle.ts'

test.each([
  ['argument', /no such item: .*left out.*caused by Error: not found: /s],
  ['requestId', /requestId: 'x+ … \[\d+ characters left out\]/],
  ['requestIds', /^pierhead error: tool "down" failed \{ reference: '[-0-9a-f]{36}' \} \n/],
  ['hidden', /requestId: '\\\\u202e\\\\u2028forged'/],
  ['target', /target: 'x:\/\/(\\\\u2028)+ … \[\d+ characters left out\]/],
])(
  'N.log-huge a message of 48 MB full of %s, repeated in an error, neither fills the log nor exhausts a server with 400 MB',
  { timeout: 120_000 },
  async (what, shown) => {
    const flags = ['--max-old-space-size=400']
    const { code, stdout, stderr } = await run(bundle('logs-server'), [what], '', flags)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/reference [-0-9a-f]{36}/)])
    expect(stderr.length).toBeLessThan(100_000)
    expect(stderr).toMatch(shown)
    // A single line of a client's text must not take the place of the frames.
    expect(stderr).toMatch(/\n {8}at /)
    expect(stderr).not.toMatch(/[\u2028\u202e]/)
  },
)

const BIG = 'y'.repeat(1_000_000)

/** An error whose every text is long, with ten causes. */
function verbose(): Error {
  let error = new Error(`the last\u202e${BIG}`)
  for (let at = 0; at < 10; at++) error = new Error(`${at}${BIG}`, { cause: error })
  return error
}

/** Things that handlers throw, each costly or impossible to write as text. */
const THROWN: readonly [string, () => unknown][] = [
  ['long causes', verbose],
  ['a long name', () => Object.assign(new Error('e'), { name: BIG })],
  ['a long text', () => BIG],
  ['a large list', () => Array.from({ length: 1_000_000 }, (_, at) => at)],
  ['a large object', () => ({ a: { b: { c: { d: Array.from({ length: 100 }, () => BIG) } } }, [BIG]: BIG })],
  ['an error that is its own cause', () => circular(1)],
  ['a circle of causes', () => circular(3)],
  ['an object that contains itself', () => ((own) => Object.assign(own, { own }))({})],
  [
    'an error whose texts are not text',
    () => Object.assign(new Error('e'), { message: { a: BIG }, stack: [BIG] }),
  ],
  [
    'an error whose message throws',
    () =>
      Object.defineProperty(new Error('e'), 'message', {
        get: () => {
          throw new Error('no')
        },
      }),
  ],
  [
    'an object whose members throw',
    () => ({
      get a() {
        throw new Error('no')
      },
    }),
  ],
  ['something large of another type', () => 10n ** 100_000n],
  ['nothing', () => undefined],
]

function circular(length: number): Error {
  const errors = Array.from({ length }, (_, at) => new Error(`circle ${at}`))
  for (const [at, error] of errors.entries()) error.cause = errors[(at + 1) % length]
  return errors[0] as Error
}

interface Logging {
  readonly log: NonNullable<ServerOptions['log']>
  /** All that was logged, as JSON. */
  text(): string
}

const LOGS: Readonly<Record<string, () => Logging>> = {
  function: () => {
    const lines: unknown[] = []
    return { log: (...line) => void lines.push(line), text: () => JSON.stringify(lines) }
  },
  pino: () => {
    let text = ''
    const stream = new Writable({ write: (chunk, _, done) => ((text += String(chunk)), done()) })
    return { log: pino(stream), text: () => text }
  },
  logger: () => {
    const lines: unknown[] = []
    const add = (...line: unknown[]): void => void lines.push(line)
    return { log: { warn: add, error: add }, text: () => JSON.stringify(lines) }
  },
}

test.each(
  Object.entries(LOGS).flatMap(([kind, log]) => THROWN.map((thrown) => [kind, log, ...thrown] as const)),
)(
  'a log that is a %s gets a bounded entry for %3$s, and the caller its reference',
  async (_kind, open, _what, make) => {
    const { log, text } = open()
    const app = createServer({ name: 'x', version: '1', log }).tool('fail', {}, () => {
      throw make()
    })
    const client = await connect(app)
    onTestFinished(() => client.close())
    const { content } = await client.callRaw('fail')
    const [, reference] = /^tool "fail" failed \(reference (.*)\)$/.exec(
      (content[0] as { text: string }).text,
    )!
    expect(text()).toContain(reference)
    expect(text()).toContain('tool \\"fail\\" failed')
    expect(text().length).toBeLessThan(120_000)
    expect(text()).not.toContain('\u202e')
  },
)

test('what was cut says so, and the frames stay', async () => {
  const entries: JsonObject[] = []
  const log: Logging['log'] = (_level, _message, facts) => void entries.push(facts?.['error'] as JsonObject)
  const app = createServer({ name: 'x', version: '1', log })
    .tool('long', {}, () => {
      throw verbose()
    })
    .tool('circular', {}, () => {
      throw circular(2)
    })
    .tool('list', {}, () => {
      const list: unknown = Array.from({ length: 1000 }, (_, at) => at)
      throw list
    })
  const client = await connect(app)
  onTestFinished(() => client.close())
  for (const name of ['long', 'circular', 'list'] as const) await client.callRaw(name)
  const [long, circle, list] = entries as [JsonObject, JsonObject, JsonObject]
  for (const member of ['message', 'stack']) expect(long[member]).toMatch(/ … \[\d+ characters left out\] … /)
  expect(long['stack']).toMatch(/^Error: 9yyy[^]*\n {4}at [^]*logs\.test\.ts/)
  let last = long
  for (let at = 0; at < 4; at++) last = last['cause'] as JsonObject
  expect(last).toMatchObject({
    message: expect.stringMatching(/^5yyy/),
    cause: { message: '… [further causes left out]' },
  })
  expect(circle).toMatchObject({
    message: 'circle 0',
    cause: { message: 'circle 1', cause: { message: '… [further causes left out]' } },
  })
  expect(list['message']).toMatch(/^\[0,1,2,.*"… \[\d+ more\]"\]$/)
})

test.each<[string, Logging['log']]>([
  [
    'throws',
    () => {
      throw new Error('disk full')
    },
  ],
  ['rejects', () => Promise.reject(new Error('disk full')) as never],
  [
    'is a logger that throws',
    {
      warn: () => {
        throw new Error('disk full')
      },
      error: () => {
        throw new Error('disk full')
      },
    },
  ],
  [
    'is a logger that rejects',
    { warn: () => Promise.reject(new Error('a')), error: () => Promise.reject(new Error('a')) },
  ],
])('a log that %s fails no request', async (_how, log) => {
  const unhandled: unknown[] = []
  const listener = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', listener)
  onTestFinished(() => void process.off('unhandledRejection', listener))
  const app = createServer({ name: 'x', version: '1', log })
    .tool('fail', {}, () => {
      throw new Error('plain')
    })
    .tool('broken', { output: { type: 'object', required: ['a'] } as const }, (() => ({})) as never)
    .resource('r://{id}', { visible: (async () => true) as never }, () => 'r')
    .resource(
      'l://{id}',
      {
        list: () => {
          throw new Error('list')
        },
      },
      () => 'l',
    )
    .prompt('fail', {}, () => {
      throw new Error('plain')
    })
    .tool('odd', {}, (() => undefined) as never)
  const client = await connect(app)
  onTestFinished(() => client.close())
  const textOf = async (name: 'fail' | 'broken' | 'odd'): Promise<unknown> =>
    (await client.callRaw(name)).content
  expect(await textOf('fail')).toMatchObject([
    { text: expect.stringMatching(/^tool "fail" failed \(reference /) },
  ])
  expect(await textOf('broken')).toMatchObject([
    { text: expect.stringMatching(/output schema \(reference /) },
  ])
  await textOf('odd')
  await expect(client.prompt('fail')).rejects.toThrow(/^internal error \(reference /)
  expect(await client.templates().toArray()).toMatchObject([{ uriTemplate: 'l://{id}' }])
  await new Promise(setImmediate)
  expect(unhandled).toEqual([])
})

test('a warning names what a request wants only if that is text, and only its beginning', async () => {
  const messages: string[] = []
  const app = createServer({ name: 'x', version: '1', log: (_level, message) => void messages.push(message) })
    .prompt('p', {}, () => 'p')
    .use('prompts/get', (ctx, next) => {
      ctx.progress('half' as never)
      return next()
    })
  const client = await connect(app)
  onTestFinished(() => client.close())
  for (const name of [BIG, { a: BIG }, 'p'])
    await client.request('prompts/get', { name }).catch(() => undefined)
  const reported = 'reported the progress "half", which is not a number; write progress(50, 100)'
  expect(messages).toEqual([
    `prompts/get of "${BIG.slice(0, 512)}" ${reported}`,
    `prompts/get ${reported}`,
    `prompts/get of "p" ${reported}`,
  ])
})
