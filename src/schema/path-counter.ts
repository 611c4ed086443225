import type { Ways } from './automaton.ts'
import type { Choice, TextGraph, Work } from './text-graph.ts'

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
    const { next, before, sums, groups, weights } = this.#graph
    const paths = this.#paths
    const after = new Map<number, number>()
    for (const from of paths.keys()) {
      this.#most = Math.max(
        this.#most,
        this.#sum(groups[from]!, (each) => weights[each]!),
      )
      for (const state of next[from]!.keys()) {
        if (after.has(state)) continue
        const ways = before[state]!
        const all = sums[state]!.map((choices) => this.#sum(choices, (each) => ways.get(each)!))
        after.set(state, Math.max(...all))
      }
    }
    this.isSettled ||= isSame(after, this.#earlier)
    // Any period is found once the lengths are compared with one behind all that does not repeat.
    const length = ++this.#length
    if ((length & (length - 1)) === 0) this.#earlier = after
    this.#paths = after
    return this.#most
  }

  /** The paths to some states, each times a factor; of each choice, the state with most counts. */
  #sum(choices: readonly Choice[], factorOf: (state: number) => number): number {
    let sum = 0
    for (const choice of choices) {
      this.#work.left -= choice.length
      let most = 0
      for (const state of choice) most = Math.max(most, (this.#paths.get(state) ?? 0) * factorOf(state))
      sum += most
    }
    return sum
  }
}

function isSame(one: Ways, other: Ways): boolean {
  return one.size === other.size && [...one].every(([state, ways]) => other.get(state) === ways)
}
