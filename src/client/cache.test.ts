import { describe, expect, test } from 'vitest'
import { Cache } from './cache.ts'
import { processorMs } from '../../test/harness/processor.ts'

const READ = 'resources/read'

describe('the cache', () => {
  test('returns a result until it expires [R235]', () => {
    let now = 0
    const cache = new Cache(() => now)
    cache.put(READ, 'a://b', { ttlMs: 100 })
    now = 99
    expect(cache.get(READ, 'a://b')).toEqual({ ttlMs: 100 })
    now = 100
    expect(cache.get(READ, 'a://b')).toBeUndefined()
  })

  test.each([1, 0.5])('caches a result with a lifetime of %d ms', (ttlMs) => {
    const cache = new Cache(() => 0)
    cache.put(READ, 'a://b', { ttlMs })
    expect(cache.get(READ, 'a://b')).toEqual({ ttlMs })
  })

  test('caches by method and params [R232]', () => {
    const cache = new Cache(() => 0)
    cache.put(READ, 'a://b', { ttlMs: 100 })
    expect(cache.get(READ, 'a://c')).toBeUndefined()
    expect(cache.get('tools/list', 'a://b')).toBeUndefined()
  })

  test.each([0, -1, Number.NaN, '100', null, undefined])(
    'does not cache a result with a lifetime of %s [R235]',
    (ttlMs) => {
      const cache = new Cache(() => 0)
      cache.put(READ, 'a://b', { ttlMs })
      expect(cache.get(READ, 'a://b')).toBeUndefined()
    },
  )

  test('evicts the oldest results when the text of all takes 32 MiB of memory', () => {
    const cache = new Cache(() => 0)
    for (let at = 0; at < 3; at++)
      cache.put(READ, `a://${at}`, { ttlMs: 100, text: '\u0100'.repeat(6_000_000) })
    expect([0, 1, 2].map((at) => cache.get(READ, `a://${at}`) !== undefined)).toEqual([false, true, true])
  })

  test('caches nothing for longer than a day', () => {
    let now = 0
    const cache = new Cache(() => now)
    cache.put(READ, 'a://b', { ttlMs: Number.MAX_SAFE_INTEGER })
    now = 24 * 3_600_000
    expect(cache.get(READ, 'a://b')).toBeUndefined()
  })

  test('a notification evicts only the results it affects [R235]', () => {
    const cache = new Cache(() => 0)
    const put = (): void => {
      for (const uri of ['a://b', 'a://b/c', 'a://bc']) cache.put(READ, uri, { ttlMs: 100 })
      for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])
        cache.put(method, 'null', { ttlMs: 100 })
    }
    const cached = (): readonly string[] => [
      ...['a://b', 'a://b/c', 'a://bc'].filter((uri) => cache.get(READ, uri) !== undefined),
      ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].filter(
        (method) => cache.get(method, 'null') !== undefined,
      ),
    ]
    put()
    cache.invalidate({ kind: 'resource', uri: 'a://b/c' })
    expect(cached()).toEqual([
      'a://bc',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ])
    put()
    cache.invalidate({ kind: 'tools' })
    expect(cached()).not.toContain('tools/list')
    put()
    cache.invalidate({ kind: 'resources' })
    expect(cached()).toEqual(['tools/list', 'prompts/list'])
    cache.clear()
    expect(cached()).toEqual([])
  })

  test('a change evicts the folder that contains the resource, whether or not its URI ends in a slash', () => {
    const cache = new Cache(() => 0)
    for (const uri of ['a://b/', 'a://b', 'a://b/c/']) cache.put(READ, uri, { ttlMs: 100 })
    cache.invalidate({ kind: 'resource', uri: 'a://b/x' })
    expect(['a://b/', 'a://b', 'a://b/c/'].filter((uri) => cache.get(READ, uri) !== undefined)).toEqual([
      'a://b/c/',
    ])
  })

  test('a change takes no longer while more is cached, until something is asked for', async () => {
    const cost = (entries: number): Promise<number> => {
      const cache = new Cache(() => 0)
      for (let at = 0; at < entries; at++) cache.put(READ, `a://${at}`, { ttlMs: 100 })
      return processorMs(() => {
        for (let at = 0; at < 50_000; at++) {
          cache.invalidate({ kind: 'resource', uri: `b://${at % 90}` })
          cache.invalidate({ kind: 'tools' })
        }
      })
    }
    await cost(5)
    const few = await cost(5)
    expect(await cost(500)).toBeLessThan(10 * few)
  })

  test('many changes at once do not take much longer than one, however much is cached', async () => {
    const cache = new Cache(() => 0)
    for (let at = 0; at < 500; at++) cache.put(READ, `a://${at}`, { ttlMs: 100 })
    const cost = (changes: number): Promise<number> =>
      processorMs(() => {
        for (let use = 0; use < 200; use++) {
          for (let at = 0; at < changes; at++) cache.invalidate({ kind: 'resource', uri: `a://${at}/${at}` })
          for (let at = 0; at < changes; at++) cache.put(READ, `a://${at}`, { ttlMs: 100 })
          for (let at = 0; at < changes; at++) cache.invalidate({ kind: 'resource', uri: `b://${at}/${at}` })
          cache.get(READ, 'c://')
        }
      })
    await cost(1)
    const one = await cost(1)
    expect(await cost(99)).toBeLessThan(15 * one)
  })

  test('evicts everything when more changed at once than it keeps in mind', () => {
    const cache = new Cache(() => 0)
    const change = (count: number): void => {
      cache.put(READ, 'a://b', { ttlMs: 100 })
      for (let at = 0; at < count; at++) cache.invalidate({ kind: 'resource', uri: `b://${at}` })
    }
    change(100)
    expect(cache.get(READ, 'a://b')).toBeDefined()
    change(101)
    expect(cache.get(READ, 'a://b')).toBeUndefined()
    cache.put(READ, 'a://b', { ttlMs: 100 })
    cache.invalidate({ kind: 'resource', uri: `b://${'x'.repeat(8192)}` })
    expect(cache.get(READ, 'a://b')).toBeUndefined()
  })

  test('a change does not evict a result that is put after it', () => {
    const cache = new Cache(() => 0)
    cache.put(READ, 'a://c', { ttlMs: 100 })
    cache.invalidate({ kind: 'resource', uri: 'a://b' })
    cache.put(READ, 'a://b', { ttlMs: 100 })
    expect(cache.get(READ, 'a://b')).toBeDefined()
  })

  test('holds 500 results and evicts the oldest to make room', () => {
    const cache = new Cache(() => 0)
    for (let index = 0; index < 500; index++) cache.put(READ, `a://${index}`, { ttlMs: 100 })
    cache.put(READ, 'a://499', { ttlMs: 100 })
    expect(cache.get(READ, 'a://0')).toBeDefined()
    cache.put(READ, 'a://500', { ttlMs: 100 })
    expect(cache.get(READ, 'a://0')).toBeUndefined()
    for (const uri of ['a://1', 'a://499', 'a://500']) expect(cache.get(READ, uri)).toBeDefined()
  })

  test('counts the size of results until they are evicted or replaced', () => {
    let now = 0
    const cache = new Cache(() => now)
    const large = { ttlMs: 100, text: 'x'.repeat(12_000_000) }
    const put = (uri: string): void => cache.put(READ, uri, large)
    const has = (): boolean[] => ['a', 'b', 'c'].map((uri) => cache.get(READ, uri) !== undefined)
    cache.put(READ, 'a', { ttlMs: 100, text: 'x'.repeat(34_000_000) })
    expect(has()).toEqual([false, false, false])
    for (const uri of ['a', 'a', 'b', 'b']) put(uri)
    expect(has()).toEqual([true, true, false])
    put('c')
    expect(has()).toEqual([false, true, true])
    cache.invalidate({ kind: 'resource', uri: 'b' })
    put('a')
    expect(has()).toEqual([true, false, true])
    now = 100
    expect(has()).toEqual([false, false, false])
    now = 0
    for (const uri of ['a', 'b']) put(uri)
    expect(has()).toEqual([true, true, false])
    cache.clear()
    for (const uri of ['b', 'c']) put(uri)
    expect(has()).toEqual([false, true, true])
  })
})

test('a caller that changes a result does not change what the next one gets', () => {
  const cache = new Cache(() => 0)
  const result = { ttlMs: 100, tools: [{ name: 'a', inputSchema: { type: 'object' } }] }
  cache.put('tools/list', 'null', result)
  const read = () => cache.get('tools/list', 'null') as typeof result
  result.tools[0]!.name = 'b'
  read().tools[0]!.inputSchema.type = 'string'
  read().tools.pop()
  expect(read()).toEqual({ ttlMs: 100, tools: [{ name: 'a', inputSchema: { type: 'object' } }] })
})

test('a result that is nested too deeply to be copied is not cached', () => {
  const cache = new Cache(() => 0)
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
  cache.put('tools/list', 'null', { ttlMs: 100, deep })
  expect(cache.get('tools/list', 'null')).toBeUndefined()
})
