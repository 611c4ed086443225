import { expect, test } from 'vitest'
import { HIDDEN, hiddenOr } from './hidden-text.ts'
import { safeJson } from './safe-json.ts'

const found = (text: string): readonly string[] => text.match(new RegExp(HIDDEN, 'gu')) ?? []

test.each([
  ['a tag', '\u{E0041}'],
  ['a selector of the supplement', '\u{E0150}'],
  ['a selector after a letter', '\uFE0F'],
  ['a grapheme joiner', '\u034F'],
  ['a filler of Hangul', '\u115F'],
  ['another one', '\u1160'],
  ['a wide filler', '\u3164'],
  ['a narrow filler', '\uFFA0'],
  ['a vowel of Khmer that is not shown', '\u17B4'],
  ['a selector of Mongolian', '\u180B'],
  ['blank Braille', '\u2800'],
  ['a space without width', '\u200B'],
  ['a character without a meaning yet that must not be shown', '\u{E0FFF}'],
  ['an interlinear anchor', '\uFFF9'],
  ['half a character', '\uD83D'],
])('%s is hidden', (_name, char) => {
  expect(found(`a${char}b`)).toEqual([char])
})

test('selectors that choose how an emoji looks are not hidden, but a row of them is', () => {
  expect(found('❤️ 1️⃣ ™︎ 👍🏽 🏳️')).toEqual([])
  expect(found('❤️\uFE0F\uFE0E 1\uFE0F')).toEqual(['\uFE0F', '\uFE0E', '\uFE0F'])
})

test('letters, accents, scripts and spaces are not hidden', () => {
  expect(found('e\u0301 – déjà vu, a\u00a0b\u3000漢字 नमस्ते 한국어 ⠃⠗ \t\n')).toEqual([])
})

test('a pattern finds further characters, wherever they are', () => {
  expect('a\u2028\u3164\u0007'.match(hiddenOr('\\p{Cc}|\\p{Zl}'))).toEqual(['\u2028', '\u3164', '\u0007'])
})

test('JSON has every hidden character as an escape, and means the same', () => {
  const value = { '\u3164': 'a\u{E0150}\uFE0F\u2800\u202E\u009B', b: '❤️' }
  const json = safeJson(value)
  expect(found(json)).toEqual([])
  expect(json).toContain('❤️')
  expect(JSON.parse(json)).toEqual(value)
})
