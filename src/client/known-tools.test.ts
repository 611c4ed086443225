import { expect, test } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { KnownTools } from './known-tools.ts'

const MAX_TOOLS = 100_000
const MAX_WEIGHT = 67_108_864
/** The weight of a tool without schemas, except its name. */
const NO_SCHEMAS = 136

/** A name that makes a tool weigh this much. */
function nameOf(char: string, weight: number): string {
  return char.repeat(weight - NO_SCHEMAS)
}

test('a client remembers 100 000 tools, and still updates them after that', async () => {
  const tools = new KnownTools()
  for (let at = 0; at < MAX_TOOLS; at++) tools.add({ name: `t${at}` })
  tools.add({ name: 'more' })
  expect([tools.get(`t${MAX_TOOLS - 1}`)?.repeatable, tools.get('more')]).toEqual([false, undefined])
  tools.add({ name: 't0', annotations: { readOnlyHint: true } })
  expect(tools.get('t0')?.repeatable).toBe(true)
  tools.clear()
  expect(tools.get('t0')).toBeUndefined()
  tools.add({ name: 'more' })
  expect(tools.get('more')).toBeDefined()
})

test('remembered tools take at most 64 MiB, and a tool counts once', async () => {
  const tools = new KnownTools()
  const [half, other] = [nameOf('a', MAX_WEIGHT / 2), nameOf('b', MAX_WEIGHT / 2)]
  for (let times = 0; times < 3; times++) tools.add({ name: half })
  tools.add({ name: `${other}b` })
  expect(tools.get(`${other}b`)).toBeUndefined()
  tools.add({ name: other })
  expect([tools.get(half), tools.get(other)]).toEqual([expect.anything(), expect.anything()])
  tools.add({ name: 'c' })
  expect(tools.get('c')).toBeUndefined()
  tools.clear()
  tools.add({ name: nameOf('d', MAX_WEIGHT) })
  expect(tools.get(nameOf('d', MAX_WEIGHT))).toBeDefined()
})

test('tools that are not remembered cause one warning', async () => {
  const warnings: string[] = []
  const tools = new KnownTools((text) => warnings.push(text))
  tools.add({ name: nameOf('a', MAX_WEIGHT) })
  for (let times = 0; times < 3; times++) tools.add({ name: `b${times}` })
  expect(warnings).toEqual(['the server has too many tools to check what they return'])
})

test('a thousand warnings are enough', async () => {
  const warnings: string[] = []
  const tools = new KnownTools((text) => warnings.push(text))
  for (let at = 0; at < 1500; at++) {
    tools.add({ name: `t${at}`, outputSchema: { type: 'none' } })
    for (let times = 0; times < 2; times++) await tools.get(`t${at}`)?.output?.({})
  }
  expect(warnings).toHaveLength(1000)
  expect(new Set(warnings).size).toBe(1000)
})

test('the rules for headers count towards the limit, with the way to each', () => {
  const nested = (depth: number): JsonObject => {
    const names = Array.from({ length: 100 }, (_, at) => `h${at}`)
    let schema: JsonObject = {
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string', 'x-mcp-header': name }])),
    }
    for (let level = 1; level < depth; level++) schema = { properties: { n: schema } }
    return schema
  }
  const weightOf = (depth: number): number => {
    const tools = new KnownTools()
    expect(tools.add({ name: 'a', inputSchema: nested(depth) })).toBeUndefined()
    return tools.get('a')!.weight
  }
  expect(weightOf(51) - weightOf(1)).toBeGreaterThan(100 * 50 * 8)
})

test('schemas count towards the limit', async () => {
  const tools = new KnownTools()
  tools.add({ name: 'in', inputSchema: { title: 'x'.repeat(MAX_WEIGHT / 2) } })
  tools.add({ name: 'out', outputSchema: { title: 'x'.repeat(MAX_WEIGHT / 2) } })
  expect([tools.get('in'), tools.get('out')]).toEqual([expect.anything(), undefined])
})

test('schemas count with the memory that they take, which may be much more than their text', async () => {
  const tools = new KnownTools()
  for (let at = 0; at < 4; at++)
    tools.add({ name: `t${at}`, inputSchema: { enum: Array.from({ length: 300_000 }, () => ({})) } })
  expect([tools.get('t2'), tools.get('t3')]).toEqual([expect.anything(), undefined])
})

test.each([
  [undefined, false],
  [{}, false],
  [{ idempotentHint: true }, true],
  [{ readOnlyHint: true }, true],
  [{ idempotentHint: false, readOnlyHint: 'yes' }, false],
])('the hints %o make a call repeatable: %s', (annotations, repeatable) => {
  const tools = new KnownTools()
  tools.add({ name: 'a', ...(annotations && { annotations }) })
  expect(tools.get('a')?.repeatable).toBe(repeatable)
})

test('a tool with an invalid param header is not remembered, and the reason is returned', () => {
  const tools = new KnownTools()
  const addWith = (header: string): string | undefined =>
    tools.add({
      name: 'a',
      inputSchema: { type: 'object', properties: { b: { type: 'string', 'x-mcp-header': header } } },
    })
  expect(addWith('bad header')).toEqual(expect.any(String))
  expect(tools.get('a')).toBeUndefined()
  expect(addWith('Region')).toBeUndefined()
  expect(tools.get('a')?.paramHeaders?.({ b: 'north' })).toEqual({ 'Mcp-Param-Region': 'north' })
})

test('a schema is rejected if it is so deep that a param header may be hidden in it', () => {
  const tools = new KnownTools()
  const nested = (keyword: string, depth: number): object =>
    depth === 0 ? {} : { [keyword]: nested(keyword, depth - 1) }
  const add = (name: string, inputSchema: object): string | undefined =>
    tools.add({ name, inputSchema: inputSchema as never })
  expect(add('shallow', nested('not', 64))).toBeUndefined()
  expect(add('data', nested('default', 65))).toBeUndefined()
  expect(add('schema', nested('not', 65))).toContain('nested deeper than 64')
  expect(tools.get('shallow')?.paramHeaders).toBeUndefined()
  expect(tools.get('data')).toBeDefined()
  expect(tools.get('schema')).toBeUndefined()
})

test('only the beginning of a warning is kept', async () => {
  const warnings: string[] = []
  const tools = new KnownTools((text) => warnings.push(text))
  for (const end of ['a', 'b']) {
    const properties = { [`${'x'.repeat(10_000)}${end}`]: { type: 'none' } }
    tools.add({ name: 't', outputSchema: { type: 'object', properties } })
    await tools.get('t')?.output?.({})
  }
  expect(warnings.map(({ length }) => length)).toEqual([1024])
})
