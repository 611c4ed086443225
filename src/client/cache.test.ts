import { describe, expect, test } from 'vitest'
import { Cache } from './cache.ts'

const READ = 'resources/read'

describe('the cache', () => {
  test('gives back what was put in until its time is up [R235]', () => {
    let now = 0
    const cache = new Cache(() => now)
    cache.put(READ, 'a://b', { ttlMs: 100 })
    now = 99
    expect(cache.get(READ, 'a://b')).toEqual({ ttlMs: 100 })
    now = 100
    expect(cache.get(READ, 'a://b')).toBeUndefined()
  })

  test('tells methods and params apart [R232]', () => {
    const cache = new Cache()
    cache.put(READ, 'a://b', { ttlMs: 100 })
    expect(cache.get(READ, 'a://c')).toBeUndefined()
    expect(cache.get('tools/list', 'a://b')).toBeUndefined()
  })

  test.each([0, -1, Number.NaN, '100', null, undefined])('keeps nothing for a time of %s [R235]', (ttlMs) => {
    const cache = new Cache()
    cache.put(READ, 'a://b', { ttlMs })
    expect(cache.get(READ, 'a://b')).toBeUndefined()
  })

  test('keeps nothing for longer than a day', () => {
    let now = 0
    const cache = new Cache(() => now)
    cache.put(READ, 'a://b', { ttlMs: Number.MAX_SAFE_INTEGER })
    now = 24 * 3_600_000
    expect(cache.get(READ, 'a://b')).toBeUndefined()
  })

  test('forgets what a notice is about, and only that [R235]', () => {
    const cache = new Cache()
    const put = (): void => {
      for (const uri of ['a://b', 'a://b/c', 'a://bc']) cache.put(READ, uri, { ttlMs: 100 })
      for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])
        cache.put(method, 'null', { ttlMs: 100 })
    }
    const kept = (): readonly string[] => [
      ...['a://b', 'a://b/c', 'a://bc'].filter((uri) => cache.get(READ, uri) !== undefined),
      ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].filter(
        (method) => cache.get(method, 'null') !== undefined,
      ),
    ]
    put()
    cache.changed('notifications/resources/updated', { uri: 'a://b/c' })
    expect(kept()).toEqual([
      'a://bc',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ])
    put()
    cache.changed('notifications/tools/list_changed', {})
    expect(kept()).not.toContain('tools/list')
    put()
    cache.changed('notifications/resources/list_changed', {})
    expect(kept()).toEqual(['tools/list', 'prompts/list'])
    cache.clear()
    expect(kept()).toEqual([])
  })

  test('holds no more than some hundred results', () => {
    const cache = new Cache()
    for (let index = 0; index < 600; index++) cache.put(READ, `a://${index}`, { ttlMs: 100 })
    expect(cache.get(READ, 'a://0')).toBeUndefined()
    expect(cache.get(READ, 'a://599')).toBeDefined()
  })
})
