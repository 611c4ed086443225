import { expect, test } from 'vitest'
import { copyOf } from './copy-of.ts'

test('a copy has the same members in the same order, except those to leave out', () => {
  const object = JSON.parse('{"b":1,"a":{"c":[]},"d":null}') as Record<string, unknown>
  const copy = copyOf(object)
  expect(JSON.stringify(copy)).toBe('{"b":1,"a":{"c":[]},"d":null}')
  expect(copy).not.toBe(object)
  expect(copy['a']).toBe(object['a'])
  expect(copyOf(object, 'b', 'x', 'd')).toEqual({ a: { c: [] } })
})

test('a member that is called __proto__ stays a member', () => {
  const copy = copyOf(JSON.parse('{"__proto__":{"admin":true},"x":1}') as Record<string, unknown>)
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true},"x":1}')
  expect(copy['admin']).toBeUndefined()
})

test('objects with the same names and changing types are copied about as quickly as others', () => {
  const values = [0, 0.5, 's', {}]
  const objects = (isMixed: boolean): readonly Record<string, unknown>[] => {
    const all = Array.from({ length: 300 }, (_, nth) =>
      Object.fromEntries(
        Array.from({ length: 1000 }, (_, at) => [`k${at}`, isMixed ? values[(at * 7 + nth) % 4] : 0]),
      ),
    )
    return JSON.parse(JSON.stringify(all)) as readonly Record<string, unknown>[]
  }
  const copyMs = (isMixed: boolean): number => {
    const all = objects(isMixed)
    const before = process.cpuUsage().user
    for (const each of all) copyOf(each)
    return (process.cpuUsage().user - before) / 1000
  }
  copyMs(false)
  expect(copyMs(true)).toBeLessThan(5 * copyMs(false))
})
