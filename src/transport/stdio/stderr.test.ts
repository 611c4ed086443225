import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { plainText } from '../lines/plain.ts'
import { createStderrReader } from './stderr.ts'

function read(...chunks: (string | Buffer)[]): { notes: string[]; last: readonly string[] } {
  const notes: string[] = []
  const reader = createStderrReader((line) => void notes.push(line))
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string))
  reader.end()
  return { notes, last: reader.lastLines() }
}

test('lines are put together from pieces, and the last one needs no line break', () => {
  const euro = Buffer.from('€')
  const { notes, last } = read(
    'on',
    'e\ntw',
    Buffer.concat([Buffer.from('o '), euro.subarray(0, 1)]),
    euro.subarray(1),
  )
  expect(notes).toEqual(['one', 'two €'])
  expect(last).toEqual(['one', 'two €'])
})

test('a line without end is left out', () => {
  const { notes } = read('x'.repeat(6000), 'x'.repeat(6000), '\nnext\n')
  expect(notes).toEqual(['(a line of more than 8192 bytes was left out)', 'next'])
})

test('what is too much at once is counted and left out, but the end of it is kept', () => {
  const block = `${'y'.repeat(99)}\n`.repeat(655)
  const { notes, last } = read(...Array.from({ length: 100 }, () => block), 'the end')
  expect(notes.length).toBeLessThan(3000)
  expect(notes.some((note) => /^\(\d+ bytes were left out\)$/.test(note))).toBe(true)
  expect(last).toHaveLength(20)
  expect(last.at(-1)).toBe('the end')
})

test.each([
  ['\u001b[31;1mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007text', 'text'],
  ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u001bPdevice\u001b\\done', 'done'],
  ['\u009b2Jcleared\u009d0;x\u009c!', 'cleared!'],
  ['\u001bc\u001b(Breset', 'reset'],
  ['a\tb\u0008\u0000c\u007f', 'a\tbc'],
  ['left\u202eright\u2066', 'leftright'],
  ['\u001b[', ''],
  ['\u001b]never ended', ''],
  ['ünïcode → 😀', 'ünïcode → 😀'],
])('%j is %j without what terminals act on', (text, plain) => {
  expect(plainText(text)).toBe(plain)
})
