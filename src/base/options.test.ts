import { describe, expect, test } from 'vitest'
import {
  anything,
  callable,
  COUNT,
  DURATION,
  either,
  FLAG,
  listOf,
  NUMBER,
  object,
  OFF,
  oneOf,
  PORT,
  required,
  SIGNAL,
  TEXT,
  type Kind,
} from './kinds.ts'
import { checkNames, checkOptions } from './options.ts'

/** A kind, whatever its type. */
type AnyKind = Omit<Kind<unknown>, 'type'>

function said(kind: AnyKind, value: unknown): string | undefined {
  try {
    checkOptions<{ readonly it?: unknown }>('here', { it: value }, { it: kind } as never)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const run = (): void => undefined

describe('a value of another kind is refused in words', () => {
  test.each<[string, AnyKind, readonly unknown[], unknown, string]>([
    ['text', TEXT, ['', 'a'], 5, 'a string, not 5'],
    ['a flag', FLAG, [true, false], 'yes', 'true or false, not a string'],
    ['off', OFF, [false], true, 'false, not true'],
    ['a number', NUMBER, [0, -1, 0.5], Number.NaN, 'a number, not NaN'],
    ['a count', COUNT, [1, 1e9], 1.5, 'a whole number above 0, not 1.5'],
    ['a count above 0', COUNT, [1], 0, 'a whole number above 0, not 0'],
    [
      'a port',
      PORT,
      [0, 1, 65_535, '80'],
      65_536,
      'a whole number from 0 to 65535 (0 means any free port), not 65536',
    ],
    ['a port below 0', PORT, [1], -1, 'a whole number from 0 to 65535 (0 means any free port), not -1'],
    [
      'a duration',
      DURATION,
      [0, 5, '2m', '250ms', '1.5 h'],
      'soon',
      `a duration: milliseconds, or text such as '250ms', '20s', '2m' or '1h', not "soon"`,
    ],
    [
      'a duration below 0',
      DURATION,
      [0],
      -5,
      `a duration: milliseconds, or text such as '250ms', '20s', '2m' or '1h', not -5`,
    ],
    ['a signal', SIGNAL, [AbortSignal.abort()], {}, 'an AbortSignal, not an object'],
    ['a word', oneOf('a', 'b', 'c'), ['a', 'c'], 'd', `'a', 'b' or 'c', not "d"`],
    ['an only word', oneOf('strict'), ['strict'], 'hard', `'strict', not "hard"`],
    ['a list', listOf(TEXT), [[], ['a']], { a: 1 }, 'a list, each element a string, not an object'],
    ['a text for a list', listOf(TEXT), [], '*', "a list, each element a string; write it: ['*']"],
    ['a list of others', listOf(TEXT), [], ['a', 2], 'a list, each element a string; element 2 is not'],
    [
      'a list of other words',
      listOf(oneOf('a', 'b')),
      [],
      ['a', 'x'],
      `a list, each element 'a' or 'b'; "x" is not`,
    ],
    [
      'one of two kinds',
      either(FLAG, object()),
      [true, {}],
      'x',
      'true or false, or an object, not a string',
    ],
    [
      'one of two that may be repeated',
      either(DURATION, COUNT),
      [1],
      'x',
      `a duration: milliseconds, or text such as '250ms', '20s', '2m' or '1h', or a whole number above 0, not "x"`,
    ],
    ['an object', object('an object: tools by name'), [{}], [], 'an object: tools by name, not a list'],
    ['no object', object(), [{}], null, 'an object, not null'],
    ['a function', callable(), [run], {}, 'a function, not an object'],
    ['an object, not a function', object(), [{}], run, 'an object, not a function'],
  ])('%s', (_, kind, fitting, unfit, must) => {
    for (const value of fitting) expect(said(kind, value)).toBeUndefined()
    expect(said(kind, unfit)).toBe(`here: it must be ${must}`)
  })

  test('anything is checked elsewhere', () => {
    for (const value of [null, 5, 'x', run]) expect(said(anything(), value)).toBeUndefined()
  })

  test('text is repeated only up to a length', () => {
    expect(said(oneOf('a'), 'x'.repeat(1000))).toBe(`here: it must be 'a', not "${'x'.repeat(64)}"`)
  })
})

describe('an option', () => {
  interface Options {
    readonly port: number
    readonly host?: string
  }
  const check = (given: unknown, elsewhere?: ReadonlyMap<string, string>): void =>
    checkOptions<Options>('listen', given, { port: required(PORT), host: TEXT }, elsewhere)

  test('may be left out, or be undefined', () => {
    expect(() => check({ port: 0 })).not.toThrow()
    expect(() => check({ port: 0, host: undefined })).not.toThrow()
  })

  test('that is needed is asked for', () => {
    const words = 'listen: port is missing; it must be a whole number from 0 to 65535'
    for (const given of [{}, { port: undefined }]) expect(() => check(given)).toThrow(words)
    const own = { it: required(TEXT, 'name it') }
    expect(() => checkOptions<{ readonly it: string }>('here', {}, own)).toThrow('here: name it')
  })

  test('that does not exist is refused, with the one that was meant', () => {
    expect(() => check({ prot: 0 })).toThrow('listen: there is no option "prot"; did you mean "port"?')
    expect(() => check({ zebra: 0 })).toThrow(
      'listen: there is no option "zebra"; the options are port, host',
    )
    expect(() => check({ address: 0 }, new Map([['address', 'host']]))).toThrow('did you mean "host"?')
    for (const name of ['toString', '__proto__', 'constructor'])
      expect(() => check(JSON.parse(`{ "port": 0, "${name}": 1 }`))).toThrow(`there is no option "${name}"`)
  })

  test('is a member of an object', () => {
    for (const given of [undefined, null, 'x', []])
      expect(() => check(given)).toThrow('listen: expected an object with options: port, host')
  })
})

test('where only names are known, only they are checked', () => {
  expect(() => checkNames('limits', { depth: 'any' }, ['depth'])).not.toThrow()
  expect(() => checkNames('limits', { dept: 1 }, ['depth'])).toThrow(
    'limits: there is no option "dept"; did you mean "depth"?',
  )
  expect(() => checkNames('limits', null, ['depth'])).toThrow(
    'limits: expected an object with options: depth',
  )
})

test('the hint is the fix itself where one is certain', () => {
  const hint = (given: unknown): unknown => {
    try {
      checkOptions<{ readonly name?: unknown }>('here', given, { name: required(TEXT) } as never)
    } catch (error) {
      return (error as { readonly hint?: unknown }).hint
    }
    return undefined
  }
  expect(hint({ nam: 'a' })).toBe('Write name.')
  expect(hint({ quite: 1 })).toBe(
    'Pass a valid value: the message says which; your editor shows the comment of the option.',
  )
  expect(hint({})).toBe('Add name.')
  expect(hint({ name: 5 })).toMatch(/^Pass a valid value: /)
})
