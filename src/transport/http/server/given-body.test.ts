import { expect, test } from 'vitest'
import { Load } from '../../../rpc/load.ts'
import { takeBody } from './given-body.ts'

const NONE = {
  httpBytes: Infinity,
  heap: 1,
  depth: Infinity,
  values: Infinity,
  keys: Infinity,
  containers: Infinity,
  stringLength: Infinity,
}
const VALUE = { ab: [{}, 'xyz', 1, null], c: { d: true } }

type Taken = Parameters<typeof takeBody>[0]

function take(given: unknown, limits: Partial<typeof NONE> = {}): Taken {
  const request: Taken = { body: '' }
  takeBody(request, given, { ...NONE, ...limits }, { load: new Load() })
  return request
}

test.each([
  ['depth', 3],
  ['values', 8],
  ['keys', 3],
  ['containers', 4],
  ['stringLength', 3],
  // {"ab":[{},"xyz",1,n],"c":{"d":t}} without colons and commas
  ['httpBytes', 26],
] as const)('a parsed body may have exactly limits.%s', (name, limit) => {
  expect(take(VALUE, { [name]: limit }).parsed).toBe(VALUE)
  expect(() => take(VALUE, { [name]: limit - 1 })).toThrow(String(limit - 1))
})

test.each([[VALUE], [[]], [{}], [null], [[[['x']]]], [{ a: { b: {} } }], [Object.create(null)]])(
  'the size of a parsed body is at most that of its text, and not much less',
  (value) => {
    const { size = 0, body, parsed } = take(value)
    const { length } = JSON.stringify(value)
    expect([body, parsed]).toEqual(['', value])
    expect(size).toBeLessThanOrEqual(length)
    expect(size * 4).toBeGreaterThanOrEqual(length)
  },
)

test('a name that is too long is rejected as a string is', () => {
  expect(() => take({ four: 1 }, { stringLength: 3 })).toThrow('longer than 3 characters')
})

test('a parsed body may be nested as deep as it likes if there is no limit', () => {
  let value: unknown = 1
  for (let level = 0; level < 200_000; level++) value = [value]
  expect(take(value).size).toBe(400_001)
})

test('text is taken as it is, up to the limit in bytes', () => {
  expect(take('{"a":"ü"}', { httpBytes: 10 })).toEqual({ body: '{"a":"ü"}' })
  expect(() => take('{"a":"ü"}', { httpBytes: 9 })).toThrow('larger than 9 bytes')
})

test('bytes may come in any kind of view, and only the viewed part counts', () => {
  const bytes = new TextEncoder().encode('xx{"a":"ü"}\0')
  expect(take(bytes.buffer)).toEqual({ body: 'xx{"a":"ü"}\0' })
  const part = new DataView(bytes.buffer, 2, 10)
  expect(take(part, { httpBytes: 10 })).toEqual({ body: '{"a":"ü"}' })
  expect(() => take(part, { httpBytes: 9 })).toThrow('larger than 9 bytes')
})

test.each([[new Map()], [new Blob()], [new Date()], [new (class Own {})()]])(
  'an object that no JSON parser makes is no body',
  (given) => {
    expect(() => take(given)).toThrow('parsed, as text or as bytes')
  },
)

test('bytes become text, up to the limit', () => {
  const bytes = new TextEncoder().encode('{"a":"ü"}')
  expect(take(bytes, { httpBytes: 10 })).toEqual({ body: '{"a":"ü"}' })
  expect(() => take(bytes, { httpBytes: 9 })).toThrow('larger than 9 bytes')
  expect(() => take(Uint8Array.of(0xff))).toThrow(/JSON/)
})
