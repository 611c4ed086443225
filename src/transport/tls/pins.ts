import type { X509Certificate } from 'node:crypto'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

const SHA256_HEX = /^[0-9a-f]{64}$/

/** Normalizes SHA-256 fingerprints to hexadecimal digits; undefined when none were given. */
export function readPins(
  where: string,
  given: string | readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (given === undefined) return undefined
  const list = typeof given === 'string' ? [given] : given
  const pins = list.map((pin) => digits(String(pin)))
  const wrong = pins.findIndex((pin) => !SHA256_HEX.test(pin))
  if (list.length > 0 && wrong < 0) return new Set(pins)
  const what = list.length === 0 ? 'an empty list' : `"${String(list[wrong]).slice(0, 128)}"`
  const reason = `${what} is not a SHA-256 fingerprint; openssl x509 -noout -fingerprint -sha256 -in cert.pem prints one`
  throw mcpError(BAD_OPTION, { where, reason })
}

/** Whether a certificate is pinned. */
export function isPinned(pins: ReadonlySet<string>, { fingerprint256 }: X509Certificate): boolean {
  return pins.has(digits(fingerprint256))
}

function digits(pin: string): string {
  return pin
    .replace(/^sha-?256[ :=/]*(?:fingerprint=)?/i, '')
    .replaceAll(/[: ]/g, '')
    .toLowerCase()
}
