import type { ToolMap } from 'pierhead'
import { z } from 'zod'
import { charactersOf, pure, TEXT } from '../pure.ts'

const wordsOf = (text: string): readonly string[] =>
  text.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').match(/[\p{L}\p{N}]+/gu) ?? []
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()
const lower = (text: string): string[] => wordsOf(text).map((word) => word.toLowerCase())

const CASES = {
  camel: (text) =>
    wordsOf(text)
      .map(capital)
      .join('')
      .replace(/^./u, (first) => first.toLowerCase()),
  pascal: (text) => wordsOf(text).map(capital).join(''),
  snake: (text) => lower(text).join('_'),
  kebab: (text) => lower(text).join('-'),
  title: (text) => wordsOf(text).map(capital).join(' '),
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
} satisfies Record<string, (text: string) => string>

/** How many single-character edits turn one text into another (Levenshtein). */
function distance(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, i) => i + 1)
  for (const [i, left] of a.entries()) {
    let [diagonal, last] = [i, i + 1]
    row = row.map((above, j) => {
      last = Math.min(above + 1, last + 1, diagonal + (left === b[j] ? 0 : 1))
      diagonal = above
      return last
    })
  }
  return row.at(-1) ?? a.length
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines.splice(-1, 1, `${last} ${word}`)
    else lines.push(word)
  }
  return lines
}

function dedent(text: string): string {
  const lines = text.split('\n')
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const least = Math.min(...indents)
  return lines.map((line) => line.slice(least)).join('\n')
}

const SHORT = z
  .string()
  .max(500)
  .meta({ examples: ['harbour'] })

export const text: ToolMap = {
  text_count: pure(
    'Counts the characters, words and lines of a text.',
    { text: TEXT },
    { characters: z.int(), words: z.int(), lines: z.int() },
    (input) => ({
      characters: charactersOf(input.text).length,
      words: input.text.split(/\s+/).filter((word) => word !== '').length,
      lines: input.text === '' ? 0 : input.text.split('\n').length,
    }),
  ),
  text_case: pure(
    'Writes the words of a text in another style, such as camelCase or snake_case.',
    { text: TEXT, to: z.enum(Object.keys(CASES) as (keyof typeof CASES)[]) },
    { text: z.string() },
    ({ text: given, to }) => ({ text: CASES[to](given) }),
  ),
  text_slug: pure(
    'Makes a name for URLs and files from a title: lower case, ASCII, words joined by hyphens.',
    { text: TEXT },
    { slug: z.string() },
    (input) => ({
      slug: (
        input.text
          .normalize('NFKD')
          .replaceAll(/\p{M}/gu, '')
          .toLowerCase()
          .match(/[a-z0-9]+/g) ?? []
      ).join('-'),
    }),
  ),
  text_wrap: pure(
    'Breaks a text into lines of at most so many characters, between words. Longer words get lines of their own.',
    { text: TEXT, width: z.int().min(10).max(200).default(80) },
    { lines: z.array(z.string()) },
    (input) => ({ lines: wrap(input.text, input.width) }),
  ),
  text_truncate: pure(
    'Shortens a text to at most so many characters; the last one is then an ellipsis.',
    { text: TEXT, length: z.int().min(1).max(10_000) },
    { text: z.string(), cut: z.boolean() },
    ({ text: given, length }) => {
      const characters = charactersOf(given)
      if (characters.length <= length) return { text: given, cut: false }
      return { text: `${characters.slice(0, length - 1).join('')}…`, cut: true }
    },
  ),
  text_replace: pure(
    'Replaces every occurrence of a piece of text, which is not a pattern.',
    {
      text: TEXT,
      find: z
        .string()
        .min(1)
        .max(1000)
        .meta({ examples: ['tide'] }),
      replacement: z.string().max(100),
    },
    { text: z.string(), count: z.int() },
    ({ text: given, find, replacement }) => {
      const parts = given.split(find)
      return { text: parts.join(replacement), count: parts.length - 1 }
    },
  ),
  text_distance: pure(
    'Compares two short texts: how many edits are between them, and how similar they are, from 0 to 1.',
    { a: SHORT, b: SHORT },
    { edits: z.int(), similarity: z.number() },
    ({ a, b }) => {
      const edits = distance(charactersOf(a), charactersOf(b))
      const longest = Math.max(charactersOf(a).length, charactersOf(b).length)
      return { edits, similarity: longest === 0 ? 1 : Math.round((1 - edits / longest) * 1000) / 1000 }
    },
  ),
  text_dedent: pure(
    'Removes the indentation that all lines of a text have in common.',
    { text: TEXT },
    { text: z.string() },
    (input) => ({ text: dedent(input.text) }),
  ),
  text_fill: pure(
    'Fills the gaps of a template, such as {{name}}, and lists those that have no value.',
    {
      template: z
        .string()
        .max(20_000)
        .meta({ examples: ['Dear {{name}}'] }),
      values: z.record(z.string(), z.string()),
    },
    { text: z.string(), missing: z.array(z.string()) },
    ({ template, values }) => {
      const missing = new Set<string>()
      const filled = template.replaceAll(/\{\{(\w{1,64})\}\}/g, (gap, name: string) => {
        if (!Object.hasOwn(values, name)) missing.add(name)
        return Object.hasOwn(values, name) ? (values[name] ?? '') : gap
      })
      return { text: filled, missing: [...missing] }
    },
  ),
}
