import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFrameReader } from './frames.ts'
import type { LineReader } from './lines.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

function read(maxBytes = 1000): { readonly reader: LineReader; readonly seen: string[] } {
  const seen: string[] = []
  const reader = createFrameReader({
    maxBytes,
    decode(bytes) {
      try {
        return decoder.decode(bytes)
      } catch {
        return undefined
      }
    },
    onLine: (text) => seen.push(text),
    onOversize: () => seen.push('<too large>'),
    onBadEncoding: (bytes) => seen.push(`<${bytes.length} bad bytes>`),
  })
  return { reader, seen }
}

function frame(body: string | Uint8Array): Uint8Array {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const framed = new Uint8Array(4 + bytes.length)
  new DataView(framed.buffer).setUint32(0, bytes.length)
  framed.set(bytes, 4)
  return framed
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

describe('messages after their length [S2-10.3-2]', () => {
  test('arrive however the bytes are cut, with line breaks in them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', minLength: 1 })),
        fc.infiniteStream(fc.nat(9)),
        (texts, cuts) => {
          const sound = texts.map((text) => `{${text}\n🚢`)
          const bytes = join(...sound.map(frame))
          const { reader, seen } = read()
          for (let at = 0; at < bytes.length;) {
            const size = 1 + cuts.next().value
            reader.push(bytes.subarray(at, at + size))
            at += size
          }
          expect(seen).toEqual(sound.map((text) => decoder.decode(new TextEncoder().encode(text))))
          expect([reader.buffered, reader.isInside]).toEqual([0, false])
        },
      ),
    )
  })

  test('are refused from one byte more than the limit on, as soon as the length is known', () => {
    const { reader, seen } = read(10)
    reader.push(join(frame('x'.repeat(9)), frame('y'.repeat(10)), frame('z'.repeat(11)).subarray(0, 4)))
    expect(seen).toEqual(['x'.repeat(9), 'y'.repeat(10), '<too large>'])
    expect([reader.buffered, reader.isInside]).toEqual([0, true])
    reader.push(join(frame('z'.repeat(11)).subarray(4), frame('next')))
    expect(seen.at(-1)).toBe('next')
  })

  test('that are too large are skipped to their end, however the bytes are cut', () => {
    const bytes = join(frame('x'), frame('z'.repeat(50)), frame('next'), frame('last'))
    for (let cut = 1; cut < bytes.length; cut++) {
      const { reader, seen } = read(10)
      reader.push(bytes.subarray(0, cut))
      reader.push(bytes.subarray(cut))
      expect(seen).toEqual(['x', '<too large>', 'next', 'last'])
    }
  })

  test('of four gigabytes are skipped without being held', () => {
    const { reader, seen } = read(10)
    reader.push(Uint8Array.of(255, 255, 255, 255))
    for (let count = 0; count < 100; count++) reader.push(new Uint8Array(100_000))
    expect(seen).toEqual(['<too large>'])
    expect([reader.buffered, reader.isInside]).toEqual([0, true])
  })

  test('that are empty or blank mean nothing', () => {
    const { reader, seen } = read()
    reader.push(join(frame(''), frame(' \r\n'), frame('a'), frame('')))
    expect(seen).toEqual(['a'])
  })

  test('that are not UTF-8 are refused, and the next is read', () => {
    const { reader, seen } = read()
    reader.push(join(frame(Uint8Array.of(0x22, 0xff, 0x22)), frame('a')))
    expect(seen).toEqual(['<3 bad bytes>', 'a'])
  })

  test('can be discarded while they come', () => {
    for (const begun of [4, 6, 12]) {
      const { reader, seen } = read()
      const bytes = frame('discarded')
      reader.push(bytes.subarray(0, begun))
      reader.discard()
      expect(reader.buffered).toBe(0)
      reader.push(join(bytes.subarray(begun), frame('next')))
      expect(seen).toEqual(['next'])
    }
  })

  test('that are incomplete are discarded', () => {
    const { reader, seen } = read()
    reader.push(frame('broken off').subarray(0, 8))
    reader.end()
    expect(seen).toEqual([])
  })
})
