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

/** The choice that each state belongs to: one text leads to at most one state of a choice. */
type Choices = ReadonlyMap<number, number>

/** The states of an automaton, and which of them one and the same text can lead to. */
export class TextGraph {
  readonly next: readonly Ways[]
  readonly weights: readonly number[]
  /** The states of the first character. */
  readonly starts: Ways
  /** For each state, the states before it, with the ways that lead from each, and their choices. */
  readonly before: readonly { readonly ways: Ways; readonly choices: Choices }[]
  readonly choices: Choices
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
    this.before = before.map((ways) => ({ ways, choices: this.#choices(ways.keys(), together) }))
    this.choices = this.#choices(next.keys(), together)
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

  #choices(states: Iterable<number>, together: readonly ReadonlySet<number>[]): Choices {
    const members: number[][] = []
    const choices = new Map<number, number>()
    for (const state of states) {
      const others = together[state]!
      const found = members.findIndex((each) => {
        this.#spend(1)
        return each.every((other) => !others.has(other))
      })
      const choice = found < 0 ? members.push([]) - 1 : found
      members[choice]!.push(state)
      choices.set(state, choice)
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
