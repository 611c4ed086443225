/** The kind of a character in a URI: unreserved, a delimiter, or percent-encoded. It stands in the bits above the code point. */
export const UNRESERVED: number = 1 << 21
export const RESERVED: number = 2 << 21
export const ENCODED: number = 4 << 21
const CODE_POINT = UNRESERVED - 1

/** A URI as code points with their kinds: percent-encoded UTF-8 becomes one decoded character of kind `ENCODED`. */
export type Units = Int32Array

const KINDS = new Int32Array(128)
mark('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~', UNRESERVED)
mark(":/?#[]@!$&'()*+,;=", RESERVED)

function mark(chars: string, kind: number): void {
  for (const char of chars) KINDS[char.charCodeAt(0)] = kind
}

/** The kind of an ASCII character that may appear unencoded in a URI, otherwise 0. */
export function kindOf(code: number): number {
  return KINDS[code] ?? 0
}

/** An ASCII character as it is in a URI. */
export function unitOf(char: string): number {
  const code = char.charCodeAt(0)
  return code | kindOf(code)
}

/** The text of some units. */
export function textOf(units: Units): string {
  let text = ''
  for (const unit of units) text += String.fromCodePoint(unit & CODE_POINT)
  return text
}

const LONE_SURROGATE = /\p{Surrogate}/gu
const LEFT_ALONE = /[!'()*]/g
const NOT_IN_URI = /%(?![\dA-Fa-f]{2})|[^\w.~:/?#[\]@!$&'()*+,;=%-]+/g

/** Percent-encodes all but unreserved characters; with `keepReserved` it also keeps delimiters and triplets. */
export function encode(text: string, keepReserved: boolean): string {
  const whole = text.replace(LONE_SURROGATE, '\uFFFD')
  return keepReserved
    ? whole.replace(NOT_IN_URI, (run) => encodeURIComponent(run))
    : encodeURIComponent(whole).replace(LEFT_ALONE, encodeAscii)
}

function encodeAscii(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`
}

/** The first code points of a text. */
export function firstCodePoints(text: string, count: number): string {
  let end = 0
  for (let taken = 0; taken < count && end < text.length; taken++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

/** Whether `%` and two hexadecimal digits start at this index. */
export function isTriplet(text: string, at: number): boolean {
  return octetAt(text, at) >= 0
}

/** Reads a URI into code points; undefined if a character, a triplet or the UTF-8 in triplets is not valid. */
export function readUnits(text: string): Units | undefined {
  const units = new Int32Array(text.length)
  let count = 0
  for (let at = 0; at < text.length;) {
    let code = text.charCodeAt(at)
    let length = 1
    if (code === 0x25) {
      length = sequenceLength(octetAt(text, at))
      code = readSequence(text, at, length)
      if (code < 0) return undefined
      length *= 3
    }
    const kind = kindOf(code)
    if (length === 1 && kind === 0) return undefined
    units[count++] = code | (length === 1 || kind === UNRESERVED ? kind : ENCODED)
    at += length
  }
  return units.subarray(0, count)
}

function octetAt(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x25) return -1
  const high = hexDigit(text.charCodeAt(at + 1))
  const low = hexDigit(text.charCodeAt(at + 2))
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function sequenceLength(lead: number): number {
  if (lead < 0) return 0
  if (lead < 0x80) return 1
  if (lead >= 0xc2 && lead < 0xe0) return 2
  if (lead >= 0xe0 && lead < 0xf0) return 3
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0
}

const LEAD_BITS = [0, 0x7f, 0x1f, 0x0f, 0x07]
const SMALLEST = [0, 0, 0x80, 0x800, 0x10000]

function readSequence(text: string, at: number, length: number): number {
  if (length === 0) return -1
  let code = octetAt(text, at) & (LEAD_BITS[length] ?? 0)
  for (let index = 1; index < length; index++) {
    const octet = octetAt(text, at + index * 3)
    if (octet < 0x80 || octet > 0xbf) return -1
    code = code * 64 + (octet & 0x3f)
  }
  const surrogate = code >= 0xd800 && code <= 0xdfff
  return surrogate || code > 0x10ffff || code < (SMALLEST[length] ?? 0) ? -1 : code
}
