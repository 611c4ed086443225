import { expect, test } from 'vitest'
import { decodeUtf8 } from './utf8.ts'

test('valid UTF-8 is decoded exactly, a byte order mark included [S0-3.3]', () => {
  for (const text of ['', 'plain', 'grüße 世界 😀', '\uFEFF{}', 'a\0b']) {
    expect(decodeUtf8(new TextEncoder().encode(text))).toBe(text)
  }
})

test('invalid UTF-8 is not decoded [M.utf8-bad]', () => {
  const broken = [
    [0xff],
    [0xc3],
    [0xc3, 0x28],
    [0xc0, 0xaf],
    [0xe0, 0x80, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
  ]
  for (const bytes of broken) expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined()
})

test('a broken text leaves nothing behind for the next', () => {
  expect(decodeUtf8(Uint8Array.of(0x61, 0xe4, 0xb8))).toBeUndefined()
  expect(decodeUtf8(Uint8Array.of(0x62))).toBe('b')
})
