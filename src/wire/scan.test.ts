import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Finding } from './full-scan.ts'
import { scan } from './scan.ts'

const DEPTH = 128
const call = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`
/** Beyond the length up to which a message is looked at as bytes. */
const long = (text: string): string => text.replace('{', `{"pad":"${'x'.repeat(600)}",`)

test('an ordinary message has nothing to find', () => {
  for (const text of [
    call('{"text":"hi"}'),
    call('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}'),
    '{}',
    '[]',
    '7',
    '"x"',
    'null',
  ]) {
    expect(scan(text, DEPTH)).toBeUndefined()
    expect(scan(long(text), DEPTH)).toBeUndefined()
  }
})

test('a repeated method is found [M.dup-method]', () => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}'
  expect(scan(text, DEPTH)).toEqual({ kind: 'duplicate', key: 'method' })
  expect(scan(long(text), DEPTH)).toEqual({ kind: 'duplicate', key: 'method' })
})

test('a repeated argument is found [M.dup-arg]', () => {
  expect(scan(call('{"path":"/a","path":"/b"}'), DEPTH)).toEqual({ kind: 'duplicate', key: 'path' })
})

test('repeated keys are found in params and in _meta', () => {
  expect(scan('{"params":{"name":"a","name":"b"}}', DEPTH)).toEqual({ kind: 'duplicate', key: 'name' })
  expect(scan('{"params":{"_meta":{"k":1,"k":2}}}', DEPTH)).toEqual({ kind: 'duplicate', key: 'k' })
  expect(scan('{"params":{"arguments":{"k":1},"_meta":{"k":2}}}', DEPTH)).toBeUndefined()
})

test.each([
  ['an object in the arguments', call('{"inner":{"a":1,"a":2}}')],
  ['an object in a list', call('{"list":[1,[{"b":{}},{"a":1,"a":2}]]}')],
  ['an object in a list of numbers', call(`{"list":[${'1,'.repeat(100)}{"a":1,"a":2}]}`)],
  ['an object that is the last of many', call(`{"list":[${'{"a":1,"b":[]},'.repeat(20)}{"a":1,"a":2}]}`)],
  ['another member of the params', '{"params":{"other":{"a":1,"a":2}}}'],
  ['params of a later message', '[{"params":{"x":{"a":1}}},{"params":{"x":{"a":1,"a":2}}}]'],
  ['an object after others with the same keys', call('{"a":{"b":{"a":{}}},"b":{"a":{"b":1},"a":2}}')],
  ['an object 60 levels down', call(`${'{"b":['.repeat(30)}{"a":1,"a":2}${']}'.repeat(30)}`)],
])('a repeated key is found in %s', (_, text) => {
  for (const each of [text, `${text}${' '.repeat(5000)}`])
    expect(scan(each, DEPTH)).toEqual({ kind: 'duplicate', key: 'a' })
})

test('keys in results and in other members of a message are left alone', () => {
  expect(scan('{"result":{"a":1,"a":2},"id":1}', DEPTH)).toBeUndefined()
  expect(scan('{"other":[{"a":1,"a":2}],"params":{}}', DEPTH)).toBeUndefined()
})

test('objects in any number of levels are scanned without an overflow', () => {
  const nested = call(`${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`)
  expect(scan(nested, Infinity)).toBeUndefined()
})

test('two spellings of one key are the same key', () => {
  expect(scan('{"id":1,"\\u0069d":2}', DEPTH)).toEqual({ kind: 'duplicate', key: 'id' })
  expect(scan('{"\\u0070arams":{"a":1,"\\u0061":2}}', DEPTH)).toEqual({ kind: 'duplicate', key: 'a' })
  expect(scan('{"\\"":1,"\\u0022":2}', DEPTH)).toEqual({ kind: 'duplicate', key: '"' })
  expect(scan('{"a\\\\":1,"a":2}', DEPTH)).toBeUndefined()
})

test('escapes in values hide nothing and invent nothing', () => {
  expect(scan(call('{"text":"\\\\","more":"\\"path\\":1,\\"path\\":2"}'), DEPTH)).toBeUndefined()
  expect(scan(call('{"text":"\\\\","text":"\\\\\\""}'), DEPTH)).toEqual({ kind: 'duplicate', key: 'text' })
})

test('a long key is cut before it is shown', () => {
  const key = 'k'.repeat(5000)
  expect(scan(`{"${key}":1,"${key}":2}`, DEPTH)).toEqual({ kind: 'duplicate', key: `${'k'.repeat(128)}…` })
})

test('nesting is allowed up to the limit and no further [M.deep]', () => {
  const nested = (levels: number): string => call('['.repeat(levels - 2) + ']'.repeat(levels - 2))
  for (const shape of [nested, (levels: number): string => long(nested(levels))]) {
    expect(scan(shape(DEPTH - 1), DEPTH)).toBeUndefined()
    expect(scan(shape(DEPTH), DEPTH)).toBeUndefined()
    expect(scan(shape(DEPTH + 1), DEPTH)).toEqual({ kind: 'deep' })
  }
})

test('a million levels are refused without being followed [M.deep]', () => {
  expect(scan('['.repeat(1_000_000), DEPTH)).toEqual({ kind: 'deep' })
  expect(scan('{"a":'.repeat(50_000), DEPTH)).toEqual({ kind: 'deep' })
  expect(scan('{"params":{"arguments":{}}}', 2)).toEqual({ kind: 'deep' })
  expect(scan('{}', 0)).toEqual({ kind: 'deep' })
})

test('an integer id that a number cannot hold keeps its digits [M.id-2p53] [S2-1.2-2]', () => {
  const withId = (id: string): Finding | undefined =>
    scan(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, DEPTH)
  expect(withId('9007199254740993')).toEqual({ kind: 'ids', ids: [9007199254740993n] })
  expect(withId('-9007199254740993')).toEqual({ kind: 'ids', ids: [-9007199254740993n] })
  expect(withId('1152921504606846975')).toEqual({ kind: 'ids', ids: [1152921504606846975n] })
  expect(withId('9007199254740992')).toEqual({ kind: 'ids', ids: [9007199254740992n] })
  expect(withId('9007199254740991')).toBeUndefined()
  expect(withId(' 9007199254740993 ')).toEqual({ kind: 'ids', ids: [9007199254740993n] })
})

test('ids with fraction or exponent, and ids that are strings, are left to the parsed value', () => {
  for (const id of [
    '1.5',
    '1e400',
    '90071992547409930e0',
    '9007199254740993.0',
    '"9007199254740993"',
    'null',
  ]) {
    expect(scan(`{"id":${id}}`, DEPTH)).toBeUndefined()
  }
})

test('an escaped spelling of the key id is still the id', () => {
  expect(scan('{"\\u0069d":9007199254740993}', DEPTH)).toEqual({ kind: 'ids', ids: [9007199254740993n] })
})

test('an id of absurd length is unusable', () => {
  expect(scan(`{"id":${'9'.repeat(1024)}}`, DEPTH)).toMatchObject({ kind: 'ids' })
  expect(scan(`{"id":${'9'.repeat(1025)}}`, DEPTH)).toEqual({ kind: 'id' })
  expect(scan(`{"id":-${'9'.repeat(1024)}}`, DEPTH)).toMatchObject({ kind: 'ids' })
  expect(scan(`{"id":${'9'.repeat(1_000_000)}}`, DEPTH)).toEqual({ kind: 'id' })
})

test('a repeated key outweighs a large id', () => {
  expect(scan('{"id":9007199254740993,"a":1,"a":2}', DEPTH)).toEqual({ kind: 'duplicate', key: 'a' })
})

test('each message of a batch is scanned, and large ids are given by position', () => {
  expect(scan('[{"id":1},{"id":9007199254740993},7,{"id":9007199254740995},{"id":2}]', DEPTH)).toEqual({
    kind: 'ids',
    ids: [undefined, 9007199254740993n, undefined, 9007199254740995n],
  })
  expect(scan('[{"id":1},{"id":1}]', DEPTH)).toBeUndefined()
  expect(scan('[{"id":1},{"a":1,"a":2}]', DEPTH)).toEqual({ kind: 'duplicate', key: 'a' })
  expect(scan('[[{"a":1,"a":2}]]', DEPTH)).toBeUndefined()
})

test('very many keys cost no more than in proportion', () => {
  const wide = (count: number): string =>
    call(`{${Array.from({ length: count }, (_, index) => `"${index * 4096}":0`).join(',')}}`)
  expect(scan(wide(200_000), DEPTH)).toBeUndefined()
  expect(scan(wide(200_000).replace('"8192":0', '"4096":0'), DEPTH)).toEqual({
    kind: 'duplicate',
    key: '4096',
  })
})

test('text that is not JSON ends the scan quietly', () => {
  const whole = call('{"text":"a\\"b","n":[1,{"x":null}],"m":9007199254740993}')
  for (let length = 0; length < whole.length; length++)
    expect(scan(whole.slice(0, length), DEPTH)).toBeUndefined()
  for (const text of ['{"a"', '{"a":', '{,}', '[,,]', '{"a" 1}', '{"a":}', '}]', '{"a":"\\', '\\', '']) {
    expect(scan(text, DEPTH)).toBeUndefined()
  }
})

test('a text that breaks off anywhere is scanned to its own end, whatever was scanned before it', () => {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'x', arguments: { a: 1, s: ['q\\', { b: 2 }] }, _meta: { 'k/k': {} } },
  }
  const whole = JSON.stringify(call)
  const texts = [whole, JSON.stringify([call, call]), JSON.stringify(call, undefined, 1)]
  // What these leave behind looks, at any place, like the rest of what breaks off there.
  const before = [',"id":1'.repeat(80), ',{"a":{"a":{'.repeat(60), '}'.repeat(700), `${',"'.repeat(300)}`]
  for (const text of texts)
    for (let length = 0; length < text.length; length++)
      for (const left of before) {
        scan(left, 64)
        expect(scan(text.slice(0, length), 64)).toBeUndefined()
      }
})

test('any text at all is scanned to an end', () => {
  const noise = fc.string({
    unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', ' ', 'a', '1', 'é', '😀'),
  })
  fc.assert(
    fc.property(noise, (text) => {
      scan(text, 8)
      scan(`{"params":${text}`, 8)
    }),
  )
})

test('the scan agrees with a slow reading of the same text', () => {
  fc.assert(
    fc.property(messageText, fc.constantFrom(0, 700), (text, padding) => {
      const padded = text + ' '.repeat(padding)
      expect(scan(padded, 6)).toEqual(readSlowly(padded, 6))
    }),
    { numRuns: 2000 },
  )
})

/** JSON text with repeated keys, odd spellings, white space and large ids. */
const spaces = fc.constantFrom('', '', '', ' ', '\n\t')
const keyText = fc
  .tuple(
    fc.constantFrom('id', 'params', 'arguments', '_meta', 'a', 'b', 'é', '😀', 'a"', 'b\\', ''),
    fc.nat(3),
  )
  .map(([key, spelling]) => (spelling === 0 ? toEscapes(key) : JSON.stringify(key)))
const leafText = fc.oneof(
  fc.constantFrom(
    '1',
    '-0',
    'true',
    'null',
    '9007199254740993',
    '-90071992547409930',
    '1e30',
    '1234567890123456.5',
    '"x"',
  ),
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '[', 'a', 'é') }).map((text) => JSON.stringify(text)),
)
const { valueText, objectText } = fc.letrec<{ valueText: string; objectText: string; listText: string }>(
  (tie) => ({
    valueText: fc.oneof({ maxDepth: 6, withCrossShrink: true }, leafText, tie('objectText'), tie('listText')),
    objectText: fc
      .array(fc.tuple(spaces, keyText, spaces, tie('valueText'), spaces), { maxLength: 5 })
      .map(
        (members) =>
          `{${members.map(([a, key, b, value, c]) => `${a}${key}${b}:${a}${value}${c}`).join(',')}}`,
      ),
    listText: fc.array(tie('valueText'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  }),
)
const messageText = fc.oneof(
  objectText,
  valueText,
  fc.array(objectText, { maxLength: 4 }).map((all) => `[${all.join(', ')}]`),
)

function toEscapes(key: string): string {
  return `"${[...Array(key.length).keys()].map((at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
}

type Node =
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Node])[] }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'leaf'; readonly text: string }

class Found extends Error {
  readonly finding: Finding

  constructor(finding: Finding) {
    super(finding.kind)
    this.finding = finding
  }
}

/** A plain recursive reading that keeps every member, asked the same questions in the order of the text. */
function readSlowly(text: string, maxDepth: number): Finding | undefined {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g) ?? []
  let next = 0
  const root = readNode()
  const ids: (bigint | undefined)[] = []
  try {
    if (root.kind === 'list') {
      if (maxDepth < 1) throw new Found({ kind: 'deep' })
      for (const [index, item] of root.items.entries()) visitMessage(item, index, 2)
    } else if (root.kind === 'object') visitMessage(root, 0, 1)
  } catch (found) {
    return (found as Found).finding
  }
  return ids.length === 0 ? undefined : { kind: 'ids', ids: Array.from(ids) }

  function readNode(): Node {
    const token = tokens[next++]!
    if (token === '{') {
      const members: [string, Node][] = []
      while (tokens[next] !== '}') {
        if (tokens[next] === ',') next++
        const key = JSON.parse(tokens[next]!) as string
        next += 2
        members.push([key, readNode()])
      }
      next++
      return { kind: 'object', members }
    }
    if (token !== '[') return { kind: 'leaf', text: token }
    const items: Node[] = []
    while (tokens[next] !== ']') {
      if (tokens[next] === ',') next++
      items.push(readNode())
    }
    next++
    return { kind: 'list', items }
  }

  function visitMessage(node: Node, index: number, depth: number): void {
    visitObject(node, depth, (key, value) => visit(value, depth + 1, key === 'params'))
    const id = node.kind === 'object' ? node.members.find(([key]) => key === 'id')?.[1] : undefined
    if (id?.kind === 'leaf' && /^-?\d+$/.test(id.text) && !Number.isSafeInteger(Number(id.text)))
      ids[index] = BigInt(id.text)
  }

  function visitObject(node: Node, depth: number, visitMember: (key: string, value: Node) => void): void {
    if (node.kind !== 'object') return visit(node, depth, false)
    if (depth > maxDepth) throw new Found({ kind: 'deep' })
    const seen = new Set<string>()
    for (const [key, value] of node.members) {
      if (seen.has(key)) throw new Found({ kind: 'duplicate', key })
      seen.add(key)
      visitMember(key, value)
    }
  }

  function visit(node: Node, depth: number, isWatched: boolean): void {
    if (node.kind === 'leaf') return
    if (isWatched && node.kind === 'object')
      return visitObject(node, depth, (_, value) => visit(value, depth + 1, true))
    if (depth > maxDepth) throw new Found({ kind: 'deep' })
    const inner = node.kind === 'list' ? node.items : node.members.map(([, value]) => value)
    for (const each of inner) visit(each, depth + 1, isWatched)
  }
}
