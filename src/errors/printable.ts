const LONGEST = 65_536

/**
 * Makes text safe for terminals: escapes control and direction characters and halves of characters, but keeps line
 * breaks and tabs. Cuts long text, since a peer may have sent megabytes.
 */
export function printable(text: string): string {
  return escaped(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text, HIDDEN)
}

/** The same in one line, for logs: line breaks and tabs are escaped too. */
export function oneLine(text: string): string {
  return escaped(unbroken(printable(text)), /\t/g)
}

/** Escapes line breaks, so that nobody can write lines of their own into a message. */
export function unbroken(text: string): string {
  return escaped(text.replaceAll('\n', '\\n'), /[\u2028\u2029]/g)
}

/** Escapes the characters that a pattern matches, as JavaScript does. */
export function escaped(text: string, pattern: RegExp): string {
  return text.replace(pattern, (char) => {
    const hex = char.codePointAt(0)!.toString(16)
    return char.length > 1 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
  })
}

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu
