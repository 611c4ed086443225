import { describe, expect, test } from 'vitest'
import { parseTemplate } from './parse.ts'

describe('parsing a template', () => {
  test('keeps the text and names the variables in order [S2-3.7-2]', () => {
    const template = parseTemplate('orders://{id}/lines{/path*}{?q,page:3}{#frag}')
    expect(template.text).toBe('orders://{id}/lines{/path*}{?q,page:3}{#frag}')
    expect(template.variables).toEqual(['id', 'path', 'q', 'page', 'frag'])
  })

  test('accepts names with digits, underscores, inner dots and triplets', () => {
    expect(parseTemplate('{a.b_1,2x,%41}').variables).toEqual(['a.b_1', '2x', '%41'])
  })

  test('accepts text without any expression, even none', () => {
    expect(parseTemplate('config://app').variables).toEqual([])
    expect(parseTemplate('').variables).toEqual([])
  })

  test('accepts a repeated variable only when asked to', () => {
    expect(() => parseTemplate('{/who,who}')).toThrow('appears twice')
    expect(parseTemplate('{/who,who}', { repeats: true }).variables).toEqual(['who'])
  })

  test('cannot be changed afterwards', () => {
    const template = parseTemplate('a://{b}')
    expect(Object.isFrozen(template)).toBe(true)
    expect(Object.isFrozen(template.variables)).toBe(true)
    expect(Object.isFrozen(template.parts)).toBe(true)
  })
})

// oxfmt-ignore
const MALFORMED: readonly (readonly [text: string, position: number, problem: string, fix: string])[] = [
  ['a://{id',        4, 'this "{" is not closed',                    'add "}"'],
  ['a://{id/{x}',    4, 'this "{" is not closed',                    'add "}"'],
  ['a://id}',        6, 'this "}" has no opening "{"',               'write it as %7D'],
  ['a://{}',         5, 'the expression is empty',                   'name a variable'],
  ['{=a}',           1, 'the operator "=" is reserved',              'use one of + # . / ; ? &'],
  ['{,a}',           1, 'the operator "," is reserved',              'use one of + # . / ; ? &'],
  ['{!a}',           1, 'the operator "!" is reserved',              'use one of + # . / ; ? &'],
  ['{@a}',           1, 'the operator "@" is reserved',              'use one of + # . / ; ? &'],
  ['{|a}',           1, 'the operator "|" is reserved',              'use one of + # . / ; ? &'],
  ['{$a}',           1, '"$" is not an operator',                    'use one of + # . / ; ? &'],
  ['{-join|a}',      1, '"-" is not an operator',                    'use one of + # . / ; ? &'],
  ['{ a}',           1, '" " is not an operator',                    'use one of + # . / ; ? &'],
  ['{é}',            1, '"é" is not an operator',                    'use one of + # . / ; ? &'],
  ['{+}',            2, 'a variable name is missing',                'add it'],
  ['{a,}',           3, 'a variable name is missing',                'add it'],
  ['{a,,b}',         3, 'a variable name is missing',                'add it'],
  ['{??a}',          2, 'a variable name may not start with "?"',    'use letters'],
  ['{?a, b}',        4, 'a variable name may not start with " "',    'use letters'],
  ['{a-b}',          2, '"-" is not allowed in a variable name',      'use letters'],
  ['{a.}',           2, '"." is not allowed in a variable name',      'single dots'],
  ['{a..b}',         2, '"." is not allowed in a variable name',      'single dots'],
  ['{a%4}',          2, '"%" is not allowed in a variable name',      'use letters'],
  ['{a😀}',          2, '"😀" is not allowed in a variable name',     'use letters'],
  ['{a**}',          2, '"*" is not allowed in a variable name',      'use letters'],
  ['{a:0}',          2, 'the prefix length "0" is not within 1 to 9999',     '{id:3}'],
  ['{a:01}',         2, 'the prefix length "01" is not within 1 to 9999',    '{id:3}'],
  ['{a:10000}',      2, 'the prefix length "10000" is not within 1 to 9999', '{id:3}'],
  ['{a:x}',          2, 'the prefix length "x" is not within 1 to 9999',     '{id:3}'],
  ['{a:}',           2, 'the prefix length "" is not within 1 to 9999',      '{id:3}'],
  ['{a:3*}',         2, '"*" and ":" cannot be combined',            'keep one'],
  ['{a*:3}',         2, '"*" and ":" cannot be combined',            'keep one'],
  ['{a}/{b,a}',      7, 'the variable "a" appears twice',           'its own name'],
  ['a b{c}',         1, '" " is not allowed in a URI',                'write it as %20'],
  ['a\u0000',        1, '"\\u0000" is not allowed in a URI',          'write it as %00'],
  ['a\\{b}',         1, '"\\\\" is not allowed in a URI',             'write it as %5C'],
  ['100%/{a}',       3, '"%" is not followed by two hexadecimal digits', 'write a percent sign as %25'],
]

describe('a malformed template', () => {
  test.each(MALFORMED)('%j is refused at position %i: %s', (text, position, problem, fix) => {
    const error = errorOf(() => parseTemplate(text))
    expect(error.message).toContain(`at position ${position}: ${problem}; `)
    expect(error.message).toContain(fix)
  })

  test('is refused when it is too long or has too many variables, with a short message [M.uri-redos]', () => {
    expect(errorOf(() => parseTemplate('a'.repeat(8193))).message).toContain('keep it within 8192')
    const many = Array.from({ length: 101 }, (_, index) => `{v${index}}`).join('')
    const error = errorOf(() => parseTemplate(many))
    expect(error.message).toContain('more than 100 variables')
    expect(error.message.length).toBeLessThan(400)
  })
})

function errorOf(run: () => unknown): Error {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof Error) return thrown
  }
  throw new Error('expected an Error to be thrown')
}
