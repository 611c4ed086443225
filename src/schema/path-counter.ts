import type { Ways } from './automaton.ts'
import type { Choice, TextGraph, Work } from './text-graph.ts'

/**
 * Counts the paths that one text may have taken through a graph, whatever the text, as an upper bound.
 *
 * As many paths lead to a state as lead to all the states before it, but only those states count together that the same
 * text can lead to; of states that no text leads to at once, only the one with most paths counts.
 */
export class PathCounter {
  /** Whether further characters change nothing. */
  isSettled = false
  readonly #graph: TextGraph
  readonly #work: Work
  /** The number of paths to each state. */
  readonly #paths: number[]
  /** The states of the last character; of a long text, only those with more paths than one character before. */
  #reached: Ways
  /** What counts the steps of a long text. */
  #totals: readonly Total[][] | undefined
  #most = 0
  #length = 0

  constructor(graph: TextGraph, work: Work) {
    this.#graph = graph
    this.#work = work
    this.#reached = graph.starts
    this.#paths = graph.next.map((_, state) => graph.starts.get(state) ?? 0)
  }

  /** The most steps that all paths together take with one more character; never fewer than with the one before. */
  advance(): number {
    // Which states a short text can be in depends on its length. For a long one, a state that can be reached stays so.
    if (this.#length++ < this.#graph.next.length) this.#advanceShort()
    else this.#advanceLong()
    return this.#most
  }

  #advanceShort(): void {
    const { groups, weights } = this.#graph
    const [before, paths] = [this.#reached, this.#paths]
    for (const state of before.keys()) {
      let steps = 0
      for (const choice of groups[state]!)
        steps += this.#largest(choice, (each) => paths[each]! * weights[each]!)
      if (steps > this.#most) this.#most = steps
    }
    const after = this.#follow()
    this.isSettled =
      after.size === before.size && [...after].every(([state, each]) => before.get(state) === each)
    for (const state of before.keys()) paths[state] = 0
    for (const [state, each] of after) paths[state] = each
    this.#reached = after
  }

  #advanceLong(): void {
    const totals = (this.#totals ??= this.#toTotals())
    const more = this.#follow()
    for (const [state, each] of more) {
      if (each <= this.#paths[state]!) more.delete(state)
      else this.#paths[state] = each
    }
    for (const [state, each] of more) this.#add(totals[state]!, each * this.#graph.weights[state]!)
    this.#reached = more
    this.isSettled = more.size === 0
  }

  /** The paths to all states that follow. */
  #follow(): Map<number, number> {
    const { next, before, sums } = this.#graph
    const after = new Map<number, number>()
    for (const from of this.#reached.keys()) {
      for (const state of next[from]!.keys()) {
        if (after.has(state)) continue
        let most = 0
        for (const choices of sums[state]!) {
          let paths = 0
          for (const choice of choices)
            paths += this.#largest(choice, (each) => this.#paths[each]! * before[state]!.get(each)!)
          if (paths > most) most = paths
        }
        after.set(state, most)
      }
    }
    return after
  }

  #largest(choice: Choice, valueOf: (state: number) => number): number {
    this.#work.left -= choice.length
    let most = 0
    for (const state of choice) most = Math.max(most, valueOf(state))
    return most
  }

  #toTotals(): readonly Total[][] {
    const { groups, weights } = this.#graph
    const totals = groups.map((): Total[] => [])
    for (const group of groups) {
      const whole = { steps: 0 }
      for (const choice of group) {
        const total = { most: 0, whole }
        for (const state of choice) totals[state]!.push(total)
      }
    }
    for (const state of this.#reached.keys()) this.#add(totals[state]!, this.#paths[state]! * weights[state]!)
    return totals
  }

  #add(totals: readonly Total[], steps: number): void {
    this.#work.left -= totals.length
    for (const total of totals) {
      if (steps <= total.most) continue
      total.whole.steps += steps - total.most
      total.most = steps
      if (total.whole.steps > this.#most) this.#most = total.whole.steps
    }
  }
}

/** The most steps in the states of one choice, and in those of its whole group. */
interface Total {
  most: number
  readonly whole: { steps: number }
}
