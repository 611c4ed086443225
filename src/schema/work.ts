/** Checking a value may take too much work. */
export class TooCostly extends Error {}

/**
 * The most work for one value, to check it and to explain what is wrong with it: a fraction of a second. The unit is a
 * step of a pattern's matcher, a few nanoseconds.
 */
const MAX_WORK = 2 ** 27

let left = MAX_WORK

/** Starts to count the work for one value. */
export function startCounting(): void {
  left = MAX_WORK
}

/** The work for the last value, as far as it was counted. */
export function workDone(): number {
  return MAX_WORK - left
}

/** What is wrong with a value that takes too much work. */
export const TOO_LONG = 'takes too long to check: send less at once'

/** What is wrong with a value that becomes too large. */
export const TOO_MUCH = 'becomes too large with its defaults: send less at once'

/** Counts work. Throws TooCostly when the value has had its share, then and every time after that. */
export function spend(units: number, problem: string = TOO_LONG): void {
  left -= units
  if (left < 0) throw new TooCostly(problem)
}

/** What to spend, in units, on operations that are repeated for each part of a value or a schema. */
export const PRICE = {
  /** Applying a schema to a part of a value. */
  node: 4,
  /** Reading one name of an object, or comparing two parts. */
  name: 32,
  /** Reading one name of an object that has very many. */
  farName: 96,
  /** Noting that a part was evaluated, or adding it to a set. */
  mark: 32,
  /** Making the matcher of a pattern. */
  matcher: 512,
} as const
