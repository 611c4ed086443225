/** What stands around a value in base64. */
export const PREFIX = '=?base64?'
export const SUFFIX = '?='

/** The text as the value of a header: itself where that is safe, else the base64 form. */
export function encodeHeaderValue(text: string): string {
  return isPlain(text) ? text : `${PREFIX}${toBase64(new TextEncoder().encode(text))}${SUFFIX}`
}

/** Whether a text may stand in a header as it is. The empty text may not: too many parties take it for absent. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at)
    if (letter < 0x20 || letter > 0x7e) return false
  }
  if (text === '' || text.startsWith(' ') || text.endsWith(' ')) return false
  return !(text.startsWith(PREFIX) && text.endsWith(SUFFIX))
}

function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
