/** Makes text safe for terminals: escapes control and direction characters and halves of characters, but keeps line breaks and tabs. */
export function printable(text: string): string {
  return text.replace(HIDDEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu
