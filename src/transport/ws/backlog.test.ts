import { describe, expect, test } from 'vitest'
import { Backlog, readCount } from './backlog.ts'

function backlog(maxEvents = 10, maxBytes = 1000): { one: Backlog; seen: { forgot: number; kept: number } } {
  const seen = { forgot: 0, kept: 0 }
  const one = new Backlog({
    maxEvents,
    maxBytes,
    forgot: () => void seen.forgot++,
    kept: (chars) => void (seen.kept += chars),
  })
  return { one, seen }
}

function fill(one: Backlog, count: number, text = 'text'): void {
  for (let nth = 0; nth < count; nth++) one.add(`${text}${one.sent}`)
}

test('what is known to have arrived is not kept', () => {
  const { one, seen } = backlog()
  fill(one, 3)
  expect(one.question()).toBe('3')
  expect(one.question()).toBeUndefined()
  fill(one, 2)
  one.answer('3')
  expect([one.sent, one.forgotten, one.isEmpty]).toEqual([5, 3, false])
  expect(one.question()).toBe('5')
  one.answer('5')
  expect([one.isEmpty, seen, one.question()]).toEqual([true, { forgot: 0, kept: 0 }, undefined])
})

test('a text can be replaced, which changes the size and not the count', () => {
  const { one, seen } = backlog()
  fill(one, 3)
  one.replace('text1', 'a long text')
  one.replace('text9', 'nothing')
  expect([one.sent, one.length, one.size, seen.kept]).toEqual([3, 3, 21, 21])
  expect(one.after(1)).toEqual(['a long text', 'text2'])
  one.clear()
  one.replace('text2', 'nothing')
  expect([one.size, seen.kept]).toEqual([0, 0])
})

test('a text beyond Latin-1 counts two bytes for each character, until it is no longer kept', () => {
  const { one, seen } = backlog(10, 1000)
  one.add('€'.repeat(300))
  one.add('$'.repeat(300))
  expect([one.size, one.forgotten, seen]).toEqual([900, 0, { forgot: 0, kept: 900 }])
  one.add('€'.repeat(300))
  expect([one.size, one.forgotten, seen]).toEqual([900, 1, { forgot: 1, kept: 900 }])
  one.clear()
  expect([one.size, seen.kept]).toEqual([0, 0])
})

test.each(['', 'x', '-1', '4', '99', '1.5', '3 ', '0003x'])('%j answers no question', (payload) => {
  const { one } = backlog()
  fill(one, 3)
  one.question()
  one.answer(payload)
  expect(one.forgotten).toBe(0)
})

test('an old answer changes nothing', () => {
  const { one } = backlog()
  fill(one, 3)
  one.question()
  one.answer('3')
  one.answer('1')
  expect([one.forgotten, one.sent]).toEqual([3, 3])
})

describe('a new connection', () => {
  test('gets what follows, and is asked anew', () => {
    const { one } = backlog()
    fill(one, 4)
    one.question()
    expect(one.after(2)).toEqual(['text2', 'text3'])
    expect(one.question()).toBe('4')
    expect(one.after(4)).toEqual([])
    expect(one.isEmpty).toBe(true)
  })

  test('cannot begin before what is kept, nor behind what was sent', () => {
    const { one } = backlog(3)
    fill(one, 5)
    expect([1, 2, 5, 6].map((count) => one.reaches(count))).toEqual([false, true, true, false])
  })
})

describe('of too much, the oldest is forgotten', () => {
  test('by number', () => {
    const { one, seen } = backlog(4)
    fill(one, 2)
    expect([one.isHalfFull, one.isFull]).toEqual([false, false])
    fill(one, 1)
    expect([one.isHalfFull, one.isFull]).toEqual([true, false])
    fill(one, 1)
    expect(one.isFull).toBe(true)
    fill(one, 3)
    expect([one.forgotten, seen.forgot]).toEqual([3, 3])
  })

  test('by size, but never the last', () => {
    const { one, seen } = backlog(100, 50)
    fill(one, 20)
    expect(seen.kept).toBeLessThanOrEqual(50)
    one.add('x'.repeat(500))
    expect([one.sent - one.forgotten, seen.kept]).toEqual([1, 500])
    one.add('y')
    expect(seen.kept).toBe(1)
  })

  test('and who asked about it asks again', () => {
    const { one } = backlog(3)
    fill(one, 2)
    expect(one.question()).toBe('2')
    fill(one, 2)
    expect(one.question()).toBeUndefined()
    fill(one, 1)
    expect(one.question()).toBe('5')
  })
})

test('a count is a whole number in digits', () => {
  expect([undefined, '', '1e3', '-1', '1'.repeat(16)].map(readCount)).toEqual(Array(5).fill(undefined))
  expect(['0', '007', '999999999999999'].map(readCount)).toEqual([0, 7, 999_999_999_999_999])
})
