import type { Ranges, Tree } from '../../src/schema/pattern-tree.ts'

export interface Run {
  readonly matched: boolean
  /** How many characters and other parts of the pattern were tried. */
  readonly steps: number
}

/** Whether a part neither reads a character nor is one that `matched` is known for. */
export function hasLooks(tree: Tree): boolean {
  if (tree.kind === 'seq' || tree.kind === 'alt') return tree.parts.some(hasLooks)
  if (tree.kind === 'repeat' || tree.kind === 'group') return hasLooks(tree.body)
  return tree.kind === 'look' || tree.kind === 'edge'
}

class Enough extends Error {}

/**
 * Matches as the language says, by trying every way in turn, and counts the steps. Where a look-around or a word edge
 * decides, it takes the dearer way: all succeed, and the whole fails in the end. After `most` steps it stops.
 */
export function backtrack(tree: Tree, text: readonly number[], most: number): Run {
  const fails = hasLooks(tree)
  let steps = 0
  try {
    for (let start = 0; start <= text.length; start++) {
      count()
      if (attempt(tree, start, 1, () => !fails)) return { matched: true, steps }
    }
  } catch (thrown) {
    if (!(thrown instanceof Enough)) throw thrown
  }
  return { matched: false, steps }

  function count(): void {
    if (++steps > most) throw new Enough()
  }

  function attempt(part: Tree, at: number, way: 1 | -1, next: (at: number) => boolean): boolean {
    switch (part.kind) {
      case 'set': {
        count()
        const read = text[way === 1 ? at : at - 1]
        return read !== undefined && contains(part.ranges, read) && next(at + way)
      }
      case 'seq':
        return sequence(way === 1 ? part.parts : part.parts.toReversed(), at, way, next)
      case 'alt':
        return part.parts.some((each) => attempt(each, at, way, next))
      case 'group':
        count()
        return attempt(part.body, at, way, next)
      case 'repeat':
        return repeat(part, 0, at, way, next)
      case 'start':
        return at === 0 && next(at)
      case 'end':
        count()
        return at === text.length && next(at)
      case 'edge':
        count()
        return next(at)
      case 'look':
        count()
        attempt(part.body, at, part.behind ? -1 : 1, () => false)
        return next(at)
    }
  }

  function sequence(parts: readonly Tree[], at: number, way: 1 | -1, next: (at: number) => boolean): boolean {
    const [first, ...rest] = parts
    if (first === undefined) return next(at)
    return attempt(first, at, way, (to) => sequence(rest, to, way, next))
  }

  function repeat(
    part: Tree & { kind: 'repeat' },
    done: number,
    at: number,
    way: 1 | -1,
    next: (at: number) => boolean,
  ): boolean {
    const again =
      done < part.max &&
      attempt(part.body, at, way, (to) => {
        if (to !== at || done < part.min) return repeat(part, done + 1, to, way, next)
        count()
        return false
      })
    return again || (done >= part.min && next(at))
  }
}

export function contains(ranges: Ranges, point: number): boolean {
  return ranges.some(([from, to]) => from <= point && point <= to)
}
