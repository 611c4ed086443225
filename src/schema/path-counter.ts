import type { Ways } from './automaton.ts'
import type { TextGraph, Work } from './text-graph.ts'

/**
 * Counts the paths that one text may have taken through a graph, whatever the text, as an upper bound.
 *
 * As many paths lead to a state as lead to all the states before it, but only those states count together that the same
 * text can lead to; of states that no text leads to at once, only the one with most paths counts.
 */
export class PathCounter {
  /** Whether further characters change nothing any more. */
  isSettled = false
  readonly #graph: TextGraph
  readonly #work: Work
  /** The states that a text of this length can lead to, with the number of paths to each. */
  #paths: Ways
  /** The same for an earlier length: counts that come again will come again and again. */
  #earlier: Ways = new Map()
  #most = 0
  #length = 0

  constructor(graph: TextGraph, work: Work) {
    this.#graph = graph
    this.#work = work
    this.#paths = graph.starts
  }

  /** The most steps that all paths together take with one more character; never fewer than with the one before. */
  advance(): number {
    const { next, before, choices, weights } = this.#graph
    this.#most = Math.max(
      this.#most,
      this.#sum(this.#paths.keys(), choices, (each) => weights[each]!),
    )
    const after = new Map<number, number>()
    for (const from of this.#paths.keys()) {
      for (const state of next[from]!.keys()) {
        const { ways, choices: own } = before[state]!
        if (!after.has(state))
          after.set(
            state,
            this.#sum(ways.keys(), own, (each) => ways.get(each)!),
          )
      }
    }
    this.isSettled ||= isSame(after, this.#earlier)
    // Comparing with lengths 1, 2, 4, … finds any period once the part that does not repeat has passed.
    const length = ++this.#length
    if ((length & (length - 1)) === 0) this.#earlier = after
    this.#paths = after
    return this.#most
  }

  /** The paths to some states, each times a factor; of each choice, the state with most counts. */
  #sum(states: Iterable<number>, choices: Ways, factorOf: (state: number) => number): number {
    const most = new Map<number, number>()
    for (const state of states) {
      this.#work.left--
      const paths = this.#paths.get(state)
      if (paths === undefined) continue
      const choice = choices.get(state)!
      most.set(choice, Math.max(most.get(choice) ?? 0, paths * factorOf(state)))
    }
    let sum = 0
    for (const each of most.values()) sum += each
    return sum
  }
}

function isSame(one: Ways, other: Ways): boolean {
  return one.size === other.size && [...one].every(([state, ways]) => other.get(state) === ways)
}
