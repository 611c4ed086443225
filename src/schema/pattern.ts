import { MANY, sharedSteps, toAutomaton, type Automaton, type Ways } from './automaton.ts'
import { overlap, parsePattern } from './pattern-tree.ts'

/** How matching time grows. Quadratic patterns are matched only against strings up to MAX_QUADRATIC. */
export type PatternCost =
  | { readonly cost: 'linear' | 'quadratic'; readonly unicode: boolean }
  | { readonly cost: 'unsafe'; readonly reason: string }

/** The longest string that a quadratic pattern is matched against. */
export const MAX_QUADRATIC = 4096
const MAX_SOURCE = 2000
const MAX_STEPS = 400_000

/** Proves how the time of a backtracking matcher grows with the length of the string, for all strings. */
export function provePattern(source: string): PatternCost {
  const known = PROVEN.get(source)
  if (known !== undefined) return known
  if (PROVEN.size >= MAX_PROVEN) PROVEN.clear()
  const cost = prove(source)
  PROVEN.set(source, cost)
  return cost
}

const PROVEN = new Map<string, PatternCost>()
const MAX_PROVEN = 1000

function prove(source: string): PatternCost {
  if (source.length > MAX_SOURCE) return unsafe(`it is longer than ${MAX_SOURCE} characters`)
  const unicode = compiles(source, 'u')
  if (!unicode && !compiles(source, '')) return unsafe('it is not a regular expression')
  const tree = parsePattern(source, unicode)
  if (typeof tree === 'string') return unsafe(tree)
  const automaton = toAutomaton(tree)
  if (typeof automaton === 'string') return unsafe(automaton)
  const budget = { steps: MAX_STEPS }
  const all = [automaton, ...automaton.looks]
  if (all.some((each) => isExponential(each, budget))) {
    return unsafe('a repeated part can match the same text in several ways, which takes exponential time')
  }
  if (all.some((each) => each.ends >= MANY || branchesOf(each, budget) >= MANY)) {
    return unsafe('its parts can share the same text in too many ways')
  }
  const degree = Math.max(...all.map((each) => degreeOf(each, budget)))
  if (budget.steps <= 0) return unsafe('it is too large to be proven safe')
  if (degree > 2)
    return unsafe('three or more repeated parts can match the same text, which takes cubic time')
  const looks = automaton.looks.some((look) => look.part.some((part) => part >= 0))
  return { cost: degree === 2 || looks ? 'quadratic' : 'linear', unicode }
}

/** The matcher of a pattern that provePattern allows; a quadratic one rejects strings longer than MAX_QUADRATIC. */
export function toMatcher(source: string): RegExp {
  const verdict = provePattern(source)
  if (verdict.cost === 'unsafe') return /(?!)/
  const flags = verdict.unicode ? 'u' : ''
  return verdict.cost === 'linear' ? new RegExp(source, flags) : new BoundedRegExp(source, flags)
}

class BoundedRegExp extends RegExp {
  override test(text: string): boolean {
    return text.length <= MAX_QUADRATIC && super.test(text)
  }
}

interface Budget {
  steps: number
}

function unsafe(reason: string): PatternCost {
  return { cost: 'unsafe', reason }
}

function compiles(source: string, flags: string): boolean {
  try {
    RegExp(source, flags)
    return true
  } catch {
    return false
  }
}

/** Whether a state on a cycle can return to itself over the same text in two ways. */
function isExponential(automaton: Automaton, budget: Budget): boolean {
  const { next, part } = automaton
  const size = next.length
  const back = new Map<number, number[]>()
  const reached = new Set<number>()
  const queue: number[] = []
  for (let state = 0; state < size; state++) if (part[state] !== -1) reach(state * size + state)
  while (queue.length > 0 && budget.steps > 0) {
    const pair = queue.pop()!
    const [a, b] = [Math.floor(pair / size), pair % size]
    for (const [left, right, ways] of sharedSteps(automaton, a, b)) {
      budget.steps--
      if (part[left] !== part[a] || part[right] !== part[b]) continue
      if (a === b && left === right && ways > 1) return true
      const target = left * size + right
      const sources = back.get(target)
      if (sources === undefined) back.set(target, [pair])
      else sources.push(pair)
      reach(target)
    }
  }
  return meets(back, reached, size)

  function reach(pair: number): void {
    if (reached.has(pair)) return
    reached.add(pair)
    queue.push(pair)
  }
}

/** Whether two diverging paths from a common state can meet again. */
function meets(
  back: ReadonlyMap<number, readonly number[]>,
  reached: ReadonlySet<number>,
  size: number,
): boolean {
  const queue = [...reached].filter((pair) => Math.floor(pair / size) === pair % size)
  const seen = new Set(queue)
  while (queue.length > 0) {
    for (const source of back.get(queue.pop()!) ?? []) {
      if (seen.has(source)) continue
      if (Math.floor(source / size) !== source % size) return true
      seen.add(source)
      queue.push(source)
    }
  }
  return false
}

/** An upper bound on the number of paths of one text through the pattern, not counting how long it stays on a cycle. */
function branchesOf(automaton: Automaton, budget: Budget): number {
  const { next, part, reads } = automaton
  const members = new Map<number, number[]>()
  part.forEach((each, state) => members.set(each, [...(members.get(each) ?? []), state]))
  const known = new Map<number, number>()
  return branch(automaton.first)

  function branch(ways: Ways): number {
    let most = 1
    for (const [state] of ways) {
      let sum = 0
      budget.steps -= ways.size
      if (budget.steps <= 0) return MANY
      for (const [other, times] of ways) {
        if (overlap(reads[state]!, reads[other]!)) sum += times * after(other)
      }
      most = Math.max(most, sum)
    }
    return Math.min(most, MANY)
  }

  function after(state: number): number {
    const cycle = part[state]!
    const key = cycle === -1 ? state : -2 - cycle
    const before = known.get(key)
    if (before !== undefined) return before
    const states = cycle === -1 ? [state] : members.get(cycle)!
    const exits = states.flatMap((each) =>
      [...next[each]!].filter(([to]) => cycle === -1 || part[to] !== cycle),
    )
    const found = branch(new Map(exits))
    known.set(key, found)
    return found
  }
}

/** One more than the longest chain of cycles that can pass the same text from one to the next. */
function degreeOf(automaton: Automaton, budget: Budget): number {
  const handsTo = new Map<number, Set<number>>()
  const cyclic = automaton.part.flatMap((part, state) => (part === -1 ? [] : [state]))
  for (const from of cyclic) {
    for (const to of cyclic) {
      const [a, b] = [automaton.part[from]!, automaton.part[to]!]
      if (a === b || automaton.accepting.has(to) || handsTo.get(a)?.has(b)) continue
      if (!handsOn(automaton, from, to, budget)) continue
      const targets = handsTo.get(a) ?? new Set()
      handsTo.set(a, targets.add(b))
    }
  }
  return 1 + Math.max(0, ...[...handsTo.keys()].map((part) => chainFrom(part, handsTo)))
}

function chainFrom(part: number, handsTo: ReadonlyMap<number, ReadonlySet<number>>): number {
  let longest = 0
  for (const target of handsTo.get(part) ?? []) longest = Math.max(longest, 1 + chainFrom(target, handsTo))
  return longest
}

/** Whether some text leads from → from, from → to and to → to at once. */
function handsOn(automaton: Automaton, from: number, to: number, budget: Budget): boolean {
  const { next, part, reads } = automaton
  const size = next.length
  const goal = (from * size + to) * size + to
  const queue = [(from * size + from) * size + to]
  const seen = new Set(queue)
  while (queue.length > 0 && budget.steps > 0) {
    const triple = queue.pop()!
    const [x, y, z] = [Math.floor(triple / size / size), Math.floor(triple / size) % size, triple % size]
    for (const [left, middle] of sharedSteps(automaton, x, y)) {
      if (part[left] !== part[from]) continue
      for (const right of next[z]!.keys()) {
        if (--budget.steps <= 0) return false
        if (part[right] !== part[to]) continue
        if (!overlap(reads[left]!, reads[right]!) || !overlap(reads[middle]!, reads[right]!)) continue
        const target = (left * size + middle) * size + right
        if (target === goal) return true
        if (seen.has(target)) continue
        seen.add(target)
        queue.push(target)
      }
    }
  }
  return false
}
