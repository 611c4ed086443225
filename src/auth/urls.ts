import type { Kind } from '../base/kinds.ts'
import { isLoopback } from '../base/loopback.ts'
import { writeUrl } from './options.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

/** Whether nobody on the way can read or change what a URL leads to: with `https`, or if it does not leave this machine. */
export function isSafeUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !isUrl(text)) return false
  const url = parseUrl(text)
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** The URL of an issuer, as its metadata and tokens spell it. */
export const ISSUER: Kind<string> = {
  must: 'the https URL of an issuer, without query and fragment (http only for this machine)',
  is: (value) => isSafeUrl(value) && !/[?#]/.test(value),
  write: writeUrl,
  repeats: true,
}

/** The URL of something that an issuer offers. */
export const ENDPOINT: Kind<string> = {
  must: 'an https URL (http only for this machine)',
  is: isSafeUrl,
  write: writeUrl,
  repeats: true,
}
