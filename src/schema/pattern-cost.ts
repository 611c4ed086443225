import type { Automaton } from './automaton.ts'
import { PathCounter } from './path-counter.ts'
import { TextGraph, type Scope, type Work } from './text-graph.ts'

/** An upper bound on the steps of a backtracking matcher, for every text of a length. */
export interface CostCurve {
  /** The longest text that takes no more steps than were asked about. */
  readonly limit: number
  /** The steps for each character of a long text; undefined if they grow with the length. */
  readonly slope: number | undefined
  /** Infinity beyond the limit if the steps grow with the length. */
  steps(length: number): number
}

/**
 * Bounds the steps of a matcher that tries every way to read a text, up to `most`.
 *
 * Each way is a path of the automaton, so the steps after each character are the paths that the text may have taken by
 * then. A match ends the search: the paths before it have reached no accepting state, and those of the match itself start
 * in one place.
 */
export function costOf(automaton: Automaton, most: number, work: Work): CostCurve {
  const { accepting, next, weight, weights } = automaton
  const count = (scope: Scope): PathCounter => new PathCounter(new TextGraph(automaton, scope, work), work)
  const counters = [count({ without: accepting, everywhere: true })]
  let each = weight
  if (accepting.size > 0) {
    const stays = [...accepting].every((state) => [...next[state]!.keys()].every((to) => accepting.has(to)))
    if (stays) each += Math.max(...weights)
    else counters.push(count({ without: new Set(), everywhere: false }))
  }
  return measure(counters, each, most, work)
}

type Point = readonly [length: number, steps: number]

/** Adds up what the counters say, character by character, until that no longer changes or is too much. */
function measure(counters: readonly PathCounter[], each: number, most: number, work: Work): CostCurve {
  const points: Point[] = []
  // A part that reads nothing is tried behind the last character, too.
  const step = (): number => counters.reduce((all, counter) => all + counter.advance(), each)
  let total = each + step()
  for (let length = 0; ; length++) {
    if ((length & (length - 1)) === 0) points.push([length, total])
    const more = step()
    const isSettled = counters.every((counter) => counter.isSettled)
    if (!isSettled && total + more <= most && work.left > 0) {
      total += more
      continue
    }
    points.push([length, total])
    return isSettled
      ? toCurve(points, more, length + Math.floor((most - total) / more))
      : toCurve(points, undefined, length)
  }
}

function toCurve(points: readonly Point[], slope: number | undefined, limit: number): CostCurve {
  const last = points.length - 1
  const [end, total] = points[last]!
  return { limit, slope, steps }

  /** The points are at 0, 1, 2, 4 and so on. No character takes fewer steps than the one before, so a line between two is above the curve. */
  function steps(length: number): number {
    if (length > end) return slope === undefined ? Infinity : total + (length - end) * slope
    const at = Math.min(length <= 1 ? length : 33 - Math.clz32(length - 1), last)
    const [to, high] = points[at]!
    const [from, low] = points[Math.max(at - 1, 0)]!
    return to === length ? high : low + ((high - low) * (length - from)) / (to - from)
  }
}
