import { ENCODED, type Units } from './characters.ts'
import type {
  Allowed,
  MaybeStep,
  Named,
  OneStep,
  PairsStep,
  Program,
  RestStep,
  Step,
  TextStep,
} from './program.ts'

/** Counts the work of matching in steps, each of a few nanoseconds. */
export interface Work {
  steps: number
  /** Throws if the work is too much. */
  readonly check?: (() => void) | undefined
}

/** Counts further steps before they are taken. */
export function spend(work: Work, steps: number): void {
  work.steps += steps
  work.check?.()
}

/** The state of matching one URI. */
export interface Run {
  readonly program: Program
  readonly units: Units
  /** The characters as one text. */
  readonly text: string
  readonly length: number
  readonly work: Work
  /**
   * By step and position, `size` positions per step: 0 if the end cannot be reached; for `rest`, one more than the number of characters
   * still to take.
   */
  readonly cells: Uint16Array
  readonly size: number
  /** By step of kind `pairs` and position: the end of allowed characters, and the end of the list of pairs or 0. */
  readonly ends: { readonly allowed: Uint16Array; readonly pairs: Uint16Array }[]
}

/** Cells that no run uses. Matching never waits, so one run at a time does. */
let spare = new Uint16Array(0)
const MAX_SPARE = 2 ** 19

/** Prepares a run. It is over when the next one begins. */
export function toRun(program: Program, { units, text }: Pick<Run, 'units' | 'text'>, work: Work): Run {
  const { length } = units.chars
  // Nothing can be reached from behind the end.
  const size = length + 2
  const needed = size * (program.steps.length + 1)
  const cells = needed <= spare.length ? spare : new Uint16Array(needed)
  if (needed <= MAX_SPARE) spare = cells
  return { program, units, text, length, work, cells, size, ends: [] }
}

/** What a step costs at any length, in steps of work. */
const PER_STEP = 16
/** How many times as long lists and pairs take. */
const SLOW = 3

/**
 * Walks the URI backwards, once for each step of the program from the last to the first, and records where the end can be reached from, so
 * that matching never backtracks. Returns whether the end may be reachable at all.
 */
export function look(run: Run): boolean {
  const { cells, size, length, work, program } = run
  const { steps } = program
  cells.fill(0, steps.length * size, steps.length * size + size)
  cells[steps.length * size + length] = 1
  for (let last = steps.length - 1; last >= 0;) {
    const step = steps[last]!
    // Further items of a list lead back, so their steps are looked at together.
    const first = step.kind === 'again' ? step.back : last
    const weight = step.kind === 'again' || step.kind === 'pairs' ? SLOW : 1
    spend(work, (last - first + 1) * (length + PER_STEP) * weight)
    if (first === last) {
      if (!lookAt(run, step, last)) return false
    } else lookAtItems(run, first, last)
    last = first - 1
  }
  return true
}

/** Looks from one step at all positions. Returns whether it leads to the end anywhere, or may be skipped. */
function lookAt(run: Run, step: Step, index: number): boolean {
  if (step.kind === 'text') return lookAtText(run, step, index)
  if (step.kind === 'one') return lookAtOne(run, step, index)
  if (step.kind === 'rest') {
    lookAtRest(run, step, index)
    return true
  }
  if (step.kind === 'pairs')
    run.ends[index] = { allowed: new Uint16Array(run.size), pairs: new Uint16Array(run.size) }
  lookAtItems(run, index, index)
  return true
}

/** Text is never part of a list. */
type ItemStep = Exclude<Step, TextStep>

function lookAtItems(run: Run, first: number, last: number): void {
  const { cells, size, length, program } = run
  for (let index = first; index <= last; index++) cells[index * size + length + 1] = 0
  for (let at = length; at >= 0; at--)
    for (let index = last; index >= first; index--)
      cells[index * size + at] = reach(run, program.steps[index] as ItemStep, index, at)
}

function lookAtText(run: Run, step: TextStep, index: number): boolean {
  const { cells, size, length, text } = run
  const row = index * size
  const next = row + size
  cells.fill(0, row, next)
  const { length: taken } = step.units.chars
  let isReached = false
  // Only the start counts for the first step. A character that takes two units of the text moves the positions.
  const last = index === 0 ? 0 : length - taken
  const isMoved = text.length !== length
  for (let at = 0; at <= last; at++) {
    if (!isMoved) at = index === 0 ? 0 : text.indexOf(step.text, at)
    if (at < 0 || at > last) break
    if (cells[next + at + taken]! === 0 || !holds(run, step.units, at)) continue
    cells[row + at] = 1
    isReached = true
  }
  return isReached
}

function lookAtOne({ cells, size, length, units }: Run, { allowed, most }: OneStep, index: number): boolean {
  const row = index * size
  const next = row + size
  const { kinds } = units
  let isReached = false
  cells[row + length] = 0
  cells[row + length + 1] = 0
  for (let at = length - 1; at >= 0; at--) {
    const distance = cells[next + at + 1]!
    const isOpen = distance > 0 && distance <= most && (kinds[at]! & allowed.kinds) !== 0
    cells[row + at] = isOpen && isExpected(units, allowed, at) ? 1 : 0
    isReached ||= cells[row + at]! > 0
  }
  return isReached
}

function lookAtRest({ cells, size, length, units }: Run, { allowed }: RestStep, index: number): void {
  const row = index * size
  const next = row + size
  const { kinds } = units
  cells[row + length + 1] = 0
  let further = cells[next + length]! > 0 ? 1 : 0
  cells[row + length] = further
  for (let at = length - 1; at >= 0; at--) {
    if (cells[next + at]! > 0) further = 1
    else if (further > 0)
      further = (kinds[at]! & allowed.kinds) !== 0 && isExpected(units, allowed, at) ? further + 1 : 0
    cells[row + at] = further
  }
}

function reach(run: Run, step: ItemStep, index: number, at: number): number {
  const { cells, size } = run
  const next = (index + 1) * size
  switch (step.kind) {
    case 'one':
      return allows(run, step.allowed, at) && within(cells[next + at + 1]!, step.most) ? 1 : 0
    case 'rest': {
      if (cells[next + at]! > 0) return 1
      const further = cells[index * size + at + 1]!
      return further > 0 && allows(run, step.allowed, at) ? further + 1 : 0
    }
    case 'maybe':
      return opens(run, step, index, at) || seen(run, step.skip, at) > 0 ? 1 : 0
    case 'again':
      return cells[next + at]! > 0 || (seen(run, step.back, at + 1) > 0 && isAt(run, step.delimiter, at))
        ? 1
        : 0
    case 'pairs':
      lookAtPairs(run, step, index, at)
      return cells[next + at]! > 0 || pairsEnd(run, step, index, at) > 0 ? 1 : 0
  }
}

/** Whether the end can be reached from a step at a position, according to `cells`. */
export function seen({ cells, size }: Run, index: number, at: number): number {
  return at < size ? cells[index * size + at]! : 0
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

function allows({ units, length }: Run, allowed: Allowed, at: number): boolean {
  return at < length && (units.kinds[at]! & allowed.kinds) !== 0 && isExpected(units, allowed, at)
}

/** Whether a character of a kind that is allowed is none of the exceptions. */
function isExpected({ chars, kinds }: Units, { except }: Allowed, at: number): boolean {
  return except === '' || kinds[at] === ENCODED || !except.includes(chars[at]!)
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
