import { fromBase64 } from '../protocol/content.ts'
import { isPlain, PREFIX, SUFFIX } from './header-value.ts'
import { decodeUtf8 } from './utf8.ts'

/** Looks up a header by its lower-case name. */
export type HeaderLookup = (name: string) => string | undefined

/** A header that does not match the body; `reason` completes the sentence "the header …". */
export interface HeaderProblem {
  readonly header: string
  readonly reason: string
}

export interface RequestHeaders {
  readonly header: HeaderLookup
  /** The values in the body that the standard headers repeat. */
  readonly version: string
  readonly method: string
  readonly name?: string | undefined
  /** Whether headers may be missing. */
  readonly areOptional?: boolean
}

const encoder = new TextEncoder()

/** Compares the standard headers of a 2026-07-28 request with its body. */
export function checkRequestHeaders(request: RequestHeaders): HeaderProblem | undefined {
  const { header, version, method, name, areOptional = false } = request
  const versionHeader = header('mcp-protocol-version')
  const methodHeader = header('mcp-method')
  const nameHeader = header('mcp-name')
  const isDue = (value: string | undefined): boolean => !areOptional || value !== undefined
  return (
    (isDue(versionHeader) ? checkExact('MCP-Protocol-Version', versionHeader, version) : undefined) ??
    (isDue(methodHeader) ? checkExact('Mcp-Method', methodHeader, method) : undefined) ??
    (isDue(nameHeader) ? checkName(nameHeader, name) : undefined)
  )
}

function checkExact(header: string, value: string | undefined, expected: string): HeaderProblem | undefined {
  if (value === expected) return undefined
  if (value === undefined) return { header, reason: 'is missing' }
  return trim(value) === expected ? undefined : { header, reason: 'differs from the body' }
}

function checkName(value: string | undefined, expected: string | undefined): HeaderProblem | undefined {
  if (expected !== undefined) return checkValue('Mcp-Name', value, expected)
  return value === undefined ? undefined : { header: 'Mcp-Name', reason: 'does not belong to this method' }
}

/** Compares a possibly encoded header with the text in the body; half of a surrogate pair is sent as U+FFFD. */
export function checkValue(
  header: string,
  value: string | undefined,
  expected: string,
): HeaderProblem | undefined {
  if (value === expected && isPlain(value)) return undefined
  if (value === undefined) return { header, reason: 'is missing' }
  const decoded = decodeHeaderValue(value)
  if (decoded === undefined) return { header, reason: 'is neither printable ASCII nor =?base64?…?= of UTF-8' }
  const same = decoded === expected || decoded === decodeUtf8(encoder.encode(expected))
  return same ? undefined : { header, reason: 'differs from the body' }
}

/** Decodes a header value; `undefined` if it is not validly encoded. */
export function decodeHeaderValue(value: string): string | undefined {
  const trimmed = trim(value)
  if (!isEncoded(trimmed)) return isPrintable(trimmed) ? trimmed : undefined
  const bytes = fromBase64(trimmed.slice(PREFIX.length, -SUFFIX.length))
  return bytes === undefined ? undefined : decodeUtf8(bytes)
}

function isEncoded(text: string): boolean {
  return text.length >= PREFIX.length + SUFFIX.length && text.startsWith(PREFIX) && text.endsWith(SUFFIX)
}

/** Some clients send tabs unencoded. */
function isPrintable(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text)
}

function trim(value: string): string {
  let from = 0
  let to = value.length
  while (from < to && isSpace(value.charCodeAt(from))) from++
  while (to > from && isSpace(value.charCodeAt(to - 1))) to--
  return value.slice(from, to)
}

function isSpace(letter: number): boolean {
  return letter === 0x20 || letter === 0x09
}
