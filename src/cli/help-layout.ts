import type { Help } from 'commander'

/** The columns of help that is not for a terminal. */
export const USUAL_COLUMNS = 80

/** The fewest columns beside a word in which what it means can be read; else that goes below the word. */
const FEWEST = 24

/** How help is laid out in a terminal of so many columns, without which its lines may be long. */
export function layout(columns: number | undefined): Partial<Help> {
  return {
    formatItem: (term, width, text) => item(term, width, text, columns ?? USUAL_COLUMNS),
    styleUsage: (text) => wrapped(`Usage: ${text}`, columns, 7).slice('Usage: '.length),
  }
}

/** A word and what it means. Words of the same list are `width` long at most. */
export function item(term: string, width: number, text: string, columns: number | undefined): string {
  if (text === '') return `  ${term}`
  const beside = width + 4
  if (columns !== undefined && columns - beside < FEWEST)
    return `  ${term}\n${wrapped(`      ${text}`, columns, 6)}`
  return wrapped(`  ${term.padEnd(width)}  ${text}`, columns, beside)
}

/** Text whose lines are broken between words. All but the first are indented. */
export function wrapped(text: string, columns: number | undefined, indent: number = 0): string {
  if (columns === undefined) return text
  const lines: string[] = []
  for (const word of text.match(/\s*\S+/g) ?? []) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(word)
    else if (last.length + word.length <= columns) lines[lines.length - 1] = last + word
    else lines.push(' '.repeat(indent) + word.trimStart())
  }
  return lines.join('\n')
}
