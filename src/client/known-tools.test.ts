import { expect, test } from 'vitest'
import { KnownTools } from './known-tools.ts'

const MAX_TOOLS = 100_000
const MAX_WEIGHT = 67_108_864
/** What a tool without schemas weighs besides its name. */
const ABSENT = 32

/** A name so long that its tool takes a part of the memory that there is for tools. */
function nameOf(letter: string, weight: number): string {
  return letter.repeat(weight - ABSENT)
}

test('a client remembers 100 000 tools, and replaces those it knows', async () => {
  const tools = new KnownTools()
  for (let at = 0; at < MAX_TOOLS; at++) await tools.add({ name: `t${at}` })
  await tools.add({ name: 'more' })
  expect([tools.get(`t${MAX_TOOLS - 1}`)?.repeatable, tools.get('more')]).toEqual([false, undefined])
  await tools.add({ name: 't0', annotations: { readOnlyHint: true } })
  expect(tools.get('t0')?.repeatable).toBe(true)
  tools.forget()
  expect(tools.get('t0')).toBeUndefined()
  await tools.add({ name: 'more' })
  expect(tools.get('more')).toBeDefined()
})

test('what is remembered of tools takes 64 MiB and no more, and a tool counts once', async () => {
  const tools = new KnownTools()
  const [half, other] = [nameOf('a', MAX_WEIGHT / 2), nameOf('b', MAX_WEIGHT / 2)]
  for (let times = 0; times < 3; times++) await tools.add({ name: half })
  await tools.add({ name: `${other}b` })
  expect(tools.get(`${other}b`)).toBeUndefined()
  await tools.add({ name: other })
  expect([tools.get(half), tools.get(other)]).toEqual([expect.anything(), expect.anything()])
  await tools.add({ name: 'c' })
  expect(tools.get('c')).toBeUndefined()
  tools.forget()
  await tools.add({ name: nameOf('d', MAX_WEIGHT) })
  expect(tools.get(nameOf('d', MAX_WEIGHT))).toBeDefined()
})

test('schemas weigh too', async () => {
  const tools = new KnownTools()
  await tools.add({ name: 'in', inputSchema: { title: 'x'.repeat(MAX_WEIGHT / 2) } })
  await tools.add({ name: 'out', outputSchema: { title: 'x'.repeat(MAX_WEIGHT / 2) } })
  expect([tools.get('in'), tools.get('out')]).toEqual([expect.anything(), undefined])
})

test.each([
  [undefined, false],
  [{}, false],
  [{ idempotentHint: true }, true],
  [{ readOnlyHint: true }, true],
  [{ idempotentHint: false, readOnlyHint: 'yes' }, false],
])('with the hints %o it is %s that a call may be repeated', async (annotations, repeatable) => {
  const tools = new KnownTools()
  await tools.add({ name: 'a', ...(annotations && { annotations }) })
  expect(tools.get('a')?.repeatable).toBe(repeatable)
})

test('a tool that marks its arguments wrongly is not known, and it is told why', async () => {
  const tools = new KnownTools()
  const marked = (header: string): Promise<string | undefined> =>
    tools.add({
      name: 'a',
      inputSchema: { type: 'object', properties: { b: { type: 'string', 'x-mcp-header': header } } },
    })
  expect(await marked('bad header')).toEqual(expect.any(String))
  expect(tools.get('a')).toBeUndefined()
  expect(await marked('Region')).toBeUndefined()
  expect(tools.get('a')?.paramHeaders?.({ b: 'north' })).toEqual({ 'Mcp-Param-Region': 'north' })
})

test('a schema nested too deep for marks to be found is looked at closely, and refused where one may hide', async () => {
  const tools = new KnownTools()
  const nested = (keyword: string, depth: number): object =>
    depth === 0 ? {} : { [keyword]: nested(keyword, depth - 1) }
  const add = (name: string, inputSchema: object): Promise<string | undefined> =>
    tools.add({ name, inputSchema: inputSchema as never })
  expect(await add('shallow', nested('not', 64))).toBeUndefined()
  expect(await add('data', nested('default', 65))).toBeUndefined()
  expect(await add('schema', nested('not', 65))).toContain('nested deeper than 64')
  expect(tools.get('shallow')?.paramHeaders).toBeUndefined()
  expect(tools.get('data')?.paramHeaders?.({})).toEqual({})
  expect(tools.get('schema')).toBeUndefined()
})
