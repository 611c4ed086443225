import { expect, onTestFinished, test, vi } from 'vitest'
import type { LogFunction } from './logger.ts'
import { reporterOf } from './report.ts'

test('the log receives a thrown error as plain data, with its causes', () => {
  const log = vi.fn<LogFunction>()
  const report = reporterOf({ name: 'a', version: '1', log })
  const thrown = new TypeError('a', { cause: new Error('b', { cause: 'c' }) })
  report('error', 'broken', { error: thrown, more: 1 })
  const cause = { name: 'Error', message: 'b', stack: expect.any(String) }
  const error = { name: 'TypeError', message: 'a', stack: expect.any(String), cause }
  expect(log.mock.calls).toEqual([['error', 'broken', { error, more: 1 }]])
  report('warning', 'odd', { error: 5 })
  report('warning', 'odd', { error: Object.create(null) })
  report('warning', 'plain', { a: 1 })
  report('warning', 'bare')
  expect(log.mock.calls.slice(1)).toEqual([
    ['warning', 'odd', { error: { name: 'number', message: '5' } }],
    ['warning', 'odd', { error: { name: 'object', message: expect.any(String) } }],
    ['warning', 'plain', { a: 1 }],
    ['warning', 'bare', undefined],
  ])
})

test('without a log, messages go to stderr without hidden characters, and an error on lines of its own', () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => logged.mockRestore())
  const report = reporterOf({ name: 'a', version: '1' })
  const thrown = (members: object): Error => Object.assign(new Error('x'), members)
  report('warning', 'a\u001b[2J\n\u202eb\u2028', {
    c: 'd\u202e',
    error: thrown({ message: 'd', stack: 'e\n\u001bf\u2028\u{e0001}' }),
  })
  report('error', 'f', { error: thrown({ message: 'g', stack: undefined }) })
  report('error', 'h')
  const cause = thrown({ message: 'k\u001b', stack: 'Error: k\u001b\n    at l\n' })
  report('error', 'i', {
    error: thrown({ name: 'TypeError', message: 'j\npierhead error: no', stack: 'at m', cause }),
  })
  expect(logged.mock.calls).toEqual([
    [
      '%s',
      String.raw`pierhead warning: a\u001b[2J\u000a\u202eb\u2028`,
      { c: String.raw`d\u202e` },
      ['', 'Error: d', 'e', String.raw`\u001bf\u2028\u{e0001}`].join('\n    '),
    ],
    ['%s', 'pierhead error: f', '\n    g'],
    ['%s', 'pierhead error: h'],
    [
      '%s',
      'pierhead error: i',
      [
        '',
        'TypeError: j',
        'pierhead error: no',
        'at m',
        String.raw`caused by Error: k\u001b`,
        '    at l',
      ].join('\n    '),
    ],
  ])
})

test('text is cut where it is longer than a message or a name may be', () => {
  const log = vi.fn<LogFunction>()
  const report = reporterOf({ name: 'a', version: '1', log })
  const letters = (count: number): string => 'x'.repeat(count)
  report('error', letters(8192), { a: letters(512), error: letters(8192) })
  const whole = { a: letters(512), error: { name: 'string', message: letters(8192) } }
  expect(log.mock.lastCall).toEqual(['error', letters(8192), whole])
  report('error', letters(8193), { a: letters(513), error: letters(9000) })
  const cut = (half: number, more: number): string =>
    `${letters(half)} … [${more} characters left out] … ${letters(half)}`
  const parts = { a: cut(256, 1), error: { name: 'string', message: cut(4096, 808) } }
  expect(log.mock.lastCall).toEqual(['error', cut(4096, 1), parts])
})

test('of an object, a limited number of values is shown', () => {
  const log = vi.fn<LogFunction>()
  const report = reporterOf({ name: 'a', version: '1', log })
  const many = Array.from({ length: 100 }, (_, at) => at)
  report('error', 'a', { many: many.slice(0, 63), last: 1, bytes: new Uint8Array(9) })
  report('error', 'b', { bytes: new Uint8Array(9), big: 5n, none: null, off: false, gone: undefined })
  const own: Record<string, unknown> = {}
  own['own'] = own
  report('error', 'c', { own })
  expect(log.mock.calls.slice(0, 2).map(([, , facts]) => facts)).toEqual([
    { many: many.slice(0, 63), '…': '… [2 more]' },
    { bytes: '[9 bytes]', big: '5', none: null, off: false, gone: undefined },
  ])
  expect(JSON.stringify(log.mock.lastCall).match(/own/g)).toHaveLength(64)
})

test('the hint of an error reaches the log', () => {
  const log = vi.fn<LogFunction>()
  const thrown = Object.assign(new Error('broken'), { hint: 'Repair it.' })
  reporterOf({ name: 'a', version: '1', log })('error', 'a', { error: thrown })
  expect(log.mock.calls[0]?.[2]).toMatchObject({ error: { message: 'broken', hint: 'Repair it.' } })
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => logged.mockRestore())
  reporterOf({ name: 'a', version: '1' })('error', 'a', { error: thrown })
  expect(String(logged.mock.calls[0]?.[2])).toMatch(/Error: broken\n {4}Repair it\.\n/)
})
