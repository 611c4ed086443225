import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { pino, symbols } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from './app.ts'
import { takesStdout } from './logger.ts'
import type { ServerOptions } from './options.ts'
import { reporterOf } from './report.ts'

type Log = NonNullable<ServerOptions['log']>

/** A stream that keeps what is written to it. */
function sink(): { readonly stream: Writable; text(): string } {
  let text = ''
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk)
      done()
    },
  })
  return { stream, text: () => text }
}

const report = (log: Log): ReturnType<typeof reporterOf> => reporterOf({ name: 'x', version: '1', log })

test('pino gets the facts first, at its own levels, and messages with the format characters they have', () => {
  const { stream, text } = sink()
  const log = pino({ base: { own: 1 } }, stream)
  for (const logger of [log, log.child({ child: 2 })]) {
    report(logger)('warning', 'odd %s %o', { a: 1 })
    report(logger)('error', 'broken', { reference: 'r', error: new TypeError('t') })
    report(logger)('error', 'bare')
  }
  const error = { name: 'TypeError', message: 't', stack: expect.stringContaining('logger.test.ts') }
  const lines = text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  const expected = [
    { level: 40, own: 1, a: 1, msg: 'odd %s %o' },
    { level: 50, own: 1, reference: 'r', error, msg: 'broken' },
    { level: 50, own: 1, msg: 'bare' },
  ]
  expect(lines).toMatchObject([...expected, ...expected.map((line) => ({ ...line, child: 2 }))])
})

test('other loggers get the message first, without characters that control a terminal or a format', () => {
  const out = sink()
  const error = sink()
  const logger = new Console({ stdout: out.stream, stderr: error.stream })
  report(logger)('warning', 'unknown tool "%s\u001b[2J\n"', { a: 1 })
  report(logger)('error', 'bare 5%')
  expect([out.text(), error.text()]).toEqual([
    '',
    'unknown tool "\\u0025s\\u001b[2J\\u000a" { a: 1 }\nbare 5\\u0025\n',
  ])
})

test('a logger is called as a method', () => {
  const logger = {
    seen: [] as unknown[],
    warn(...args: unknown[]) {
      this.seen.push(['warn', ...args])
    },
    error(...args: unknown[]) {
      this.seen.push(['error', ...args])
    },
  }
  report(logger)('warning', 'a', { b: 1 })
  report(logger)('error', 'c')
  expect(logger.seen).toEqual([
    ['warn', 'a', { b: 1 }],
    ['error', 'c'],
  ])
})

test('console is the default: errors have their stack on lines of their own', () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => logged.mockRestore())
  const thrown = new Error('e')
  report(console)('error', 'broken', { error: thrown })
  reporterOf({ name: 'x', version: '1' })('error', 'broken', { error: thrown })
  expect(logged.mock.calls[0]).toEqual([
    '%s',
    'pierhead error: broken',
    expect.stringMatching(/^\n {4}Error: e\n/),
  ])
  expect(logged.mock.calls[1]).toEqual(logged.mock.calls[0])
})

test.each([5, true, 'pino', {}, { warn: () => undefined }, { info() {}, log() {}, error: 1, warn: 1 }])(
  'the log %j is rejected',
  (log) => {
    expect(() => createServer({ name: 'x', version: '1', log } as never)).toThrow(
      'createServer: log must be a function: (level, message, facts) => …, or a logger with the functions warn and error, such as console or pino',
    )
  },
)

test('whoever writes logger learns that it is called log', () => {
  expect(() => createServer({ name: 'x', version: '1', logger: console } as never)).toThrow(
    'there is no option "logger"; did you mean "log"?',
  )
})

test('a pino logger on stdout is recognized, and so is its child', () => {
  const onStdout = pino(pino.destination(1))
  expect((onStdout as unknown as Record<symbol, { fd: number }>)[symbols.streamSym]?.fd).toBe(1)
  expect([onStdout, onStdout.child({ a: 1 }).child({ b: 2 })].map(takesStdout)).toEqual([true, true])
  const others = [pino(pino.destination(2)), pino(sink().stream), console, () => undefined, undefined]
  expect(others.map(takesStdout)).toEqual([false, false, false, false, false])
})
