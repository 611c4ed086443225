import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readChallenges } from '../../src/auth/client/www-authenticate.ts'

type Plain = readonly (readonly [string, Readonly<Record<string, string>>])[]

const read = (header: string | null): Plain =>
  readChallenges(header).map(({ scheme, params }) => [scheme, Object.fromEntries(params)] as const)

const METADATA = 'https://mcp.example.com/.well-known/oauth-protected-resource'

test.each<readonly [string | null, Plain]>([
  [null, []],
  ['', []],
  [' , ,', []],
  ['Bearer', [['bearer', {}]]],
  ['BEARER realm="a"', [['bearer', { realm: 'a' }]]],
  [
    `Bearer resource_metadata="${METADATA}", scope="a b"`,
    [['bearer', { resource_metadata: METADATA, scope: 'a b' }]],
  ],
  // Names in any case, tokens as values, and blanks around the equals sign.
  ['Bearer Error=invalid_token,  REALM = "x" ', [['bearer', { error: 'invalid_token', realm: 'x' }]]],
  ['Bearer\terror=a\t,\tscope=b', [['bearer', { error: 'a', scope: 'b' }]]],
  // Quoted values with escapes, commas, schemes and blanks.
  [
    String.raw`Bearer realm="a \"b\" \\ c, Basic x=\"y\"", scope=""`,
    [['bearer', { realm: 'a "b" \\ c, Basic x="y"', scope: '' }]],
  ],
  // Several challenges, in one header or in several joined by commas.
  [
    'Basic realm="a", Bearer error="b", DPoP algs="ES256 RS256"',
    [
      ['basic', { realm: 'a' }],
      ['bearer', { error: 'b' }],
      ['dpop', { algs: 'ES256 RS256' }],
    ],
  ],
  [
    'Negotiate, Bearer scope=a',
    [
      ['negotiate', {}],
      ['bearer', { scope: 'a' }],
    ],
  ],
  [
    'Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"',
    [
      ['newauth', { realm: 'apps', type: '1', title: 'Login to "apps"' }],
      ['basic', { realm: 'simple' }],
    ],
  ],
  [', Bearer , , a=b, ,c=d,', [['bearer', { a: 'b', c: 'd' }]]],
  // token68.
  [
    'Negotiate oYG2MIGzoAMKAQE=, Bearer a=b',
    [
      ['negotiate', {}],
      ['bearer', { a: 'b' }],
    ],
  ],
  ['NTLM TlRMTVNTUAACAAAA==', [['ntlm', {}]]],
  ['Negotiate a/b+c~d', [['negotiate', {}]]],
  // The first of two equal names counts.
  ['Bearer scope="a", scope="b"', [['bearer', { scope: 'a' }]]],
  // Names of objects are names like any other.
  ['Bearer __proto__=x, constructor="y"', [['bearer', { ['__proto__']: 'x', constructor: 'y' }]]],
  // What cannot be read is skipped up to the next comma.
  ['Bearer error="never closed, scope=a', [['bearer', {}]]],
  ['Bearer =x, scope=a', []],
  ['Bearer , =x, scope=a', [['bearer', { scope: 'a' }]]],
  ['Bearer a="b"c, scope=a', [['bearer', { a: 'b', scope: 'a' }]]],
  ['Bearer a=b c=d', [['bearer', { a: 'b', c: 'd' }]]],
  ['"x", Bearer a=b', [['bearer', { a: 'b' }]]],
  ['a=b, Bearer c=d', [['bearer', { c: 'd' }]]],
])('the header %j has the challenges %j', (header, challenges) => {
  expect(read(header)).toEqual(challenges)
})

test('the values of a quoted string keep characters that are not ASCII', () => {
  expect(read('Bearer error_description="não"')).toEqual([['bearer', { error_description: 'não' }]])
})

test('long headers, many challenges and many parameters are cut off', () => {
  expect(readChallenges('A,'.repeat(1000)).length).toBeLessThanOrEqual(20)
  const many = `Bearer ${Array.from({ length: 1000 }, (_, at) => `p${at}=x`).join()}`
  expect(readChallenges(many)[0]?.params.size).toBeLessThanOrEqual(50)
  expect(readChallenges(`Bearer a="${'x'.repeat(100_000)}"`)).toEqual([])
})

test('reading takes linear time', () => {
  for (const piece of ['a', ' ', ',', '=', '"', '\\', 'a ', 'a=', 'a=b ', '"\\', 'a="b",', 'A b=', '\t,']) {
    const began = performance.now()
    for (let round = 0; round < 20; round++) readChallenges(piece.repeat(16_000 / piece.length))
    expect(performance.now() - began).toBeLessThan(1000)
  }
})

test('any text is read without an error', () => {
  const pieces = fc.constantFrom('Bearer', ' ', ',', '=', '"', '\\', 'a', '\t', 'é', '/', '==')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (all) => {
      for (const { scheme, params } of readChallenges(all.join(''))) {
        expect(scheme).toBe(scheme.toLowerCase())
        for (const name of params.keys()) expect(name).toMatch(/^[^\s",=]+$/)
      }
    }),
  )
})

test('what is written is read again', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
  const value = fc.string({ maxLength: 20 }).filter((text) => /^[\x20-\x7e]*$/.test(text))
  const challenge = fc.tuple(
    name,
    fc.uniqueArray(fc.tuple(name, value), { selector: ([one]) => one, maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(challenge, { maxLength: 4 }), (challenges) => {
      const header = challenges
        .map(
          ([scheme, params]) =>
            `${scheme} ${params.map(([one, text]) => `${one}="${text.replace(/["\\]/g, '\\$&')}"`).join(', ')}`,
        )
        .join(', ')
      expect(readChallenges(header).map(({ scheme, params }) => [scheme, [...params]])).toEqual(challenges)
    }),
  )
})
