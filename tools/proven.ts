import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What tests prove, by kind; the committed list says what must stay so. */
export interface Proven {
  readonly proved: readonly string[]
  readonly partly: readonly string[]
  readonly cases: readonly string[]
}

export type Kind = keyof Proven

const FILE = 'requirements/proven.json'
const NONE: Proven = { proved: [], partly: [], cases: [] }

/** What the list has and the last test run has not, and the reverse. */
interface Change {
  readonly kind: Kind
  readonly kept: readonly string[]
  readonly lost: readonly string[]
  readonly added: readonly string[]
}

/** Compares what is proved now with the committed list. */
export function compare(root: string, now: Partial<Proven>): readonly Change[] {
  const list = readProven(root)
  return (Object.entries(now) as [Kind, readonly string[]][]).map(([kind, ids]) => ({
    kind,
    kept: ids.filter((id) => list[kind].includes(id)),
    lost: list[kind].filter((id) => !ids.includes(id)),
    added: ids.filter((id) => !list[kind].includes(id)),
  }))
}

/** Writes what is proved now into the committed list. */
export function recordProven(root: string, now: Partial<Proven>): void {
  const sorted = Object.entries({ ...NONE, ...readProven(root), ...now }).map(([kind, ids]) => [
    kind,
    ids.toSorted(),
  ])
  writeFileSync(join(root, FILE), `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

/**
 * The changes in words, and the closing line. What was lost fails; so does what the list does not have yet, because it could
 * be lost again without anyone noticing.
 */
export function changesText(changes: readonly Change[], record: string): string {
  const kept = changes.reduce((sum, change) => sum + change.kept.length, 0)
  const lines = changes.flatMap(({ kind, lost, added }) => [
    ...lost.map((id) => `LOST   ${id}: ${FILE} lists it under "${kind}", and no passing test shows it`),
    ...added.map((id) => `NEW    ${id}: it is missing under "${kind}" in ${FILE}; run ${record}`),
  ])
  return [...lines, `${kept} passed, ${lines.length} failed`, ''].join('\n')
}

function readProven(root: string): Proven {
  const file = join(root, FILE)
  return existsSync(file) ? { ...NONE, ...(JSON.parse(readFileSync(file, 'utf8')) as Proven) } : NONE
}

/** Whether nothing changed, and there is something to lose. */
export function isKept(changes: readonly Change[]): boolean {
  return (
    changes.some(({ kept }) => kept.length > 0) &&
    changes.every(({ lost, added }) => lost.length + added.length === 0)
  )
}
