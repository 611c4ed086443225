import { expect, test } from 'vitest'
import { KnownTokens, type Kept } from './known-tokens.ts'

interface Numbered extends Kept {
  readonly nth: number
}

const numbered = (nth: number): Numbered => ({ nth, isKept: false })

test('only so many tokens are remembered, and the oldest are forgotten', () => {
  const known = new KnownTokens<Numbered>()
  for (let nth = 0; nth < 10_005; nth++) known.set(`token-${nth}`, numbered(nth))
  expect([known.size, known.get('token-4'), known.get('token-5')?.nth]).toEqual([10_000, undefined, 5])
})

test('long tokens are forgotten sooner', () => {
  const known = new KnownTokens<Numbered>()
  for (let nth = 0; nth < 300; nth++) known.set(`${nth}${'x'.repeat(65_536)}`, numbered(nth))
  expect(known.size).toBe(255)
})

test('a token that is set again counts once', () => {
  const known = new KnownTokens<Numbered>()
  for (let nth = 0; nth < 1000; nth++) known.set('x'.repeat(65_536), numbered(nth))
  expect([known.size, known.get('x'.repeat(65_536))?.nth]).toEqual([1, 999])
  known.delete('x'.repeat(65_536))
  expect(known.size).toBe(0)
})

test('what is known says whether it is still kept', () => {
  const known = new KnownTokens<Numbered>()
  const [first, second] = [numbered(1), numbered(2)]
  known.set('one', first)
  expect(first.isKept).toBe(true)
  known.set('one', second)
  expect([first.isKept, second.isKept]).toEqual([false, true])
  known.delete('one')
  expect(second.isKept).toBe(false)
})
