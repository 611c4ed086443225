import { ANY, type Ranges, type Tree } from './pattern-tree.ts'

/** The states of a pattern: each reads one character, and `next` lists the states that may follow and in how many ways. */
export interface Automaton {
  readonly reads: readonly Ranges[]
  readonly next: readonly Ways[]
  /** Where a match may start: at the start of the text, and behind it. */
  readonly first: Ways
  readonly later: Ways
  /** How many steps a matcher takes in each state, whatever follows. */
  readonly weights: readonly number[]
  /** How many steps it takes to start, in each place. */
  readonly weight: number
  /** States in which the match has succeeded, whatever follows. */
  readonly accepting: ReadonlySet<number>
  /** Whether a repeat that has a bound was taken for one that has none. */
  readonly isWidened: boolean
}

/** States with the number of ways that lead to each. */
export type Ways = ReadonlyMap<number, number>

/** Patterns with more states are not analysed. */
const MAX_STATES = 1000
/** The most work that building may take. */
const MAX_WORK = 1_000_000
/** Ways are not counted beyond this, which is far too many. */
const MANY = 1e100

/** The reason why a pattern is not analysed to the end. */
export const TOO_LARGE = 'it is too large to be proven safe'

/**
 * The automaton of a pattern, or the reason why it cannot be analysed. Parts that repeat at most `copies` times are
 * written out; others may repeat without end. Every way in which a matcher can read a text is a path of the automaton.
 */
export function toAutomaton(tree: Tree, copies: number): Automaton | string {
  const build: Build = {
    reads: [],
    next: [],
    ends: [],
    copies,
    empties: 1,
    marks: 0,
    loops: false,
    isWidened: false,
    open: true,
    work: 0,
  }
  const whole = place(build, tree)
  if (build.failed !== undefined) return build.failed
  // Whatever matches nothing is passed in every state, in each of the ways in which that is possible.
  const base = 1 + build.marks * build.empties
  return {
    reads: build.reads,
    next: build.next,
    first: whole.first,
    later: whole.later,
    weights: build.next.map(
      (next, state) => base + sum(next) + (build.ends[state] ?? 0) + (whole.last.get(state) ?? 0),
    ),
    weight: base + Math.max(whole.empty + sum(whole.first), whole.emptyLater + sum(whole.later)),
    accepting: build.open ? new Set(whole.last.keys()) : new Set(),
    isWidened: build.isWidened,
  }
}

interface Build {
  readonly reads: Ranges[]
  readonly next: Ways[]
  /** In how many ways a look-around can end in a state. */
  readonly ends: number[]
  readonly copies: number
  /** The most ways in which a part matches nothing. */
  empties: number
  /** The number of parts that take time without reading: assertions, captures, and each way through a loop that reads nothing. */
  marks: number
  /** Whether a part may repeat without end. */
  loops: boolean
  isWidened: boolean
  /** False once something other than the characters in it affects whether the match succeeds. */
  open: boolean
  failed?: string
  work: number
}

/** How a part of the pattern behaves at the start of the text, and after it, where `^` fails. */
interface Piece {
  /** In how many ways it can match nothing. */
  readonly empty: number
  readonly emptyLater: number
  readonly first: Ways
  readonly later: Ways
  readonly last: Ways
}

const NONE: Ways = new Map()
const EMPTY: Piece = { empty: 1, emptyLater: 1, first: NONE, later: NONE, last: NONE }
const AT_START: Piece = { ...EMPTY, emptyLater: 0 }

function place(build: Build, tree: Tree): Piece {
  if (build.failed !== undefined) return EMPTY
  switch (tree.kind) {
    case 'set':
      return single(addState(build, tree.ranges))
    case 'seq':
      return tree.parts.reduce<Piece>((left, part) => join(build, left, place(build, part)), EMPTY)
    case 'alt':
      return either(
        build,
        tree.parts.map((part) => place(build, part)),
      )
    case 'repeat':
      return placeRepeat(build, tree)
    case 'start':
      return AT_START
    case 'group':
      build.marks++
      return place(build, tree.body)
    default:
      build.marks++
      build.open = false
      if (tree.kind !== 'look') return EMPTY
      return tree.behind ? placeBehind(build, tree.body) : placeAhead(build, tree.body)
  }
}

function single(state: number): Piece {
  const once = new Map([[state, 1]])
  return { empty: 0, emptyLater: 0, first: once, later: once, last: once }
}

/** The required copies, and then a loop or the copies that may be missing. */
function placeRepeat(build: Build, { body, min, max }: Tree & { kind: 'repeat' }): Piece {
  if (max === 0) return EMPTY
  const isLoop = max > build.copies && max > 1
  const required = min <= build.copies ? min : 1
  let whole = EMPTY
  let copy = EMPTY
  for (let count = 0; count < required && build.failed === undefined; count++) {
    copy = place(build, body)
    whole = join(build, whole, copy)
  }
  const isNullable = copy.empty + copy.emptyLater > 0
  if (isNullable && required < min)
    build.failed ??= `it repeats a part that may be empty more than ${build.copies} times`
  if (!isLoop) return withMore(build, whole, body, max - min)
  build.loops = true
  if (max < Infinity || required < min) build.isWidened = true
  if (required < min) build.open = false
  if (isNullable || required === 0) return withMore(build, whole, body, Infinity)
  link(build, copy.last, copy.later)
  return whole
}

/** A piece, and behind it further copies that may be missing. A matcher gives up a copy that reads nothing. */
function withMore(build: Build, piece: Piece, body: Tree, most: number): Piece {
  let [whole, before] = [piece, piece]
  const isLoop = most === Infinity
  for (let count = 0; count < (isLoop ? 1 : most) && build.failed === undefined; count++) {
    const copy = place(build, body)
    build.marks += Math.max(copy.empty, copy.emptyLater)
    link(build, before.last, copy.later)
    if (isLoop) link(build, copy.last, copy.later)
    whole = {
      ...whole,
      first: add(build, whole.first, copy.first, before.empty),
      later: add(build, whole.later, copy.later, before.emptyLater),
      last: add(build, whole.last, copy.last, 1),
    }
    before = { ...copy, empty: 0, emptyLater: 0 }
  }
  return whole
}

/** A look-ahead reads beside what follows it, and nothing follows its own end. */
function placeAhead(build: Build, tree: Tree): Piece {
  const body = place(build, tree)
  for (const [state, ways] of body.last) build.ends[state] = (build.ends[state] ?? 0) + ways
  const ahead = { ...EMPTY, first: body.first, later: body.later }
  const empties = Math.max(body.empty, body.emptyLater)
  return empties > 1 ? join(build, ahead, aside(build, empties)) : ahead
}

/** A look-behind reads text that has been read before, so that only its cost counts; it must have a bound. */
function placeBehind(build: Build, tree: Tree): Piece {
  const own: Build = { ...build, reads: [], next: [], ends: [], marks: 0, loops: false }
  const body = place(own, backwards(tree))
  if (own.loops) own.failed ??= 'it looks behind without a bound'
  if (own.ends.length > 0) own.failed ??= 'it has a look-around in a look-behind'
  let steps = Math.max(body.empty, body.emptyLater)
  let ways = add(own, body.first, body.later, 1)
  while (ways.size > 0 && own.failed === undefined) {
    steps += sum(ways)
    ways = [...ways].reduce((all, [state, times]) => add(own, all, own.next[state]!, times), NONE)
  }
  build.work = own.work
  if (own.failed !== undefined) build.failed = own.failed
  return aside(build, steps * (1 + own.marks))
}

/** Stands for so many steps that read nothing of what is still to be read. */
function aside(build: Build, steps: number): Piece {
  const state = addState(build, ANY)
  build.ends[state] = steps
  const once = new Map([[state, 1]])
  return { ...EMPTY, first: once, later: once }
}

function backwards(tree: Tree): Tree {
  if (tree.kind === 'seq') return { kind: 'seq', parts: tree.parts.map(backwards).toReversed() }
  if (tree.kind === 'alt') return { kind: 'alt', parts: tree.parts.map(backwards) }
  if (tree.kind === 'repeat' || tree.kind === 'group') return { ...tree, body: backwards(tree.body) }
  // At the start of the text, a `^` succeeds; this counts what it costs everywhere.
  return tree.kind === 'start' ? { kind: 'end' } : tree
}

function join(build: Build, left: Piece, right: Piece): Piece {
  link(build, left.last, right.later)
  return counted(build, {
    empty: left.empty * right.empty,
    emptyLater: left.emptyLater * right.emptyLater,
    first: add(build, left.first, right.first, left.empty),
    later: add(build, left.later, right.later, left.emptyLater),
    last: add(build, right.last, left.last, right.emptyLater),
  })
}

function either(build: Build, pieces: readonly Piece[]): Piece {
  return counted(build, {
    empty: pieces.reduce((all, { empty }) => all + empty, 0),
    emptyLater: pieces.reduce((all, { emptyLater }) => all + emptyLater, 0),
    first: pieces.reduce((all, { first }) => add(build, all, first, 1), NONE),
    later: pieces.reduce((all, { later }) => add(build, all, later, 1), NONE),
    last: pieces.reduce((all, { last }) => add(build, all, last, 1), NONE),
  })
}

function counted(build: Build, piece: Piece): Piece {
  const [empty, emptyLater] = [Math.min(piece.empty, MANY), Math.min(piece.emptyLater, MANY)]
  build.empties = Math.max(build.empties, empty, emptyLater)
  return { ...piece, empty, emptyLater }
}

function add(build: Build, left: Ways, right: Ways, times: number): Ways {
  if (times === 0 || right.size === 0) return left
  build.work += left.size + right.size
  if (build.work > MAX_WORK) {
    build.failed ??= TOO_LARGE
    return left
  }
  const all = new Map(left)
  for (const [state, ways] of right) all.set(state, Math.min(MANY, (all.get(state) ?? 0) + ways * times))
  return all
}

function addState(build: Build, ranges: Ranges): number {
  if (build.reads.length >= MAX_STATES) build.failed ??= `it has more than ${MAX_STATES} parts`
  build.next.push(NONE)
  return build.reads.push(ranges) - 1
}

function link(build: Build, from: Ways, to: Ways): void {
  for (const [state, times] of from) build.next[state] = add(build, build.next[state]!, to, times)
}

function sum(ways: Ways): number {
  return [...ways.values()].reduce((all, times) => all + times, 0)
}
