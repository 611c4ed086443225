import type { Automaton, Ways } from './automaton.ts'
import { ANY, overlap, type Ranges } from './pattern-tree.ts'

/** The work that an analysis has left. */
export interface Work {
  left: number
}

/** Thrown when an analysis would take too much work. */
export class TooMuchWork extends Error {}

/** Which paths of an automaton are looked at. */
export interface Scope {
  /** States that no path enters. */
  readonly without: ReadonlySet<number>
  /** Whether a further path starts with each character; otherwise all start in one place, which may be anywhere. */
  readonly everywhere: boolean
}

/** States of which one text leads to at most one. */
export type Choice = readonly number[]

/** The states of an automaton, and which of them one and the same text can lead to. */
export class TextGraph {
  readonly next: readonly Ways[]
  readonly weights: readonly number[]
  /** The states of the first character. */
  readonly starts: Ways
  /** For each state, the states before it, with the ways that lead from each. */
  readonly before: readonly Ways[]
  /** For each state, the sets of states before it that one text can lead to. */
  readonly sums: readonly (readonly (readonly Choice[])[])[]
  /** For each state, all states that a text can lead to which leads to this one. */
  readonly groups: readonly (readonly Choice[])[]
  readonly #work: Work

  constructor(automaton: Automaton, scope: Scope, work: Work) {
    this.#work = work
    const { reads, next, starts, weights } = inScope(automaton, scope)
    this.next = next
    this.weights = weights
    this.starts = starts
    const together = this.#pairs(reads, [...starts.keys()])
    const before = next.map((): Map<number, number> => new Map())
    for (const [from, ways] of next.entries())
      if (together[from]!.size > 0) for (const [to, times] of ways) before[to]!.set(from, times)
    this.before = before
    this.sums = before.map((ways) => this.#sums([...ways.keys()], together))
    this.groups = together.map((others) => this.#choices([...others], together))
  }

  /** For each state, the states that the same text can lead to. */
  #pairs(reads: readonly Ranges[], starts: readonly number[]): readonly ReadonlySet<number>[] {
    const together = reads.map((): Set<number> => new Set())
    const queue: (readonly [number, number])[] = []
    const meet = (lefts: Iterable<number>, rights: readonly number[]): void => {
      for (const left of lefts) {
        this.#spend(rights.length)
        for (const right of rights) {
          if (together[left]!.has(right) || !overlap(reads[left]!, reads[right]!)) continue
          together[left]!.add(right)
          together[right]!.add(left)
          queue.push([left, right])
        }
      }
    }
    meet(starts, starts)
    for (let pair = queue.pop(); pair !== undefined; pair = queue.pop())
      meet(this.next[pair[0]]!.keys(), [...this.next[pair[1]]!.keys()])
    return together
  }

  #sums(states: readonly number[], together: readonly ReadonlySet<number>[]): readonly (readonly Choice[])[] {
    const sums: (readonly Choice[])[] = []
    for (const state of states) {
      this.#spend(states.length)
      const others = states.filter((other) => together[state]!.has(other))
      const choices = this.#choices(others, together)
      if (choices.length === states.length) return [choices]
      sums.push(choices)
    }
    return sums
  }

  #choices(states: readonly number[], together: readonly ReadonlySet<number>[]): readonly Choice[] {
    const choices: number[][] = []
    for (const state of states) {
      const others = together[state]!
      const choice = choices.find((members) => {
        this.#spend(1)
        return members.every((other) => !others.has(other))
      })
      if (choice === undefined) choices.push([state])
      else choice.push(state)
    }
    return choices
  }

  #spend(steps: number): void {
    this.#work.left -= steps
    if (this.#work.left < 0) throw new TooMuchWork()
  }
}

type Graph = Pick<TextGraph, 'next' | 'weights' | 'starts'> & { readonly reads: readonly Ranges[] }

function inScope(automaton: Automaton, { without, everywhere }: Scope): Graph {
  const keep = (ways: Ways): Ways =>
    without.size === 0 ? ways : new Map([...ways].filter(([state]) => !without.has(state)))
  const { reads, weights } = automaton
  const next = automaton.next.map(keep)
  const [first, later] = [keep(automaton.first), keep(automaton.later)]
  if (!everywhere) {
    const starts = new Map(later)
    for (const [state, ways] of first) starts.set(state, Math.max(ways, later.get(state) ?? 0))
    return { reads, next, weights, starts }
  }
  if (later.size === 0) return { reads, next, weights, starts: first }
  // One more state reads everything before the match; it takes no steps of its own.
  const outside = reads.length
  return {
    reads: [...reads, ANY],
    next: [...next, new Map([...later, [outside, 1]])],
    weights: [...weights, 0],
    starts: new Map([...first, [outside, 1]]),
  }
}
