import { Buffer } from 'node:buffer'
import { expect, onTestFinished, test, vi } from 'vitest'
import { plainText } from '../lines/plain.ts'
import { createStderrReader } from './stderr.ts'

function read(...chunks: (string | Buffer)[]): { notes: string[]; last: readonly string[] } {
  const notes: string[] = []
  const reader = createStderrReader((line) => void notes.push(line))
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string))
  reader.end()
  return { notes, last: reader.lastLines() }
}

test('lines are joined from chunks, and the last one needs no line break', () => {
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

test('an endless line is omitted', () => {
  const { notes } = read('x'.repeat(6000), 'x'.repeat(6000), '\nnext\n')
  expect(notes).toEqual(['(a line of more than 8192 bytes was omitted)', 'next'])
})

test('output beyond the rate limit is counted and omitted, but its end is kept', () => {
  const block = `${'y'.repeat(99)}\n`.repeat(655)
  const { notes, last } = read(...Array.from({ length: 100 }, () => block), 'the end')
  expect(notes.length).toBeLessThan(3000)
  expect(notes.some((note) => /^\(\d+ bytes were omitted\)$/.test(note))).toBe(true)
  expect(last).toHaveLength(20)
  expect(last.at(-1)).toBe('the end')
})

const WINDOW = 262_144

function readSlowly(): {
  readonly notes: string[]
  push(text: string): void
  end(): void
  wait(ms: number): void
} {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  // The clock starts at 0, which no running process sees.
  vi.advanceTimersByTime(1)
  const notes: string[] = []
  const reader = createStderrReader((line) => void notes.push(line))
  return {
    notes,
    push: (text) => reader.push(Buffer.from(text)),
    end: () => reader.end(),
    wait: (ms) => void vi.advanceTimersByTime(ms),
  }
}

/** So many bytes, in lines of one kibibyte each. */
function linesOf(bytes: number): string {
  return `${'y'.repeat(1023)}\n`.repeat(bytes / 1024)
}

test('output up to the limit per second is passed on, and not a byte more', () => {
  const { notes, push, end } = readSlowly()
  push(linesOf(WINDOW))
  expect(notes).toHaveLength(WINDOW / 1024)
  push('x')
  end()
  expect(notes.slice(WINDOW / 1024)).toEqual(['(1 bytes were omitted)'])
})

test('after omitted output, lines are passed on again from the first complete one', () => {
  const { notes, push, end, wait } = readSlowly()
  push(linesOf(WINDOW))
  push('lost')
  push(' lost\nlost')
  notes.length = 0
  wait(1001)
  push(' cut off\nwhole\n')
  expect(notes).toEqual(['(14 bytes were omitted)', 'whole'])
  push('next\n')
  expect(notes.slice(2)).toEqual(['next'])
  end()
  expect(notes.slice(3)).toEqual([])
})

test('a second has passed only when it is over', () => {
  const { notes, push, wait } = readSlowly()
  push(linesOf(WINDOW))
  notes.length = 0
  wait(1000)
  push('early\n')
  expect(notes).toEqual([])
  wait(1)
  push('rest of early\nlate\n')
  expect(notes).toEqual(['(6 bytes were omitted)', 'late'])
})

test('omitted output is reported once when a process ends, before the output of its children', () => {
  const { notes, push, end, wait } = readSlowly()
  push(linesOf(WINDOW))
  push('lost\n')
  notes.length = 0
  end()
  expect(notes).toEqual(['(5 bytes were omitted)'])
  wait(1001)
  push('from a child\n')
  expect(notes.slice(1)).toEqual(['from a child'])
})

test('a line interrupted by the limit is passed on as far as it was read', () => {
  const { notes, push } = readSlowly()
  push('unfinished')
  push(linesOf(WINDOW))
  expect(notes).toEqual(['unfinished'])
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
