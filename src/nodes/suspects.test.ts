import { expect, test } from 'vitest'
import { Suspects } from './suspects.ts'

test('a node is dead if it seems so at two looks that are far enough apart, without a sign of life in between', () => {
  let now = 0
  const suspects = new Suspects(100, () => now)
  const look = (at: number, number: number, seemsAlive: boolean): boolean => {
    now = at
    return suspects.isDead(number, seemsAlive)
  }
  expect([look(0, 1, false), look(50, 1, false), look(89, 1, false)]).toEqual([false, false, false])
  expect([look(99, 2, false), look(100, 1, false), look(101, 1, false)]).toEqual([false, true, true])
  expect([look(102, 1, true), look(103, 1, false), look(203, 1, false)]).toEqual([false, false, true])
  // Nobody looked for long, so it may have lived meanwhile.
  expect([look(4_000_000, 1, false), look(4_000_100, 1, false)]).toEqual([false, true])
})

test('a node that is certainly dead is so at the first look, unless it is alive', () => {
  const suspects = new Suspects(100, () => 0)
  suspects.confirm(1)
  expect([suspects.isConfirmed(1), suspects.isDead(1, false), suspects.isConfirmed(2)]).toEqual([
    true,
    true,
    false,
  ])
  expect([suspects.isDead(1, true), suspects.isConfirmed(1), suspects.isDead(1, false)]).toEqual([
    false,
    false,
    false,
  ])
})
