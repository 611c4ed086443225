/** The beginning of a text, up to `length` code units, without half a character at its end. */
export function clip(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}
