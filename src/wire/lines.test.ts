import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineReader, type LineReader } from './lines.ts'
import { decodeUtf8 } from './utf8.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function startReader(maxBytes = 1000): { readonly reader: LineReader; readonly log: string[] } {
  const log: string[] = []
  const reader = createLineReader({
    maxBytes,
    decode: decodeUtf8,
    onLine: (text) => log.push(text),
    onOversize: () => log.push('<oversize>'),
    onBadEncoding: () => log.push('<bad encoding>'),
  })
  return { reader, log }
}

function readAll(chunks: readonly Uint8Array[], maxBytes?: number): string[] {
  const { reader, log } = startReader(maxBytes)
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return log
}

test('one message per line, several in a chunk [R060] [S0-3.2] [S2-10.2-1]', () => {
  expect(readAll([bytesOf('{"a":1}\n{"b":2}\n')])).toEqual(['{"a":1}', '{"b":2}'])
})

test('CRLF is tolerated and blank lines are ignored [R068]', () => {
  expect(readAll([bytesOf('{"a":1}\r\n\r\n\n  \t \n{"b":2}\n')])).toEqual(['{"a":1}', '{"b":2}'])
})

test('blank lines are ignored in later chunks too [R068]', () => {
  expect(readAll([bytesOf('{}\n'), bytesOf('  \n{"a":1}\n \t\r\n\t\n')])).toEqual(['{}', '{"a":1}'])
})

test('a CR inside a line stays', () => {
  expect(readAll([bytesOf('a\rb\r\r\n')])).toEqual(['a\rb\r'])
})

test('a line of NUL bytes is not blank', () => {
  expect(readAll([bytesOf('\0\0\n')])).toEqual(['\0\0'])
})

test('a byte order mark is dropped before the first line only [L.bom]', () => {
  expect(readAll([bytesOf('\uFEFF{}\n\uFEFF{}\n')])).toEqual(['{}', '\uFEFF{}'])
  expect(readAll([bytesOf('\uFEFF\n\uFEFF{}\n')])).toEqual(['\uFEFF{}'])
  expect(readAll([bytesOf('123456789'), bytesOf('\n\uFEFF{}\n')], 5)).toEqual(['<oversize>', '\uFEFF{}'])
})

test('a last line without newline is delivered at the end [L.eof-mid]', () => {
  const { reader, log } = startReader()
  reader.push(bytesOf('{"a":1}\n{"b"'))
  expect(log).toEqual(['{"a":1}'])
  expect(reader.buffered).toBe(4)
  reader.end()
  reader.end()
  expect(log).toEqual(['{"a":1}', '{"b"'])
  expect(reader.buffered).toBe(0)
})

test('characters cut in the middle survive, byte by byte [S0-3.3]', () => {
  const text = '{"text":"grüße, 世界 😀"}'
  expect(readAll([...bytesOf(`${text}\n`)].map((byte) => Uint8Array.of(byte)))).toEqual([text])
})

test('a line that is not UTF-8 is reported and the next one is read [M.utf8-bad] [R068]', () => {
  const bad = Uint8Array.of(0x22, 0xff, 0x22, 0x0a)
  expect(readAll([bad, bytesOf('{}\n')])).toEqual(['<bad encoding>', '{}'])
})

test('a line may be as long as the limit and no longer, with or without CR', () => {
  for (const ending of ['\n', '\r\n', '']) {
    expect(readAll([bytesOf(`1234${ending}`)], 5)).toEqual(['1234'])
    expect(readAll([bytesOf(`12345${ending}`)], 5)).toEqual(['12345'])
    expect(readAll([bytesOf(`123456${ending}`)], 5)).toEqual(['<oversize>'])
  }
})

test('a line beyond the limit is reported once, not held, and the next one is read [L.line-64m]', () => {
  const { reader, log } = startReader(1000)
  const chunk = new Uint8Array(65_536).fill(0x61)
  let most = 0
  for (let count = 0; count < 1024; count++) {
    reader.push(chunk)
    most = Math.max(most, reader.buffered)
  }
  reader.push(bytesOf('tail\n{}\n'))
  expect(most).toBeLessThanOrEqual(1001)
  expect(log).toEqual(['<oversize>', '{}'])
})

test('a long line in very many small chunks takes time in proportion', () => {
  const { reader, log } = startReader(2_000_000)
  const piece = bytesOf('abcd')
  for (let count = 0; count < 500_000; count++) reader.push(piece)
  reader.push(bytesOf('\n'))
  expect(log).toHaveLength(1)
  expect(log[0]).toHaveLength(2_000_000)
})

test('whole lines are decoded from the chunk itself', () => {
  const chunk = bytesOf('{"a":1}\n{"b":2}\n')
  const buffers: unknown[] = []
  const reader = createLineReader({
    maxBytes: 100,
    decode: (bytes) => {
      buffers.push(bytes.buffer)
      return decodeUtf8(bytes)
    },
    onLine: () => {},
    onOversize: () => {},
    onBadEncoding: () => {},
  })
  reader.push(chunk)
  expect(buffers).toEqual([chunk.buffer, chunk.buffer])
  expect(buffers[0]).toBe(chunk.buffer)
})

test('nothing is held while a line is being handled', () => {
  const held: number[] = []
  const reader: LineReader = createLineReader({
    maxBytes: 100,
    decode: decodeUtf8,
    onLine: () => held.push(reader.buffered),
    onOversize: () => {},
    onBadEncoding: () => {},
  })
  reader.push(bytesOf('{"a"'))
  reader.push(bytesOf(':1}\n{'))
  expect(held).toEqual([0])
})

test('however the bytes are cut, the lines are the same [R060]', () => {
  const byte = fc.oneof(
    fc.constantFrom(0x0a, 0x0a, 0x0d, 0x20, 0x61, 0xef, 0xbb, 0xbf, 0xc3, 0xa9),
    fc.nat(255),
  )
  const stream = fc.array(byte, { maxLength: 80 }).map((bytes) => Uint8Array.from(bytes))
  fc.assert(
    fc.property(stream, fc.array(fc.nat(80)), fc.integer({ min: 1, max: 12 }), (bytes, cuts, maxBytes) => {
      expect(readAll(cut(bytes, cuts), maxBytes)).toEqual(linesOf(bytes, maxBytes))
    }),
    { numRuns: 2000 },
  )
})

function cut(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.filter((place) => place < bytes.length).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((place, index) => bytes.slice(places[index], place))
}

function linesOf(bytes: Uint8Array, maxBytes: number): string[] {
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  const log: string[] = []
  for (const [index, whole] of lines.entries()) {
    const ended = whole.endsWith('\r') ? whole.slice(0, -1) : whole
    const line = index === 0 && ended.startsWith('\xef\xbb\xbf') ? ended.slice(3) : ended
    const text = decodeUtf8(Buffer.from(line, 'latin1'))
    if (ended.length > maxBytes) log.push('<oversize>')
    else if (/[^ \t\v\f\r]/.test(line)) log.push(text ?? '<bad encoding>')
  }
  return log
}
