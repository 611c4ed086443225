import { existsSync, readFileSync } from 'node:fs'
import type { Mutant } from './mutants.ts'

/** A mutant that was judged to change nothing observable. */
export interface Equivalent {
  readonly file: string
  /** The source line on which it begins, without surrounding space. */
  readonly line: string
  readonly original: string
  readonly mutated: string
  readonly reason: string
}

/** The mutants that a file lists as equivalent. */
export function readEquivalents(file: string): readonly Equivalent[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Equivalent[]) : []
}

/** The row for a mutant. It is matched by text, so that changes above it do not matter. */
export function equivalentOf(
  rows: readonly Equivalent[],
  mutant: Mutant,
  text: string,
): Equivalent | undefined {
  const line = lineOf(text, mutant)
  return rows.find(
    (row) =>
      row.file === mutant.file &&
      row.line === line &&
      squeeze(row.original) === squeeze(mutant.original) &&
      squeeze(row.mutated) === squeeze(mutant.mutated),
  )
}

/** The line of the source on which a mutant begins. */
function lineOf(text: string, { line }: Mutant): string {
  return (text.split('\n')[line - 1] ?? '').trim()
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
