import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ToolMap } from 'pierhead'
import { z } from 'zod'
import { charactersOf, pure, TEXT } from '../pure.ts'

const ALGORITHM = z.enum(['sha256', 'sha512', 'sha1', 'md5']).default('sha256')
const HASH = { hex: z.string() }

function crc32(bytes: Uint8Array): number {
  let crc = 0xff_ff_ff_ff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0)
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0
}

function fnv1a(bytes: Uint8Array): number {
  let hash = 0x81_1c_9d_c5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01_00_01_93)
  return hash >>> 0
}

/** The sum of Luhn, which is a multiple of ten for a number with its check digit. */
const luhnSum = (digits: string): number =>
  charactersOf(digits)
    .reverse()
    .reduce((sum, digit, i) => {
      const worth = Number(digit) * (i % 2 === 0 ? 1 : 2)
      return sum + (worth > 9 ? worth - 9 : worth)
    }, 0)

function isIsbn(text: string): boolean {
  if (/^\d{9}[\dX]$/.test(text))
    return (
      charactersOf(text).reduce((sum, one, i) => sum + (10 - i) * (one === 'X' ? 10 : Number(one)), 0) %
        11 ===
      0
    )
  return (
    /^97[89]\d{10}$/.test(text) &&
    charactersOf(text).reduce((sum, one, i) => sum + Number(one) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0
  )
}

/** A UUID made from a name (version 5 of RFC 9562). */
function uuidOf(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const eightDigits = (value: number): string => value.toString(16).padStart(8, '0')

export const hashing: ToolMap = {
  hash_digest: pure(
    'Computes the digest of a text in UTF-8. Use sha256 unless something else is asked for.',
    { text: TEXT, algorithm: ALGORITHM },
    HASH,
    ({ text, algorithm }) => ({ hex: createHash(algorithm).update(text).digest('hex') }),
  ),
  hash_hmac: pure(
    'Computes the authentication code of a text under a key (HMAC).',
    { text: TEXT, key: z.string().min(1).max(1000), algorithm: ALGORITHM },
    HASH,
    ({ text, key, algorithm }) => ({ hex: createHmac(algorithm, key).update(text).digest('hex') }),
  ),
  hash_compare: pure(
    'Compares two digests without regard to case, in a time that does not show where they differ.',
    { a: z.string().max(1000), b: z.string().max(1000) },
    { equal: z.boolean() },
    (given) => {
      const [a, b] = [given.a, given.b].map((one) => createHash('sha256').update(one.toLowerCase()).digest())
      return { equal: a !== undefined && b !== undefined && timingSafeEqual(a, b) }
    },
  ),
  hash_crc32: pure(
    'Computes the CRC-32 of a text, as zip and PNG use it.',
    { text: TEXT },
    HASH,
    ({ text }) => ({ hex: eightDigits(crc32(Buffer.from(text))) }),
  ),
  hash_fnv1a: pure(
    'Computes the 32-bit FNV-1a hash of a text, for hash tables.',
    { text: TEXT },
    HASH,
    ({ text }) => ({ hex: eightDigits(fnv1a(Buffer.from(text))) }),
  ),
  hash_luhn: pure(
    'Checks the last digit of a card number or similar (Luhn), and says which digit would fit.',
    {
      digits: z
        .string()
        .regex(/^\d{2,30}$/)
        .meta({ examples: ['79927398713'] }),
    },
    { valid: z.boolean(), checkDigit: z.int() },
    ({ digits }) => ({
      valid: luhnSum(digits) % 10 === 0,
      checkDigit: (10 - (luhnSum(`${digits.slice(0, -1)}0`) % 10)) % 10,
    }),
  ),
  hash_isbn: pure(
    'Checks the number of a book, with 10 or 13 digits.',
    {
      isbn: z
        .string()
        .max(30)
        .meta({ examples: ['978-3-16-148410-0'] }),
    },
    { valid: z.boolean() },
    ({ isbn }) => ({ valid: isIsbn(isbn.replaceAll(/[\s-]/g, '').toUpperCase()) }),
  ),
  hash_uuid: pure(
    'Makes the UUID of a name in a namespace, always the same one (version 5).',
    {
      namespace: z.uuid().meta({ examples: ['6ba7b810-9dad-11d1-80b4-00c04fd430c8'] }),
      name: z.string().max(1000),
    },
    { uuid: z.string() },
    ({ namespace, name }) => ({ uuid: uuidOf(namespace, name) }),
  ),
}
