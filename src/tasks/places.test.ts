import { expect, test } from 'vitest'
import { TaskPlaces } from './places.ts'

test('the callers of a network take three quarters of what others leave, until their tasks expire', () => {
  const places = new TaskPlaces(8)
  for (let count = 0; count < 6; count++) {
    expect(places.hasRoom('a', 0)).toBe(true)
    places.add('a', count < 2 ? 10 : Infinity)
  }
  expect([places.hasRoom('a', 9), places.countOf('a')]).toEqual([false, 6])
  // Of the two that are left, another network gets one.
  expect(places.hasRoom('b', 9)).toBe(true)
  places.add('b', 20)
  expect(places.hasRoom('b', 9)).toBe(false)
  expect([places.hasRoom('a', 10), places.countOf('a')]).toEqual([true, 4])
  expect([places.hasRoom('b', 20), places.countOf('b')]).toEqual([true, 0])
})

test('callers that are not anonymous, or whose network is unknown, are not counted', () => {
  const places = new TaskPlaces(1)
  for (let count = 0; count < 3; count++) places.add(undefined, 10)
  expect([places.hasRoom(undefined, 0), places.countOf('a')]).toEqual([true, 0])
})
