import { unitOf, type Units } from './characters.ts'
import type {
  AgainStep,
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
  const { length } = units
  // Nothing can be reached from behind the end.
  const size = length + 2
  const needed = size * (program.steps.length + 1)
  const cells = needed <= spare.length ? spare : new Uint16Array(needed)
  if (needed <= MAX_SPARE) spare = cells
  return { program, units, text, length, work, cells, size, ends: [] }
}

/** What a step costs at any length, in steps of work. */
const PER_STEP = 32
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
  for (let index = steps.length - 1; index >= 0;) {
    const step = steps[index]!
    // Further items of a list lead back, so their steps are looked at together.
    const first = step.kind === 'again' ? step.back : index
    const weight = step.kind === 'again' || step.kind === 'pairs' ? SLOW : 1
    spend(work, (index - first + 1) * (length + PER_STEP) * weight)
    for (let each = first; each <= index; each++) cells[each * size + length + 1] = 0
    if (!lookAt(run, step, index)) return false
    index = first - 1
  }
  return true
}

/** Looks from one step at all positions. Returns whether it leads to the end anywhere, or may be skipped. */
function lookAt(run: Run, step: Step, index: number): boolean {
  switch (step.kind) {
    case 'text':
      return lookAtText(run, step, index)
    case 'one':
      return lookAtOne(run, step, index)
    case 'rest':
      lookAtRest(run, step, index)
      return true
    case 'maybe':
      for (let at = run.length; at >= 0; at--)
        run.cells[index * run.size + at] = opens(run, step, index, at) || seen(run, step.skip, at) > 0 ? 1 : 0
      return true
    case 'again':
      lookAtList(run, step, index)
      return true
    case 'pairs':
      lookAtPairs(run, step, index)
      return true
  }
}

function lookAtText({ cells, size, length, units, work }: Run, step: TextStep, index: number): boolean {
  const row = index * size
  const { units: taken } = step
  const next = row + size + taken.length
  const [unit] = taken
  cells.fill(0, row, row + size)
  let isReached = false
  // Only the start counts for the first step.
  for (let at = index === 0 ? 0 : length - taken.length; at >= 0; at--) {
    if (units[at] !== unit || cells[next + at] === 0) continue
    work.steps += taken.length
    if (!holds(units, taken, at)) continue
    cells[row + at] = 1
    isReached = true
  }
  return isReached
}

function lookAtOne({ cells, size, length, units }: Run, { allowed, most }: OneStep, index: number): boolean {
  const row = index * size
  const next = row + size + 1
  let isReached = false
  cells[row + length] = 0
  for (let at = length - 1; at >= 0; at--) {
    const isOpen = within(cells[next + at]!, most) && isAllowed(units[at]!, allowed)
    cells[row + at] = isOpen ? 1 : 0
    isReached ||= isOpen
  }
  return isReached
}

function lookAtRest({ cells, size, length, units }: Run, { allowed }: RestStep, index: number): void {
  const row = index * size
  const next = row + size
  let further = 0
  for (let at = length; at >= 0; at--) {
    if (cells[next + at]! > 0) further = 1
    else if (further > 0) further = isAllowed(units[at]!, allowed) ? further + 1 : 0
    cells[row + at] = further
  }
}

/** Looks at the steps of an exploded value, from the one that takes its first character or the rest of it. */
function lookAtList(run: Run, { back, delimiter }: AgainStep, index: number): void {
  const { cells, size, length, units, program } = run
  const [again, rest, first] = [index * size, (index - 1) * size, back * size]
  const opening = program.steps[back] as OneStep | RestStep
  const { allowed } = opening
  let further = 0
  for (let at = length; at >= 0; at--) {
    const isItem = units[at] === delimiter && cells[first + at + 1]! > 0
    const isEnd = isItem || cells[again + size + at]! > 0
    cells[again + at] = isEnd ? 1 : 0
    const isTaken = at < length && isAllowed(units[at]!, allowed)
    if (opening.kind === 'one') cells[first + at] = isTaken && within(further, opening.most) ? 1 : 0
    further = isEnd ? 1 : further > 0 && isTaken ? further + 1 : 0
    cells[rest + at] = further
  }
}

function lookAtPairs(run: Run, step: PairsStep, index: number): void {
  const { cells, size, length, units } = run
  const row = index * size
  const ends = { allowed: new Uint16Array(size), pairs: new Uint16Array(size) }
  run.ends[index] = ends
  for (let at = length; at >= 0; at--) {
    const unit = units[at]
    ends.allowed[at] = at < length && isAllowed(unit!, step.allowed) ? ends.allowed[at + 1]! : at
    if (unit === step.opener || unit === step.separator) ends.pairs[at] = endOfPairs(run, step, index, at)
    cells[row + at] = cells[row + size + at]! > 0 || pairsEnd(run, step, index, at) > 0 ? 1 : 0
  }
}

/** The end of the pairs behind a delimiter, or 0 if there is none. */
function endOfPairs(run: Run, step: PairsStep, index: number, at: number): number {
  const pair = pairAt(run, step, index, at + 1)
  if (pair === undefined) return 0
  const further = run.units[pair.to] === step.separator ? run.ends[index]!.pairs[pair.to]! : 0
  return further > 0 ? further : pair.to
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
  return run.units[at] === step.delimiter && within(seen(run, index + 1, at + 1), step.most + 1)
}

function isAllowed(unit: number, { kinds, except }: Allowed): boolean {
  return (unit & kinds) !== 0 && (except.length === 0 || !except.includes(unit))
}

/** Whether this text is at a position. */
function holds(units: Units, text: Units, at: number): boolean {
  for (let index = 0; index < text.length; index++) if (units[at + index] !== text[index]) return false
  return true
}

/** The end of the pairs that start here, or 0 if they do not lead to the end. */
export function pairsEnd(run: Run, step: PairsStep, index: number, at: number): number {
  const end = run.units[at] === step.opener ? run.ends[index]!.pairs[at]! : 0
  return end > 0 && seen(run, index + 1, end) > 0 ? end : 0
}

/** A named value and its position. */
export interface Pair {
  readonly name: Named
  readonly from: number
  readonly to: number
}

const EQUALS = unitOf('=')

/** The pair whose name starts at a position. */
export function pairAt(run: Run, step: PairsStep, index: number, at: number): Pair | undefined {
  const { units, length } = run
  for (const name of step.names) {
    run.work.steps += name.units.length
    if (!holds(units, name.units, at)) continue
    const after = at + name.units.length
    const assigned = units[after] === EQUALS
    if (!assigned && after < length && isAllowed(units[after]!, step.allowed)) continue
    const from = assigned ? after + 1 : after
    const to = assigned ? run.ends[index]!.allowed[from]! : after
    if (to - from <= name.most) return { name, from, to }
  }
  return undefined
}
