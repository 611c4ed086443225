import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'

/** A whole page: a title, a mark for editors, and paragraphs or tables. */
export function page(title: string, ...parts: readonly string[]): string {
  const mark = '<!-- Made by tools/pages.ts from the tables in src/. Do not edit. -->'
  return `${[`# ${title}`, mark, ...parts].join('\n\n')}\n`
}

/** A table; cells may hold anything but line breaks. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function code(text: string | number): string {
  return `\`${text}\``
}

/** One cell for each revision: a mark where it has the thing. */
export function marks(has: (revision: Revision) => boolean): readonly string[] {
  return REVISIONS.map((revision) => (has(revision) ? '●' : ''))
}

/** Whether a row that lives from one revision to another is there at a revision. */
export function isAt(
  row: { readonly since: Revision; readonly until?: Revision },
  revision: Revision,
): boolean {
  return row.since <= revision && (row.until === undefined || revision <= row.until)
}

/** The sentences written above the members of a table, by member. */
export function docsIn(source: string): ReadonlyMap<string, string> {
  const found = source.matchAll(/\/\*\* ([^\n]+?) \*\/\n\s+(\w+)[:,]/g)
  return new Map([...found].map(([, sentence = '', name = '']) => [name, sentence]))
}

function escaped(cell: string): string {
  return cell.replaceAll('|', String.raw`\|`)
}
