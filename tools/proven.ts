import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The number of passing tests that name each id. */
export type Counts = Readonly<Record<string, number>>

/** The ids that tests prove, by kind; the committed list must not lose any. */
export interface Proven {
  readonly proved: Counts
  readonly partly: Counts
  readonly missed: Counts
  readonly cases: Counts
}

const FILE = 'requirements/proven.json'
const NONE: Proven = { proved: {}, partly: {}, missed: {}, cases: {} }

/** The comparison with the committed list in words, and whether nothing was lost. */
interface Comparison {
  readonly kept: boolean
  readonly text: string
}

/**
 * Compares the current results with the committed list. It fails if an id is lost or named by fewer tests, and if an id is
 * not in the list yet, because it could be lost again unnoticed.
 */
export function compare(root: string, now: Partial<Proven>, record: string): Comparison {
  const list = readProven(root)
  const kinds = Object.keys(now) as (keyof Proven)[]
  const lines = kinds.flatMap((kind) => changes(kind, list[kind], now, record))
  const all = kinds.flatMap((kind) => Object.keys(list[kind])).length
  const good = all - lines.filter(({ isListed }) => isListed).length
  const text = [...lines.map((line) => line.text), `${good} passed, ${lines.length} failed`, ''].join('\n')
  return { kept: good > 0 && lines.length === 0, text }
}

interface Line {
  readonly text: string
  readonly isListed: boolean
}

function changes(kind: keyof Proven, listed: Counts, now: Partial<Proven>, record: string): readonly Line[] {
  const found = now[kind] ?? {}
  const lost = Object.entries(listed).flatMap(([id, count]): readonly Line[] => {
    const tests = found[id]
    if (tests === undefined)
      return [{ text: `LOST   ${id}: it was ${kind}, and is ${stateOf(id, now)}`, isListed: true }]
    if (tests >= count) return []
    return [{ text: `FEWER  ${id}: ${tests} passing tests name it instead of ${count}`, isListed: true }]
  })
  const added = Object.keys(found).filter((id) => listed[id] === undefined)
  return [
    ...lost,
    ...added.map((id) => ({
      text: `NEW    ${id}: ${FILE} does not list it as ${kind}; run ${record}`,
      isListed: false,
    })),
  ]
}

function stateOf(id: string, now: Partial<Proven>): string {
  const kind = (Object.keys(now) as (keyof Proven)[]).find((one) => now[one]?.[id] !== undefined)
  return kind ?? 'in no passing test'
}

/** Writes the current results to the committed list; returns the ids that were lost. */
export function recordProven(root: string, now: Partial<Proven>): readonly string[] {
  const list = readProven(root)
  const next = { ...list, ...now }
  const sorted = Object.entries(next).map(([kind, counts]) => [
    kind,
    Object.fromEntries(Object.entries(counts as Counts).toSorted(([one], [other]) => (one < other ? -1 : 1))),
  ])
  writeFileSync(join(root, FILE), `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
  const kinds = Object.keys(now) as (keyof Proven)[]
  return kinds.flatMap((kind) => Object.keys(list[kind]).filter((id) => now[kind]?.[id] === undefined))
}

/** The committed list; empty if there is none. */
export function readProven(root: string): Proven {
  const file = join(root, FILE)
  return existsSync(file) ? { ...NONE, ...(JSON.parse(readFileSync(file, 'utf8')) as Proven) } : NONE
}
