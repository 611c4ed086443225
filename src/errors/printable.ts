/** Text that does nothing to a terminal: control and direction characters are written out; line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(HIDDEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu
