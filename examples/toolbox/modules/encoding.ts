import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { charactersOf, pure, TEXT, wellFormed } from '../pure.ts'

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])
const CHARACTERS = new Map([...ENTITIES].map(([character, entity]) => [entity, character]))

/** Reads bytes as UTF-8. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ToolError('The bytes are not text in UTF-8.')
  }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ToolError('A percent sign is not followed by the code of a character.')
  }
}

/** Notations of text: how each is written and read, and an example. */
const NOTATIONS = {
  base64: {
    about: 'Base64',
    example: 'aGFyYm91cg==',
    form: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    encode: (text) => Buffer.from(text).toString('base64'),
    decode: (text) => textOf(Buffer.from(text, 'base64')),
  },
  hex: {
    about: 'hexadecimal digits',
    example: '74696465',
    form: /^(?:[0-9a-fA-F]{2})*$/,
    encode: (text) => Buffer.from(text).toString('hex'),
    decode: (text) => textOf(Buffer.from(text, 'hex')),
  },
  percent: {
    about: 'percent-encoding, for one part of a URL',
    example: 'north%20mole',
    form: /^[^\s]*$/,
    encode: (text) => encodeURIComponent(wellFormed(text)),
    decode: percentDecoded,
  },
  html: {
    about: 'HTML, with entities for the characters that have a meaning there',
    example: 'rope &amp; anchor',
    form: /^[^<>]*$/,
    encode: (text) => text.replaceAll(/[&<>"']/g, (one) => ENTITIES.get(one) ?? one),
    decode: (text) => text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (one) => CHARACTERS.get(one) ?? one),
  },
} satisfies Record<
  string,
  {
    about: string
    example: string
    /** What encoded text looks like. */
    form: RegExp
    encode: (text: string) => string
    decode: (text: string) => string
  }
>

export const encoding: ToolMap = {
  ...Object.fromEntries(
    Object.entries(NOTATIONS).flatMap(([name, { about, example, form, encode, decode }]) => [
      [
        `encode_${name}`,
        pure(`Writes text as ${about}.`, { text: TEXT }, { encoded: z.string() }, ({ text }) => ({
          encoded: encode(text),
        })),
      ],
      [
        `decode_${name}`,
        pure(
          `Reads text from ${about}.`,
          {
            encoded: z
              .string()
              .max(80_000)
              .meta({ examples: [example] }),
          },
          { text: z.string() },
          ({ encoded }) => {
            if (!form.test(encoded)) throw new ToolError(`This is not ${about}.`)
            return { text: decode(encoded) }
          },
        ),
      ],
    ]),
  ),
  inspect_characters: pure(
    'Shows what a short text consists of: each character with its code point and its bytes in UTF-8.',
    { text: z.string().max(200) },
    { characters: z.array(z.object({ character: z.string(), code: z.string(), bytes: z.string() })) },
    ({ text }) => ({
      characters: charactersOf(wellFormed(text)).map((character) => ({
        character,
        code: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
        bytes: Buffer.from(character).toString('hex'),
      })),
    }),
  ),
}
