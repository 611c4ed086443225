import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { SMALL_CHARS, weightOf } from './weight.ts'

test('a large message weighs its characters, and 64 bytes for each value in its params', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      let count = -1
      JSON.parse(JSON.stringify({ value }), (_, each: unknown) => (count++, each))
      expect(weightOf({ value }, 5000)).toBe(5000 + 64 * count)
    }),
  )
})

test('a small message weighs its characters, whatever is in it', () => {
  const params: JsonObject = { list: [[], [], []] }
  expect([weightOf(params, SMALL_CHARS), weightOf(params, SMALL_CHARS + 1)]).toEqual([1024, 1025 + 64 * 4])
})

test('nesting may be as deep as memory allows', () => {
  let params: JsonObject = {}
  for (let level = 0; level < 100_000; level++) params = { params }
  expect(weightOf(params, 1_100_000)).toBe(1_100_000 + 64 * 100_000)
})

test('params that a handler made circular weigh no more than their message had room for', () => {
  const nodes: { parent?: unknown }[] = Array.from({ length: 300 }, () => ({}))
  for (const node of nodes) node.parent = nodes
  expect(weightOf({ nodes } as unknown as JsonObject, 2000)).toBe(2000 + 64 * 2000)
})
