/*
 * SQLite cuts texts at NUL, PostgreSQL rejects it, and UTF-8 has no lone surrogates. Texts with either, and those that look like such a text, are stored as
 * JSON after a mark. Equal texts stay equal, so columns can be compared and be unique.
 */

/** What such a text begins with; a quotation mark follows. */
export const MARK = '\u0001'

/** A text as every database can keep it. */
export function storedText(text: string): string {
  return text.startsWith(MARK) || isOdd(text) ? `${MARK}${JSON.stringify(text)}` : text
}

/** Long texts are stored often. A regular expression would take 60 times as long. */
function isOdd(text: string): boolean {
  return text.includes('\0') || !(text as string & { isWellFormed(): boolean }).isWellFormed()
}

/** The bytes that a stored text takes in the file. */
export function storedBytes(stored: string): number {
  return /[\u0080-\uffff]/.test(stored) ? new TextEncoder().encode(stored).length : stored.length
}

/** The text that was stored. Throws if it is damaged. */
export function originalText(text: string): string {
  return text.startsWith(MARK) ? (JSON.parse(text.slice(1)) as string) : text
}

/** The text that was stored; a damaged one as it is. */
export function readableText(text: string): string {
  try {
    return originalText(text)
  } catch {
    return text
  }
}
