import { expect, test } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { resultText, withMembers } from './result-text.ts'

const TEXT = { type: 'text', text: 'a "b"\n' }
const own = { toJSON: () => ({ type: 'text', text: 'replaced' }) }

test.each<readonly [string, object]>([
  ['one text', { content: [TEXT] }],
  ['one text that failed', { content: [TEXT], isError: true }],
  ['one text that did not fail', { content: [TEXT], isError: false }],
  ['the failure in front', { isError: true, content: [TEXT] }],
  ['an odd failure', { content: [TEXT], isError: 'yes' }],
  ['two texts', { content: [TEXT, TEXT] }],
  ['no content', { content: [] }],
  ['nothing', {}],
  ['content that is no list', { content: 'a' }],
  ['a member besides', { content: [TEXT], structuredContent: { a: 1 } }],
  ['a member of the block besides', { content: [{ ...TEXT, annotations: { priority: 1 } }] }],
  ['another kind of block', { content: [{ type: 'image', text: 'a' }] }],
  ['a text that is none', { content: [{ type: 'text', text: 5 }] }],
  ['a block without text', { content: [{ type: 'text' }] }],
  ['null for a block', { content: [null] }],
  ['a string for a block', { content: ['text'] }],
  ['a block that writes itself', { content: [{ ...TEXT, ...own }] }],
  [
    'a block that inherits how it is written',
    { content: [Object.assign(Object.create(own) as object, TEXT)] },
  ],
])('a result with %s is written as any writer would', (_, result) => {
  const expected = JSON.parse(JSON.stringify(result)) as object
  expect(JSON.parse(resultText(result as JsonObject))).toEqual(expected)
  const front = '"resultType":"complete","ttlMs":5,'
  const fronted = JSON.parse(resultText(result as JsonObject, front)) as object
  expect(fronted).toEqual({ resultType: 'complete', ttlMs: 5, ...expected })
  expect(Object.keys(fronted).slice(0, 2)).toEqual(['resultType', 'ttlMs'])
})

test('a result that writes itself is asked how', () => {
  const result = Object.assign(Object.create({ toJSON: () => ({ a: 1 }) }) as JsonObject, { content: [TEXT] })
  expect(resultText(result)).toBe('{"a":1}')
})

test.each([
  ['', '{}', '{}'],
  ['', '{"b":1}', '{"b":1}'],
  ['"a":1,', '{}', '{"a":1}'],
  ['"a":1,', '{"b":1}', '{"a":1,"b":1}'],
])('the members %s in front of %s make %s', (front, object, text) => {
  expect(withMembers(front, object)).toBe(text)
})
