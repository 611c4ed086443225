import { describe, expect, test } from 'vitest'
import { McpError } from '../errors/error.ts'
import { toLimits } from '../base/limits.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { Auth, Call } from '../rpc/call.ts'
import { Session } from '../rpc/session.ts'
import { HeldBytes } from './held-bytes.ts'
import type { ServerParts } from './parts.ts'
import { sessionOf, type RequestSession } from './session-state.ts'

function createSession(): Session {
  return new Session({} as Dialects, () => undefined)
}

function toParts(heldBytes: number, sessionBytes = 10_000): ServerParts {
  return { held: new HeldBytes(heldBytes), limits: toLimits({ sessionBytes }) } as ServerParts
}

function stateOf(session: Session, parts = toParts(1_000_000), auth?: Auth): RequestSession {
  return sessionOf({ peer: { session }, source: { auth } } as unknown as Call, parts)!
}

/** Whether a budget is empty again: one caller may then take exactly a quarter of it. */
function isEmpty({ held }: ServerParts, limit: number): boolean {
  held.take('probe', limit / 4)
  held.free('probe', limit / 4)
  return true
}

describe('a session', () => {
  test('is one object for all requests, and its members need no this', async () => {
    const session = createSession()
    const state = stateOf(session)
    expect(stateOf(session)).toBe(state)
    const { id, get, set, delete: remove } = state
    await set('a', 1)
    expect([id, await get('a'), await remove('a'), await get('a')]).toEqual([session.id, 1, true, undefined])
  })

  test('that cannot reach its client later is that of one request, so handlers have none', () => {
    expect(stateOf(new Session({} as Dialects))).toBeUndefined()
  })

  test('forgets its values when it ends, gives back their bytes, and keeps no others', async () => {
    const session = createSession()
    const parts = toParts(40_000)
    const { get, set, delete: remove } = stateOf(session, parts)
    await set('a', 'x'.repeat(5000))
    await set('b', 'y'.repeat(1000))
    expect(() => isEmpty(parts, 40_000)).toThrow(McpError)
    session.close()
    expect(await get('a')).toBeUndefined()
    expect(isEmpty(parts, 40_000)).toBe(true)
    await set('late', 1)
    expect([await get('late'), await remove('late')]).toEqual([undefined, false])
    expect(isEmpty(parts, 40_000)).toBe(true)
  })

  test('counts keys, text and an overhead; replacing and deleting give back what they free', async () => {
    const parts = toParts(1_000_000, 1000)
    const { get, set, delete: remove } = stateOf(createSession(), parts)
    const full = 'x'.repeat(1000 - 128 - 1 - 2)
    await set('k', full)
    await expect(set('l', 1)).rejects.toMatchObject({ kind: 'session_too_large' })
    await expect(set('k', `${full}x`)).rejects.toMatchObject({ kind: 'session_too_large' })
    await set('k', full)
    await set('k', 1)
    await set('l', 1)
    await remove('l')
    await set('k', full)
    expect(await get('k')).toBe(full)
    // Two bytes per character beyond Latin-1.
    await expect(set('k', '\u0100'.repeat(500))).rejects.toMatchObject({ kind: 'session_too_large' })
    await remove('k')
    expect(isEmpty(parts, 1_000_000)).toBe(true)
  })

  test('shares the memory of the server: one caller gets a quarter, whatever sessions it has', async () => {
    const parts = toParts(4000)
    const first = stateOf(createSession(), parts, { sub: 'ada' })
    const second = stateOf(createSession(), parts, { sub: 'ada' })
    await first.set('a', 'x'.repeat(700))
    await expect(second.set('a', 'x'.repeat(200))).rejects.toMatchObject({ kind: 'too_much_held' })
    expect(await second.get('a')).toBeUndefined()
    await stateOf(createSession(), parts, { sub: 'bo' }).set('a', 'x'.repeat(200))
  })
})

describe('a value', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  const deep = (): unknown => {
    let value: unknown = 0
    for (let level = 0; level < 100_000; level++) value = [value]
    return value
  }

  test.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /the value of "k" has a value of type undefined; keep text/],
    ['a function', () => 1, /type function/],
    ['a symbol', Symbol('s'), /type symbol/],
    ['a bigint', { total: 5n }, /type bigint at "total"/],
    ['not a number', { a: [{ price: Number.NaN }] }, /has NaN at "price"/],
    ['infinity', [1, -Infinity], /has -Infinity at "1"/],
    ['a hole in a list', [undefined], /type undefined at "0"/],
    ['a map', { map: new Map([[1, 2]]) }, /has a Map at "map"/],
    ['a set', new Set([1]), /has a Set;/],
    ['bytes', new Uint8Array(2), /has a Uint8Array;/],
    ['an error', { error: new RangeError('x') }, /has a RangeError at "error"/],
    ['a promise', Promise.resolve(1), /has a Promise;/],
    ['itself', cyclic, /cannot be written as JSON: .*circular/i],
    ['very deep lists', deep(), /cannot be written as JSON/],
  ])('that holds %s is rejected, because JSON cannot express it', async (_, value, words) => {
    const { get, set } = stateOf(createSession())
    await set('k', 'before')
    const error = await set('k', value).catch((thrown: unknown) => thrown as McpError)
    expect(error).toMatchObject({ kind: 'bad_option', message: expect.stringMatching(words) as string })
    expect(await get('k')).toBe('before')
  })

  test.each<[string, unknown, unknown]>([
    ['null', null, null],
    ['false', false, false],
    ['an empty list', [], []],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
    ['members without a value', { a: undefined, b: 1 }, { b: 1 }],
    ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    [
      'an instance of a class',
      new (class Point {
        x = 1
      })(),
      { x: 1 },
    ],
  ])('may be %s', async (_, value, copy) => {
    const { get, set } = stateOf(createSession())
    await set('k', value)
    expect(await get('k')).toEqual(copy)
  })

  test('needs a key that is a string', async () => {
    const { set } = stateOf(createSession())
    await expect(set(5 as never, 1)).rejects.toThrow('ctx.session.set: the key must be a string')
  })
})
