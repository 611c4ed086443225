import { expect, test } from 'vitest'
import { weigh } from '../base/weight.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { SMALL_CHARS, weightOf } from './weight.ts'

test('a large message weighs what its params take in memory', () => {
  const params: JsonObject = { list: [{}, { text: `€${'x'.repeat(2000)}` }] }
  expect(weightOf(params, 3000)).toBe(weigh(params))
  expect(weightOf(params, 3000)).toBeGreaterThan(4000)
})

test('a small message weighs its characters, whatever is in it', () => {
  const params: JsonObject = { list: [[], [], []] }
  expect([weightOf(params, SMALL_CHARS), weightOf(params, SMALL_CHARS + 1)]).toEqual([1024, weigh(params)])
})

test('nesting may be as deep as memory allows', () => {
  let params: JsonObject = {}
  for (let level = 0; level < 100_000; level++) params = { params }
  expect(weightOf(params, 1_100_000)).toBe(64 + 100_000 * (64 + 48 + 'params'.length))
})

test('params that a handler made circular weigh no more than their message had room for', () => {
  const nodes: { parent?: unknown }[] = Array.from({ length: 300 }, () => ({}))
  for (const node of nodes) node.parent = nodes
  expect(weightOf({ nodes } as unknown as JsonObject, 2000)).toBe(64 * 2000)
})
