import { expect, test } from 'vitest'
import { TurnoverMap } from './turnover-map.ts'

test('keeps what was set and not deleted, however often members come and go', () => {
  const map = new TurnoverMap<number, string>()
  for (let at = 0; at < 1000; at++) {
    map.set(at, `${at}`)
    map.delete(at - 50)
  }
  expect([map.delete(0), map.delete(950)]).toEqual([false, true])
  expect(map.size).toBe(49)
  expect(map.values()).toEqual(Array.from({ length: 49 }, (_, at) => `${at + 951}`))
  expect([map.get(950), map.get(951), map.get(999)]).toEqual([undefined, '951', '999'])
})

test('the values of a moment can be gone over while they are deleted', () => {
  const map = new TurnoverMap<number, number>()
  for (let at = 0; at < 100; at++) map.set(at, at)
  for (const value of map.values()) map.delete(value)
  expect([map.size, map.values()]).toEqual([0, []])
})
