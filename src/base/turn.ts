/** Milliseconds after which others get a turn. */
export const TURN_MS = 20
/** How many items pass between two looks at the clock, which costs as much as a small part of an item. */
const LOOK_EVERY = 8

/** How many requests may begin in one turn without being answered at once, because their answers come all together after it. */
const MOST_BEGUN = 128

let items = 0
let end = 0
let before = 0

/** Begins to count the items that are done in one turn. There is one turn at a time, so nothing is kept for each user of it. */
export function beginTurn(): void {
  items = 0
}

/**
 * Counts an item; true if it is time to pause, also because so many more requests are unanswered than after the first item. A
 * turn with a single item never looks at the clock.
 */
export function isTurnOver(unanswered: number): boolean {
  items++
  if (items === 1) before = unanswered
  else if (items === 2) end = performance.now() + TURN_MS
  return unanswered - before >= MOST_BEGUN || (items % LOOK_EVERY === 0 && performance.now() > end)
}

/** Calls `act` after others had a turn. */
export function inNextTurn(act: () => void): void {
  // Browsers do not have setImmediate.
  void (globalThis.setImmediate ?? setTimeout)(act)
}
