import { HIDDEN, hiddenOr } from '../base/hidden-text.ts'
import { escaped } from '../errors/printable.ts'
import { isObject } from './message.ts'

/** A text that a model reads, and where it stands. */
export interface Placed {
  readonly where: string
  readonly text: string
}

/** Members that models do not read. */
const UNREAD: ReadonlySet<string> = new Set(['_meta', 'icons'])
/** The deepest place that is looked at. */
const DEEPEST = 40

/** Every text in a value, names of members included, with its place. */
export function* textsIn(value: unknown, where: string, depth = 0): Generator<Placed> {
  if (typeof value === 'string') yield { where, text: value }
  else if (depth > DEEPEST) return
  else if (Array.isArray(value))
    for (const [index, one] of value.entries()) yield* textsIn(one, `${where}[${index}]`, depth + 1)
  else if (isObject(value))
    for (const [key, one] of Object.entries(value)) {
      if (UNREAD.has(key)) continue
      yield { where: `a name in ${where}`, text: key }
      yield* textsIn(one, `${where}.${key}`, depth + 1)
    }
}

/** Hidden characters where scripts and emoji need them: flags, joined emoji, joiners between letters that join, variants of ideographs and Mongolian letters, hyphens in words, blanks in Braille. */
const NEEDED =
  /\u{1F3F4}[\u{E0020}-\u{E007E}]{1,8}\u{E007F}|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})|(?<=(?!\p{Script=Latin})[\p{L}\p{M}])[\u200C\u200D]|(?<=\p{Script=Han})[\u{E0100}-\u{E01EF}]|(?<=[\u1820-\u18AA])[\u180B-\u180D\u180F]|(?<=[\u0300-\u034E\u0591-\u05C7])\u034F(?=[\u0300-\u034E\u0591-\u05C7])|(?<=\p{L})\u00AD(?=\p{L})|(?<=[\u2801-\u28FF])\u2800+(?=[\u2801-\u28FF])/gu
/** Text from right to left, in which marks and isolates of direction are usual. */
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
const MARKS = /[\u061C\u200E\u200F\u202A-\u202C\u2066-\u2069]/gu
/** A selector of a variant that is not in a row. */
const SINGLE = /(?<![\uFE00-\uFE0F])[\uFE00-\uFE0F](?![\uFE00-\uFE0F])/gu
/** Controls, and what is hidden, also rows of selectors, which can carry text. */
const FOUND = new RegExp(`(?![\\t\\n\\r])\\p{Cc}|${HIDDEN}`, 'u')
/** What is escaped where a text is quoted. */
const ESCAPED = hiddenOr('[\\p{Cc}\\p{Cf}]')

/** Where a text hides something, with what stands around it; undefined if it hides nothing. */
export function hiddenIn(text: string): string | undefined {
  const plain = text.replaceAll(NEEDED, '').replaceAll(SINGLE, '')
  const left = RIGHT_TO_LEFT.test(plain) ? plain.replaceAll(MARKS, '') : plain
  const found = FOUND.exec(left)
  if (found === null) return undefined
  const code = found[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  return `the character U+${code ?? ''} in ${around(left, found.index)}`
}

/** Phrases with which a text gives orders to the model that reads it. Each is rare in an honest description. */
const ORDERS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|of|the|your|my|these|those)\s+){0,3}(?:previous|prior|earlier|above|preceding)\s+(?:instruction|prompt|rule|direction|guideline|command)/iu,
  /\b(?:do\s+not|don['’]t|never|must\s+not)\s+(?:tell|inform|mention|reveal|disclose)\s+(?:(?:this|that|it|anything|any\s+of\s+this)\s+)?(?:to\s+)?the\s+user\b/iu,
  /\b(?:reveal|print|repeat|output|send|leak)\s+(?:me\s+)?(?:your|the)\s+(?:(?:entire|full|whole)\s+)?system\s+prompt\b/iu,
  /\byou\s+are\s+now\s+(?:in\s+)?(?:developer\s+mode|jailbroken|unrestricted|dan\b)/iu,
  /<\/?(?:system|important|system[-_ ]?prompt)>|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|<<SYS>>|\[\/?INST\]/iu,
]

/** The order in a text, with what stands around it; undefined if there is none. */
export function orderIn(text: string): string | undefined {
  for (const order of ORDERS) {
    const found = order.exec(text)
    if (found !== null) return around(text, found.index, found[0].length)
  }
  return undefined
}

/** A part of a text as people can read it. */
function around(text: string, at: number, length = 1): string {
  const part = text.slice(Math.max(0, at - 20), at + Math.min(length, 100) + 20)
  return `"${escaped(part, ESCAPED)}"`
}
