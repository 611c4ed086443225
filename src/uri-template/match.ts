import { firstCodePoints, readUnits, textOf, type Units } from './characters.ts'
import type { UriTemplate } from './parse.ts'
import type { Variable } from './expression.ts'
import type { PairsStep, Program } from './program.ts'
import { look, opens, pairAt, pairsEnd, seen, spend, toRun, type Run, type Work } from './reach.ts'

/** The decoded values of a URI: text, or a list for an exploded variable. */
export type Matched = Record<string, string | string[]>

/** The length of the longest URI that is matched. */
export const MAX_URI_LENGTH = 8192

/** What it takes to look for the literals of a template, in steps of work. */
const PER_MATCH = 16
/** What it takes where the first character of a literal is. */
const PER_FIRST = 3
/** What it takes to collect a character, and a value. */
const PER_TAKEN = 2
const PER_VALUE = 32

/** A URI that was read once, to be matched against any number of templates. */
export interface Subject {
  readonly units: Units
  /** The same characters as one text. */
  readonly text: string
  /** How often characters with the same last seven bits occur. */
  readonly counts: Uint16Array
}

/** A subject of these units, which are also given as text. */
export function subjectOf(units: Units, text: string): Subject {
  const counts = new Uint16Array(ALIKE + 1)
  for (const unit of units) counts[unit & ALIKE]!++
  return { units, text, counts }
}

const ALIKE = 127

/** Reads a URI; undefined if no template can match it, because it is too long or not a URI. */
export function toSubject(uri: string): Subject | undefined {
  const units = uri.length > MAX_URI_LENGTH ? undefined : readUnits(uri)
  return units && subjectOf(units, uri.includes('%') ? decodeURIComponent(uri) : uri)
}

/**
 * Extracts the values from a URI, or returns undefined. The work is proportional to the length of the URI times the length
 * of the template; a URI that lacks a literal of the template takes next to none.
 *
 * - `{a}` and `{+a}` take one or more characters: unreserved and encoded ones, or with `+` any.
 * - `{/a}`, `{.a}` and `{#a}` may be absent; `{;a}`, `{?a}` and `{&a}` too, and may appear in any order, each once. Absent
 *   variables have no key in the result.
 * - An exploded variable yields a list, empty if absent: `{/a*}` of segments, `{?a*}` of every parameter `a`.
 * - A named value extends as far as its characters allow: the text after it must start with another kind of character, such
 *   as `/` after `;a` or `#`.
 * - If several readings are possible, earlier variables take as little as they can.
 * - Unknown parameters, triplets that are not UTF-8, and URIs over 8 KiB do not match.
 */
export function match(
  template: UriTemplate,
  uri: string | Subject,
  work: Work = { steps: 0 },
): Matched | undefined {
  const { program } = template
  const subject = typeof uri === 'string' ? toSubject(uri) : uri
  spend(work, PER_MATCH)
  if (program === undefined || subject === undefined || !hasLiterals(program, subject, work)) return undefined
  const run = toRun(program, subject, work)
  if (!look(run) || seen(run, 0, 0) === 0) return undefined
  spend(work, run.length * PER_TAKEN)
  return walk(run)
}

/** Whether a URI has all literals of a template, in their order. */
function hasLiterals({ steps }: Program, { text, counts }: Subject, work: Work): boolean {
  let at = 0
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index]!
    if (step.kind !== 'text') continue
    // A search stops at each first character.
    if (index > 0) work.steps += (text.length >> 3) + counts[step.units[0]! & ALIKE]! * PER_FIRST
    const found = index === 0 ? (text.startsWith(step.text) ? 0 : -1) : text.indexOf(step.text, at)
    if (found < 0) return false
    at = found + step.text.length
  }
  const last = steps.at(-1)
  return last?.kind !== 'text' || text.endsWith(last.text)
}

// Every choice here can reach the end: `look` has checked that.
function walk(run: Run): Matched | undefined {
  const { program, work } = run
  const found: string[][] = program.slots.map(() => [])
  const open = (slot: number): void => {
    work.steps += PER_VALUE
    found[slot]?.push('')
  }
  const take = (slot: number, from: number, to: number): void => {
    const items = found[slot]
    if (items !== undefined && to > from) items[items.length - 1] += slice(run, from, to)
  }
  let at = 0
  for (let index = 0; index < program.steps.length;) {
    work.steps++
    const step = program.steps[index]
    if (step === undefined) break
    if (step.kind === 'text') {
      at += step.units.length
    } else if (step.kind === 'one') {
      open(step.slot)
      take(step.slot, at, ++at)
    } else if (step.kind === 'rest') {
      const to = at + seen(run, index, at) - 1
      take(step.slot, at, to)
      at = to
    } else if (step.kind === 'maybe') {
      if (!opens(run, step, index, at) || (!step.eager && seen(run, step.skip, at) > 0)) {
        index = step.skip
        continue
      }
      open(step.slot)
      at++
    } else if (step.kind === 'again') {
      if (seen(run, index + 1, at) === 0) {
        if (program.steps[step.back]?.kind === 'rest') open(step.slot)
        index = step.back
        at++
        continue
      }
    } else {
      at = takePairs(run, step, index, at, found)
    }
    index++
  }
  return collect(program.slots, found)
}

function slice({ text, units, length }: Run, from: number, to: number): string {
  // A character may take two places of the text.
  return text.length === length ? text.slice(from, to) : textOf(units.subarray(from, to))
}

function takePairs(run: Run, step: PairsStep, index: number, at: number, found: readonly string[][]): number {
  const end = pairsEnd(run, step, index, at)
  let next = at
  while (next < end) {
    const pair = pairAt(run, step, index, next + 1)
    if (pair === undefined) break
    run.work.steps += PER_VALUE
    found[pair.name.slot]?.push(slice(run, pair.from, pair.to))
    next = pair.to
  }
  return next
}

function collect(slots: readonly Variable[], found: readonly (readonly string[])[]): Matched | undefined {
  const values = Object.create(null) as Matched
  const cutAt = (index: number): number => slots[index]?.prefix ?? Number.MAX_SAFE_INTEGER
  const order = [...slots.keys()].sort((a, b) => cutAt(b) - cutAt(a))
  for (const index of order) {
    const slot = slots[index]
    const items = found[index]
    if (slot === undefined || items === undefined) continue
    if (!slot.explode && items.length > 1) return undefined
    const known = values[slot.name]
    if (known !== undefined && items.length > 0 && !agrees(slot, items, known)) return undefined
    if (known !== undefined) continue
    if (slot.explode) values[slot.name] = [...items]
    else if (items[0] !== undefined) values[slot.name] = items[0]
  }
  return values
}

function agrees(slot: Variable, items: readonly string[], known: string | readonly string[]): boolean {
  if (typeof known === 'string') {
    return (
      !slot.explode && items[0] === (slot.prefix === undefined ? known : firstCodePoints(known, slot.prefix))
    )
  }
  return slot.explode && known.length === items.length && known.every((item, index) => item === items[index])
}
