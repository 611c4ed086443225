import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTemplate } from './parse.ts'
import { expand, type TemplateValues } from './expand.ts'
import { match } from './match.ts'

const text = fc.string({ unit: 'binary', maxLength: 12 })
const filled = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
// Free of what could begin a later part of the template, and of percent signs, which reserved expansion leaves alone.
const path = filled.filter((value) => !/[%?#;]/.test(value))

interface Piece {
  readonly template: string
  readonly values: TemplateValues
}

function piece(template: string, values: Readonly<Record<string, fc.Arbitrary<TemplateValues[string]>>>) {
  return fc.record(values).map((drawn): Piece => ({ template, values: drawn }))
}

const maybe = (value: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> =>
  fc.option(value, { nil: undefined })

const start = fc.oneof(
  piece('a://', {}),
  piece('a://{id}', { id: filled }),
  piece('a://{id}/x-y/{other}', { id: filled, other: filled }),
  piece('é:/{/one,two}', { one: text, two: text }),
  piece('a://{x,y}', { x: filled, y: filled }),
  piece('a://{list*}', { list: fc.array(filled, { minLength: 1, maxLength: 4 }) }),
)
const middle = fc.oneof(
  piece('', {}),
  piece('/to/{+path}', { path }),
  piece('/in{/segments*}', { segments: fc.array(text, { maxLength: 4 }) }),
  piece('/in{/segment}', { segment: maybe(text) }),
)
const params = fc.oneof(
  piece('', {}),
  piece('{;m,n*}', { m: maybe(text), n: fc.array(text, { maxLength: 3 }) }),
)
const query = fc.oneof(
  piece('', {}),
  piece('{?q,page}', { q: maybe(text), page: maybe(text) }),
  piece('{?tags*,q}', { q: maybe(text), tags: fc.array(text, { maxLength: 3 }) }),
  piece('?fixed=1{&q,page}', { q: maybe(text), page: maybe(text) }),
)
const fragment = fc.oneof(
  piece('', {}),
  piece('{#frag}', { frag: maybe(text.filter((value) => !value.includes('%'))) }),
)

const whole = fc.tuple(start, middle, params, query, fragment)

const SYMBOLS = ['', '+', '#', '.', '/', ';', '?', '&']
const expression = fc.record({
  symbol: fc.constantFrom(...SYMBOLS),
  modifiers: fc.array(fc.constantFrom('', '*', ':1', ':3'), { minLength: 1, maxLength: 3 }),
})
const anyTemplate = fc
  .array(fc.oneof(expression, fc.constantFrom('a', '/', 'x?', '&', '=', ',', '.', '%20')), { maxLength: 6 })
  .map((parts) => {
    let count = 0
    const written = parts.map((part) => {
      if (typeof part === 'string') return part
      return `{${part.symbol}${part.modifiers.map((modifier) => `v${count++}${modifier}`).join(',')}}`
    })
    return written.join('')
  })
const uriLike = fc
  .array(
    fc.constantFrom('a', 'b', '/', '?', '&', '=', ',', '.', ';', '#', 'v0', 'v1=', '%20', '%C3%BC', '%', 'é'),
  )
  .map((parts) => parts.join(''))

describe('matching an expansion', () => {
  test('gives the values back [S2-3.7-2]', () => {
    fc.assert(
      fc.property(whole, (pieces) => {
        const template = parseTemplate(pieces.map((one) => one.template).join(''))
        const values = Object.assign({}, ...pieces.map((one) => one.values)) as TemplateValues
        const given = Object.entries(values).filter(([, value]) => value !== undefined)
        expect({ ...match(template, expand(template, values)) }).toEqual(Object.fromEntries(given))
      }),
      { numRuns: 2000 },
    )
  })

  test('finds a reading of every positional expansion, even of an ambiguous one', () => {
    const positional = anyTemplate.filter((template) => !/\{[;?&]/.test(template) && !template.includes(':'))
    const value = fc.string({
      unit: fc.constantFrom('a', 'b', '.', '/', '-', ' '),
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(positional, fc.array(value, { minLength: 18, maxLength: 18 }), (source, drawn) => {
        const template = parseTemplate(source)
        const values = Object.fromEntries(template.variables.map((name, index) => [name, drawn[index]]))
        expect(match(template, expand(template, values))).toBeDefined()
      }),
      { numRuns: 2000 },
    )
  })
})

describe('matching any text', () => {
  test('never throws, and what it reads expands to something that reads the same [M.uri-redos]', () => {
    fc.assert(
      fc.property(anyTemplate, fc.oneof(uriLike, fc.string({ unit: 'binary' })), (source, uri) => {
        const template = parseTemplate(source)
        const values = match(template, uri)
        // Decoding what reserved expansion would leave alone is not reversible.
        if (values === undefined || uri.includes('%')) return
        expect(match(template, expand(template, values))).toEqual(values)
      }),
      { numRuns: 3000 },
    )
  })

  // oxfmt-ignore
  const HOSTILE: readonly (readonly [template: string, unit: string])[] = [
    ['{+a}{+b}{+c}x', 'a'],
    ['{a}{b}{c}{d}{e}{f}x', 'a'],
    ['{/a*}{/b*}{/c*}x', '/'],
    ['{/a*}{/b*}{/c*}x', '/a'],
    ['{a*}{b*}{c*}!', 'a,'],
    ['{.a*}{.b*}{.c,d,e}!', '.'],
    ['{+a}aaaaaaaaaaaaaaab', 'a'],
    ['{+a}{?b,c*}x', '?b=1'],
    ['{+a}{?b,c*}[', '?b=1&c=2&c=3'],
    ['{+a}{?b*}', '?b&b'],
    ['{+a}{;b*,bb*,bbb*}x', ';bb'],
    ['{#a*}{+b}{#c*}x', '#,'],
    ['{+a:9999}{+b:9999}{+c:1}x', 'a'],
    ['{+a}{b}x', '%C3%BC'],
  ]

  test.each(HOSTILE)(
    '%s against many %s does work in proportion to the length [M.uri-redos] [R177]',
    (source, unit) => {
      const template = parseTemplate(source)
      // A URI that lacks the literal at the end is given up at once.
      const end = source.slice(source.lastIndexOf('}') + 1)
      const counts = [1024, 2048, 4096, 8192].map((length) => {
        const work = { steps: 0 }
        match(template, unit.repeat(Math.floor((length - end.length) / unit.length)) + end, work)
        return work.steps
      })
      for (const [index, steps] of counts.slice(1).entries())
        expect(steps / (counts[index] ?? 0)).toBeLessThan(2.1)
      expect(counts[3]).toBeGreaterThan(5000)
      // Lists take three times as long.
      expect(counts[3]).toBeLessThan(8193 * 3 * (2 * source.length + 4))
    },
  )

  test.each([
    ['a://x/{+path}', 'b://x/'],
    ['{+path}.md', 'a://x/'],
    ['a://{+path}/k1/{id}', 'a://k1/'],
    ['a://{+path}/k1/{id}/k2', 'a:///k2/k1/'],
  ])('%s against a URI without its literals in their order takes little work', (source, start) => {
    const work = { steps: 0 }
    expect(match(parseTemplate(source), start + 'b/'.repeat(4000), work)).toBeUndefined()
    expect(work.steps).toBeLessThan(4 * 8192)
  })

  test('of the largest template against the longest URI stays within the product of their lengths [M.uri-redos]', () => {
    const template = parseTemplate(Array.from({ length: 100 }, (_, index) => `{+v${index}*}`).join(''))
    const work = { steps: 0 }
    expect(match(template, 'a,'.repeat(4096), work)).toBeUndefined()
    expect(work.steps).toBeLessThan(8193 * 3 * 400)
  })
})
