import { expect, test } from 'vitest'
import { TextLog } from './text-log.ts'

test('a log keeps the newest texts, with their numbers', () => {
  const log = new TextLog()
  for (let seq = 0; seq < 1000; seq++) {
    log.add(`${seq}`, { events: 7, bytes: 1000 })
    expect([log.first, log.next]).toEqual([Math.max(0, seq - 6), seq + 1])
    const kept = Array.from({ length: log.next - log.first }, (_, index) => log.first + index)
    expect(log.after(-1, 100)).toEqual(kept.map((one) => ({ seq: one, text: `${one}` })))
    expect(log.after(seq - 2, 1)).toEqual(
      seq === 0 ? [{ seq: 0, text: '0' }] : [{ seq: seq - 1, text: `${seq - 1}` }],
    )
  }
  expect(log.after(999, 9)).toEqual([])
})

test('a log counts bytes, two for each character of a text beyond Latin-1', () => {
  const log = new TextLog()
  for (const text of ['aaaa', 'bbbb', 'ЖЖ']) log.add(text, { events: 100, bytes: 9 })
  expect(log.first).toBe(1)
  log.add('ЖЖЖ', { events: 100, bytes: 9 })
  expect(log.first).toBe(3)
  log.add('c'.repeat(100), { events: 100, bytes: 9 })
  log.add('d', { events: 100, bytes: 9 })
  expect([log.first, log.next]).toEqual([5, 6])
})
