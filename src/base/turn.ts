/** Milliseconds after which others get a turn. */
const TURN_MS = 20
/** Work that begins this many milliseconds after other work probably belongs to the same turn of the event loop. */
const NEXT_MS = 1
/** How many requests may begin in one turn without being answered at once, because their answers come all together after it. */
const MOST_BEGUN = 128

/** What has to wait for the next turn, in order of arrival. */
const waiting = new Set<() => void>()
let isServing = false
/** When the work began that was not interrupted since, when it last ended, and when it must pause. */
let began = 0
let worked = 0
let end = 0
let before = 0

/**
 * Begins to work for one connection that has `unanswered` requests. All connections share a turn, so that no number of them keeps
 * the process from others. If this returns false, the turn is over: go on `inNextTurn`.
 */
export function beginTurn(unanswered: number): boolean {
  before = unanswered
  if (isServing) return true
  const now = performance.now()
  if (now - worked > NEXT_MS) began = now
  worked = now
  end = began + TURN_MS
  return waiting.size === 0 && now < end
}

/** Whether it is time to pause after a message, also because so many more requests are unanswered than when the turn began. */
export function isTurnOver(unanswered: number): boolean {
  worked = performance.now()
  return worked > end || unanswered - before >= MOST_BEGUN
}

/** When work that begins now must pause. */
export function endOfTurn(): number {
  return isServing ? end : performance.now() + TURN_MS
}

/** Calls `act` after others had a turn. */
export function inNextTurn(act: () => void): void {
  waiting.add(act)
  if (waiting.size === 1 && !isServing) scheduleTurn()
}

/** Acts after others had a turn, within the turn: a promise would continue after the turns of all others. */
export function inTurn<Out>(act: () => Out | Promise<Out>): Promise<Out> {
  return new Promise((resolve, reject) =>
    inNextTurn(() => {
      try {
        resolve(act())
      } catch (thrown) {
        reject(thrown as Error)
      }
    }),
  )
}

/** Resolves when others had a turn, with the time when the own one must end: those that wait share it. */
export function nextTurn(): Promise<number> {
  return new Promise((resolve) => inNextTurn(() => resolve(endOfTurn())))
}

function scheduleTurn(): void {
  // Browsers do not have setImmediate.
  void (globalThis.setImmediate ?? setTimeout)(serveWaiting)
}

/**
 * Gives each of those that wait its share of one turn. Those whose turn it no longer was are first in the next one, before those
 * that wait again.
 */
function serveWaiting(): void {
  isServing = true
  began = worked = performance.now()
  const last = began + TURN_MS
  let left = waiting.size
  try {
    for (const act of waiting) {
      waiting.delete(act)
      end = worked + (last - worked) / left
      act()
      worked = performance.now()
      if (--left === 0 || worked > last) break
    }
  } finally {
    isServing = false
    if (waiting.size > 0) scheduleTurn()
  }
}
