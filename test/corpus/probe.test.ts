import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { withParts } from './parts.ts'
import { describe as shapeOf } from './probe.ts'
import { merged, misfitOf, type Shape } from './shape.ts'

const block = {
  anyOf: [
    {
      type: 'object',
      properties: { type: { const: 'text' }, text: { type: 'string' }, _meta: { type: 'object' } },
      required: ['type', 'text'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { type: { const: 'image' }, size: { type: 'integer', minimum: 0 } },
      required: ['type', 'size'],
      additionalProperties: false,
    },
  ],
}
const schema = {
  type: 'object',
  properties: {
    id: { type: ['string', 'integer'] },
    blocks: { type: 'array', items: block },
    level: { enum: ['low', 'high'] },
    priority: { type: 'number', minimum: 0, maximum: 1 },
    names: { type: 'object', additionalProperties: { type: 'string' } },
    limit: { type: ['integer', 'null'] },
    data: {},
  },
  required: ['id', 'blocks'],
  additionalProperties: false,
}
const examples = [
  { id: 1, blocks: [{ type: 'text', text: 'a' }], level: 'low', limit: 3 },
  {
    id: 'a',
    blocks: [
      { type: 'image', size: 4 },
      { type: 'text', text: 'b', _meta: { a: 1 } },
    ],
    priority: 0.3,
  },
  { id: 2, blocks: [], level: 'high', names: { a: 'b' }, data: [1] },
]
const validate = new Ajv2020({ allowUnionTypes: true }).compile(schema)
const learnt = examples
  .map((example) => shapeOf(example, (value) => validate(value)))
  .reduce<Shape>(merged, 'unseen')

test('a shape is learnt from a few valid examples and their variations', () => {
  expect(learnt).toEqual({
    id: 'integer | string',
    blocks: {
      '[]': {
        '|': [
          { type: "'text'", text: 'string', '_meta?': { '*': 'any' } },
          { type: "'image'", size: 'integer 0..' },
        ],
      },
    },
    'level?': "'high' | 'low'",
    'limit?': 'integer | null',
    'priority?': 'number 0..1',
    'names?': { '*': 'string' },
    'data?': 'any',
  })
})

test('parts that are used more than once are written once and mean the same', () => {
  const twice = { a: learnt, b: { '[]': learnt } }
  const { shapes, parts } = withParts({ Twice: twice })
  expect(shapes).toEqual({ Twice: { a: '@a', b: { '[]': '@a' } } })
  expect(parts).toEqual({ a: learnt })
  const [example] = examples
  expect(misfitOf({ a: example, b: [example] }, shapes['Twice']!, parts)).toBeUndefined()
  expect(misfitOf({ a: example, b: [5] }, shapes['Twice']!, parts)).toEqual({
    kind: 'wrong',
    text: 'it.b[0] is 5, not an object',
  })
})

test.each([
  [{ blocks: [] }, 'it.id is missing'],
  [{ id: true, blocks: [] }, 'it.id is true, not integer | string'],
  [{ id: 0.5, blocks: [] }, 'it.id is 0.5, not integer | string'],
  [{ id: 1, blocks: {} }, 'it.blocks is an object, not an array'],
  [{ id: 1, blocks: [], level: 'middle' }, `it.level is "middle", not 'high' | 'low'`],
  [{ id: 1, blocks: [], priority: 2 }, 'it.priority is 2, not number 0..1'],
  [{ id: 1, blocks: [], limit: 'x' }, 'it.limit is "x", not integer | null'],
  [{ id: 1, blocks: [], names: { a: 1 } }, 'it.names.a is 1, not string'],
  [{ id: 1, blocks: [{ type: 'text' }] }, 'it.blocks[0].text is missing'],
  [{ id: 1, blocks: [{ type: 'image', size: -1 }] }, 'it.blocks[0].size is -1, not integer 0..'],
])('%j is wrong', (value, complaint) => {
  expect(misfitOf(value, learnt, {})).toEqual({ kind: 'wrong', text: complaint })
})

test('a member that no example had is unseen rather than wrong', () => {
  const value = { id: 1, blocks: [], colour: 'red' }
  expect(misfitOf(value, learnt, {})).toEqual({ kind: 'unseen', text: 'it.colour is not described' })
  const empty = shapeOf({ list: [] }, (one) => Array.isArray((one as { list?: unknown } | null)?.list))
  expect(misfitOf({ list: [1] }, empty, {})?.kind).toBe('unseen')
})

test('names that a peer chose do not confuse a shape', () => {
  const isValid = (value: unknown): boolean => typeof (value as { map?: unknown } | null)?.map === 'object'
  const value = JSON.parse('{"map":{"__proto__":{"a":1},"constructor":2}}') as unknown
  expect(misfitOf(value, shapeOf(value, isValid), {})).toBeUndefined()
  expect(misfitOf(JSON.parse('{"id":1,"blocks":[],"__proto__":{}}'), learnt, {})?.kind).toBe('unseen')
})
