const LONGEST = 65_536

/**
 * Makes text safe for terminals: escapes control and direction characters and halves of characters, but keeps line
 * breaks and tabs. Cuts long text, since a peer may have sent megabytes.
 */
export function printable(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
  return cut.replace(HIDDEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu
