import type { Client } from 'pierhead/client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { KnownLists } from '../../src/cli/known-lists.ts'
import { jsonPieces, jsonStart } from '../../src/cli/json-pieces.ts'
import { toList } from '../../src/client/item-list.ts'

type Lists = Record<'tools' | 'prompts' | 'resources' | 'templates', () => Iterable<unknown>>

/** The client of a server with these lists. */
function clientOf(lists: Partial<Lists>): Client {
  const list = (name: keyof Lists) => () =>
    toList(
      (async function* () {
        yield* lists[name]?.() ?? []
      })(),
    )
  return {
    tools: list('tools'),
    prompts: list('prompts'),
    resources: list('resources'),
    templates: list('templates'),
  } as unknown as Client
}

/** An object in so many others. */
function nested(levels: number, end: unknown): unknown {
  let value = end
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

it('makes no text that grows with the list', async () => {
  const description = '\u0001'.repeat(10_000)
  const items = Array.from({ length: 300 }, (_, at) => ({ name: `t${at}`, description }))
  let longest = 0
  const { stringify } = JSON
  vi.spyOn(JSON, 'stringify').mockImplementation((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args)
    longest = Math.max(longest, text?.length ?? 0)
    return text
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const client = clientOf({ tools: () => items })
  const known = await KnownLists.read(client, { tools: true })
  expect(await known.isSame('tools')).toBe(true)
  expect(longest).toBe(60_002)
})

it('compares lists however deeply their items are nested', async () => {
  let end = 1
  const known = await KnownLists.read(
    clientOf({ tools: () => [{ name: 't', inputSchema: nested(50_000, end) }] }),
    {
      tools: true,
    },
  )
  expect(await known.isSame('tools')).toBe(true)
  end = 2
  expect(await known.isSame('tools')).toBe(false)
  expect(await known.isSame('tools')).toBe(true)
})

it.each([
  [[{ name: 'a' }, { name: 'b' }], [{ name: 'a' }]],
  [[{ name: 'a' }], [{ name: 'a', title: 'a' }]],
  [['a', 'b'], [['a', 'b']]],
  [['ab'], ['a', 'b']],
  [[{ a: { b: 1 } }], [{ a: {}, b: 1 }]],
  [[{ a: '1' }], [{ a: 1 }]],
  [[], [[]]],
])('%j is another list than %j', async (one, other) => {
  for (const [before, after] of [
    [one, other],
    [other, one],
  ] as const) {
    let items: readonly unknown[] = before
    const known = await KnownLists.read(clientOf({ prompts: () => items }), { prompts: true })
    expect(await known.isSame('prompts')).toBe(true)
    items = after
    expect(await known.isSame('prompts')).toBe(false)
  }
})

it('tells resources and templates apart', async () => {
  const lists: Partial<Lists> = { resources: () => ['a'], templates: () => [] }
  const known = await KnownLists.read(clientOf(lists), { resources: true })
  expect(await known.isSame('resources')).toBe(true)
  Object.assign(lists, { resources: () => [], templates: () => ['a'] })
  expect(await known.isSame('resources')).toBe(false)
})

it('takes a list that cannot be read for another one, and so the next one that can', async () => {
  let error: Error | undefined
  const tools = function* (): Generator<string> {
    if (error !== undefined) throw error
    yield 'a'
  }
  const known = await KnownLists.read(clientOf({ tools }), { tools: true })
  error = new Error('away')
  expect(await known.isSame('tools')).toBe(false)
  error = undefined
  expect(await known.isSame('tools')).toBe(false)
  expect(await known.isSame('tools')).toBe(true)
})

it('writes the JSON of a value in pieces', () => {
  const value = {
    'a"': [1, [], {}, null, true, 'x\n\ud800'],
    b: { c: [{ d: 'e' }, 2.5] },
    ['__proto__']: 1,
    1: [[]],
  }
  expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value))
  expect(jsonStart(value, 1000)).toBe(JSON.stringify(value))
  expect(jsonStart(value, 12)).toBe(JSON.stringify(value).slice(0, 12))
  for (const leaf of ['a', 1, null, true]) expect([...jsonPieces(leaf)]).toEqual([JSON.stringify(leaf)])
})
