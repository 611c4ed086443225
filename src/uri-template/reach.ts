import { ENCODED, type Units } from './characters.ts'
import type { Allowed, MaybeStep, Named, PairsStep, Program, Step } from './program.ts'

/** Counts the work of matching, so that tests can verify how it grows. */
export interface Work {
  steps: number
}

/** The state of matching one URI. */
export interface Run {
  readonly program: Program
  readonly units: Units
  readonly length: number
  readonly work: Work
  /** By step and position: 0 if the end cannot be reached; for `rest`, one more than the number of characters still to take. */
  readonly rows: Uint16Array[]
  /** By step of kind `pairs` and position: the end of allowed characters, and the end of the list of pairs or 0. */
  readonly ends: { readonly allowed: Uint16Array; readonly pairs: Uint16Array }[]
}

/** Walks the URI once, backwards, and records where the end can be reached from, so that matching never backtracks. */
export function look(run: Run): void {
  const { rows, ends, length, work, program } = run
  // Nothing can be reached from behind the end.
  const size = length + 2
  for (const [index, step] of program.steps.entries()) {
    rows.push(new Uint16Array(size))
    if (step.kind === 'pairs') ends[index] = { allowed: new Uint16Array(size), pairs: new Uint16Array(size) }
  }
  rows.push(new Uint16Array(size).fill(1, length, length + 1))
  const { steps } = program
  for (let at = length; at >= 0; at--) {
    work.steps += steps.length
    for (let index = steps.length - 1; index >= 0; index--)
      rows[index]![at] = reach(run, steps[index]!, index, at)
  }
}

function reach(run: Run, step: Step, index: number, at: number): number {
  const { rows } = run
  const next = rows[index + 1]!
  switch (step.kind) {
    case 'text':
      return (next[at + step.units.chars.length] ?? 0) > 0 && holds(run, step.units, at) ? 1 : 0
    case 'one':
      return allows(run, step.allowed, at) && within(next[at + 1]!, step.most) ? 1 : 0
    case 'rest': {
      if (next[at]! > 0) return 1
      const further = rows[index]![at + 1]!
      return further > 0 && allows(run, step.allowed, at) ? further + 1 : 0
    }
    case 'maybe':
      return opens(run, step, index, at) || rows[step.skip]![at]! > 0 ? 1 : 0
    case 'again':
      return next[at]! > 0 || (rows[step.back]![at + 1]! > 0 && isAt(run, step.delimiter, at)) ? 1 : 0
    case 'pairs':
      lookAtPairs(run, step, index, at)
      return next[at]! > 0 || pairsEnd(run, step, index, at) > 0 ? 1 : 0
  }
}

/** Whether the end can be reached from a step at a position, according to `rows`. */
export function seen(run: Run, index: number, at: number): number {
  return run.rows[index]?.[at] ?? 0
}

function within(distance: number, most: number): boolean {
  return distance > 0 && distance <= most
}

/** Whether the end can be reached after taking the value here. */
export function opens(run: Run, step: MaybeStep, index: number, at: number): boolean {
  return isAt(run, step.delimiter, at) && within(seen(run, index + 1, at + 1), step.most + 1)
}

function isAt({ units }: Run, char: string, at: number): boolean {
  return units.chars[at] === char && units.kinds[at] !== ENCODED
}

function allows({ units, length }: Run, { kinds, except }: Allowed, at: number): boolean {
  if (at >= length) return false
  const kind = units.kinds[at]!
  if ((kind & kinds) === 0) return false
  return except === '' || kind === ENCODED || !except.includes(units.chars[at]!)
}

/** Whether this text is at a position. */
function holds({ units, work }: Run, text: Units, at: number): boolean {
  for (let index = 0; index < text.chars.length; index++) {
    work.steps++
    if (units.chars[at + index] !== text.chars[index] || units.kinds[at + index] !== text.kinds[index])
      return false
  }
  return true
}

function lookAtPairs(run: Run, step: PairsStep, index: number, at: number): void {
  const ends = run.ends[index]
  if (ends === undefined) return
  ends.allowed[at] = allows(run, step.allowed, at) ? (ends.allowed[at + 1] ?? 0) : at
  if (!isAt(run, step.opener, at) && !isAt(run, step.separator, at)) return
  const pair = pairAt(run, step, index, at + 1)
  if (pair === undefined) return
  const further = isAt(run, step.separator, pair.to) ? (ends.pairs[pair.to] ?? 0) : 0
  ends.pairs[at] = further > 0 ? further : pair.to
}

/** The end of the pairs that start here, or 0 if they do not lead to the end. */
export function pairsEnd(run: Run, step: PairsStep, index: number, at: number): number {
  const end = isAt(run, step.opener, at) ? (run.ends[index]?.pairs[at] ?? 0) : 0
  return end > 0 && seen(run, index + 1, end) > 0 ? end : 0
}

/** A named value and its position. */
export interface Pair {
  readonly name: Named
  readonly from: number
  readonly to: number
}

/** The pair whose name starts at a position. */
export function pairAt(run: Run, step: PairsStep, index: number, at: number): Pair | undefined {
  const allowed = run.ends[index]?.allowed
  for (const name of step.names) {
    if (!holds(run, name.units, at)) continue
    const after = at + name.units.chars.length
    const assigned = isAt(run, '=', after)
    if (!assigned && allows(run, step.allowed, after)) continue
    const from = assigned ? after + 1 : after
    const to = assigned ? (allowed?.[from] ?? from) : after
    if (to - from <= name.most) return { name, from, to }
  }
  return undefined
}
