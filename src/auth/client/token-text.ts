const LONGEST = 16_384

/** Whether a text can be sent as a token: visible ASCII characters only, which headers and forms carry unchanged, and not too many. */
export function isTokenText(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST && /^[\x21-\x7e]+$/.test(text)
}
