/** The marks around a value in base64. */
export const PREFIX = '=?base64?'
export const SUFFIX = '?='

/** Encodes a text as a header value: unchanged if that is safe, otherwise as base64. */
export function encodeHeaderValue(text: string): string {
  return isPlain(text) ? text : `${PREFIX}${toBase64(new TextEncoder().encode(text))}${SUFFIX}`
}

/** Whether a text is safe as a header value without encoding. The empty text is not: many implementations treat it as absent. */
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
