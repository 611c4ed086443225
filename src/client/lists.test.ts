import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { eachItem, type Listed, type ListMethod } from './lists.ts'
import { weigh } from '../base/weight.ts'
import { KnownTools } from './known-tools.ts'

const LISTED: Listed = {
  method: 'tools/list',
  member: 'tools',
  revision: '2026-07-28',
  maxPages: 10,
  maxLength: 100,
  warn: () => undefined,
}

/** Counts the items of a list with these pages. */
async function count(pages: readonly JsonObject[], listed: Partial<Listed> = {}): Promise<number> {
  let at = 0
  let items = 0
  const page = async (): Promise<JsonObject> => pages[at++] as JsonObject
  for await (const _item of eachItem({ ...LISTED, ...listed }, page)) items++
  return items
}

function page(length: number, nextCursor?: string): JsonObject {
  return { tools: Array.from({ length }, () => ({})), ...(nextCursor !== undefined && { nextCursor }) }
}

test('a list of more than a million items fails, on whichever page they are', async () => {
  const tooMany = 'more than 1000000 items of one list'
  expect(await count([page(600_000, 'a'), page(400_000)])).toBe(1_000_000)
  await expect(count([page(600_000, 'a'), page(400_001)])).rejects.toThrow(tooMany)
  await expect(count([page(600_000, 'a'), page(400_001, 'b'), page(1)])).rejects.toThrow(tooMany)
  await expect(count([page(1_000_001)])).rejects.toThrow(tooMany)
})

test('a list of more than 128 MiB fails, on whichever page they are', async () => {
  const sized = (size: number, more?: string): JsonObject => ({ ...page(0, more), filling: 'x'.repeat(size) })
  const last = page(1)
  const most = 134_217_728
  const fits = most - weigh(sized(0, 'a')) - weigh(last)
  const tooLarge = 'more than 134217728 bytes of one list'
  expect(await count([sized(fits, 'a'), last])).toBe(1)
  await expect(count([sized(fits + 1, 'a'), last])).rejects.toThrow(tooLarge)
  await expect(count([sized(most)])).rejects.toThrow(tooLarge)
})

describe('all lists of a server together may take 128 MiB:', () => {
  const MOST = 134_217_728
  const sized = (size: number, more?: string): JsonObject => ({ ...page(0, more), filling: 'x'.repeat(size) })
  const together = 'more than 134217728 bytes of all its lists'
  const own = weigh(sized(0))

  test('what the last reading of each of the others found counts', async () => {
    const readings: Listed['readings'] = new Set()
    const reads = (method: ListMethod, size: number): Promise<number> =>
      count([sized(size)], { method, readings })
    await reads('tools/list', 50_000_000 - own)
    await reads('prompts/list', 50_000_000 - own)
    await expect(reads('resources/list', MOST - 100_000_000 - own + 1)).rejects.toThrow(together)
    await reads('resources/list', MOST - 100_000_000 - own)
    await expect(reads('resources/templates/list', 0)).rejects.toThrow(together)
  })

  test('a list that is read again replaces what it was, and one that failed counts no more', async () => {
    const readings: Listed['readings'] = new Set()
    const reads = (method: ListMethod, size: number): Promise<number> =>
      count([sized(size)], { method, readings })
    for (let times = 0; times < 5; times++) await reads('tools/list', 50_000_000)
    await expect(reads('tools/list', MOST)).rejects.toThrow('of one list')
    await reads('prompts/list', 100_000_000)
    await expect(reads('tools/list', 50_000_000)).rejects.toThrow(together)
    await reads('tools/list', 30_000_000)
  })

  test('lists that are read at the same time count from their first page on', async () => {
    const readings: Listed['readings'] = new Set()
    const pages = (): Promise<number> => count([sized(40_000_000, 'a'), sized(20_000_000)], { readings })
    const others = count([sized(50_000_000, 'a'), sized(50_000_000)], { method: 'prompts/list', readings })
    const [first, second] = await Promise.allSettled([pages(), others])
    expect([first.status, second.status].toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('so do readings of the same list at the same time, however many, until it is read again', async () => {
    const readings: Listed['readings'] = new Set()
    const reads = (size: number): Promise<number> => count([sized(size, 'a'), sized(size)], { readings })
    const statuses = async (many: number, size: number): Promise<readonly string[]> =>
      (await Promise.allSettled(Array.from({ length: many }, () => reads(size)))).map(({ status }) => status)
    expect((await statuses(10, 20_000_000)).filter((one) => one === 'fulfilled').length).toBeLessThan(4)
    expect(await statuses(10, 5_000_000)).not.toContain('rejected')
    await expect(count([sized(50_000_000)], { method: 'prompts/list', readings })).rejects.toThrow(together)
    await reads(20_000_000)
    await count([sized(50_000_000)], { method: 'prompts/list', readings })
  })

  test('a page that found no room is not weighed as less because there is room when it has been read', async () => {
    const other = { method: 'prompts/list', weight: 100_000_000, alive: undefined } as const
    const readings: Listed['readings'] = new Set([other])
    const tools = Array.from({ length: 3000 }, () => ({ description: 'x'.repeat(20_000) }))
    const reads = count([{ tools }], { readings })
    setImmediate(() => readings.delete(other))
    await expect(reads).rejects.toThrow(together)
    expect(readings).toEqual(new Set())
  })

  test('a reading that the program has abandoned counts no more than it takes memory', async () => {
    const readings: Listed['readings'] = new Set()
    const begun = async (): Promise<void> => {
      const page = async (): Promise<JsonObject> => sized(40_000_000, 'a')
      const endless = async (): Promise<JsonObject> => ({ ...(await page()), tools: [{ name: 'a' }] })
      await eachItem({ ...LISTED, readings }, endless).next()
    }
    for (let times = 0; times < 20; times++) {
      await begun()
      await collected()
    }
    expect(await count([sized(50_000_000)], { readings })).toBe(0)
  })
})

/** Collects garbage, after the current task: weak references hold what they have returned until then. */
async function collected(): Promise<void> {
  await new Promise(setImmediate)
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

test('a list leaves nothing behind in the engine, which remembers the names that a loop reads from an object', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let next = 1_000_000
  const items = (): JsonObject[] =>
    JSON.parse(`[${Array.from({ length: 10_000 }, () => `{"a${next}":{"b${next++}":1}}`).join()}]`)
  const left = async (see: (tools: JsonObject[]) => unknown): Promise<number> => {
    const tools = items()
    collect()
    const before = process.memoryUsage().heapUsed
    await see(tools)
    collect()
    return process.memoryUsage().heapUsed - before
  }
  const looped = await left((tools) => tools.forEach((one) => Object.keys(one)))
  expect(await left((tools) => count([{ tools }]))).toBeLessThan(looped / 2)
})

test('a list with too many pages fails', async () => {
  expect(await count([page(1, 'a'), page(1)], { maxPages: 2 })).toBe(2)
  await expect(count([page(1, 'a'), page(1, 'b'), page(1)], { maxPages: 2 })).rejects.toThrow(
    'more than 2 pages of one list',
  )
})

test('a repeated cursor ends the list with an error', async () => {
  await expect(count([page(1, 'a'), page(1, 'b'), page(1, 'a')])).rejects.toThrow('a cursor was repeated')
})

test('an empty cursor continues the list only at the newest revision', async () => {
  expect(await count([page(1, ''), page(1)])).toBe(2)
  expect(await count([page(1, ''), page(1)], { revision: '2025-11-25' })).toBe(1)
})

test('a large item is weighed once, and then remembered with that weight', async () => {
  let reads = 0
  const outputSchema = new Proxy<JsonObject>(
    { type: 'object', description: 'x'.repeat(100_000) },
    { ownKeys: (target) => (reads++, Reflect.ownKeys(target)) },
  )
  const tools = new KnownTools()
  const pages = async (): Promise<JsonObject> => ({ tools: [{ name: 'a', outputSchema }] })
  for await (const item of eachItem<JsonObject>(LISTED, pages)) tools.add(item)
  expect([reads, tools.get('a')?.weight]).toEqual([1, weigh({ name: 'a', outputSchema })])
})
