import { ANY, overlap, type Ranges, type Tree } from './pattern-tree.ts'

/** The states of a pattern: each reads one character, and `next` lists the states that may follow and in how many ways. */
export interface Automaton {
  readonly reads: readonly Ranges[]
  readonly next: readonly Ways[]
  /** The strongly connected component of each state; -1 if the state is not on a cycle. */
  readonly part: readonly number[]
  /** Where a match may start. */
  readonly first: Ways
  /** In how many ways it can match nothing, or end after its last character. */
  readonly ends: number
  /** States in which the match has succeeded, whatever follows. */
  readonly accepting: ReadonlySet<number>
  /** Look-arounds with their own automata. */
  readonly looks: readonly Automaton[]
}

/** States with the number of ways that lead to each, counted up to MANY. */
export type Ways = ReadonlyMap<number, number>

/** Ways are not counted beyond this: it is too many. */
export const MANY = 256
/** Patterns with more states are rejected. */
const MAX_STATES = 1000
/** An exact count up to this is expanded; a larger one is treated as a loop. */
const MAX_COPIES = 128
/** The most work that building may take. */
const MAX_WORK = 1_000_000

/** The automaton of a pattern, or the reason why it cannot be analysed. */
export function toAutomaton(tree: Tree): Automaton | string {
  const build: Build = { reads: [], next: [], looks: [], loops: 0, failed: undefined, open: true, work: 0 }
  if (!isAnchored(tree)) {
    addState(build, ANY)
    link(build, ONCE_0, ONCE_0)
  }
  const whole = place(build, tree)
  if (build.failed !== undefined) return build.failed
  if (!isAnchored(tree)) link(build, ONCE_0, whole.first)
  return {
    reads: build.reads,
    next: build.next,
    part: partsOf(build.next),
    accepting: build.open ? new Set(whole.last.keys()) : new Set(),
    first: whole.first,
    ends: Math.max(whole.empty, ...whole.last.values()),
    looks: build.looks,
  }
}

interface Build {
  readonly reads: Ranges[]
  readonly next: Ways[]
  readonly looks: Automaton[]
  /** The number of loops around the current place. */
  loops: number
  failed: string | undefined
  /** False once something other than characters affects whether the match succeeds. */
  open: boolean
  work: number
}

interface Piece {
  /** In how many ways it can match nothing. */
  readonly empty: number
  readonly first: Ways
  readonly last: Ways
}

const NONE: Ways = new Map()
const ONCE_0: Ways = new Map([[0, 1]])
const EMPTY: Piece = { empty: 1, first: NONE, last: NONE }

function isAnchored(tree: Tree): boolean {
  if (tree.kind === 'start') return true
  if (tree.kind === 'alt') return tree.parts.every(isAnchored)
  if (tree.kind !== 'seq') return false
  const first = tree.parts.find((part) => part.kind !== 'look' && part.kind !== 'edge')
  return first !== undefined && isAnchored(first)
}

function place(build: Build, tree: Tree): Piece {
  if (build.failed !== undefined) return EMPTY
  if (tree.kind === 'set') {
    const once = new Map([[addState(build, tree.ranges), 1]])
    return { empty: 0, first: once, last: once }
  }
  if (tree.kind === 'seq')
    return tree.parts.reduce<Piece>((left, part) => join(build, left, place(build, part)), EMPTY)
  if (tree.kind === 'alt')
    return either(
      build,
      tree.parts.map((part) => place(build, part)),
    )
  if (tree.kind === 'repeat') return placeRepeat(build, tree)
  if (tree.kind === 'look') placeLook(build, tree.body)
  if (tree.kind !== 'start') build.open = false
  return EMPTY
}

function placeRepeat(build: Build, tree: Tree & { kind: 'repeat' }): Piece {
  const { body, min, max } = tree
  if (max === 0) return EMPTY
  if (max === 1) return { ...place(build, body), empty: 1 }
  const copies = body.kind === 'set' && min <= MAX_COPIES ? min : Math.min(min, 1)
  const exact = body.kind === 'set' && min === max && copies === min
  let whole = EMPTY
  for (let copy = 1; copy < copies; copy++) whole = join(build, whole, place(build, body))
  build.loops++
  const piece = place(build, body)
  build.loops--
  if (!exact) link(build, piece.last, piece.first)
  if (min === 0) return { ...piece, empty: 1 }
  if (piece.empty === 0) return join(build, whole, piece)
  // Any of the required repetitions may be empty.
  if (min > 1) link(build, piece.last, piece.first)
  return { ...piece, first: add(build, piece.first, piece.first, piece.empty) }
}

function placeLook(build: Build, body: Tree): void {
  if (build.loops > 0) {
    build.failed = 'it repeats a look-around'
    return
  }
  const look = toAutomaton({ kind: 'seq', parts: [{ kind: 'start' }, body, { kind: 'end' }] })
  if (typeof look === 'string') build.failed = look
  else build.looks.push(look)
}

function join(build: Build, left: Piece, right: Piece): Piece {
  link(build, left.last, right.first)
  return {
    empty: Math.min(MANY, left.empty * right.empty),
    first: add(build, left.first, right.first, left.empty),
    last: add(build, right.last, left.last, right.empty),
  }
}

function either(build: Build, pieces: readonly Piece[]): Piece {
  return {
    empty: Math.min(
      MANY,
      pieces.reduce((sum, piece) => sum + piece.empty, 0),
    ),
    first: pieces.reduce((sum, piece) => add(build, sum, piece.first, 1), NONE),
    last: pieces.reduce((sum, piece) => add(build, sum, piece.last, 1), NONE),
  }
}

function add(build: Build, left: Ways, right: Ways, times: number): Ways {
  if (times === 0 || right.size === 0) return left
  build.work += left.size + right.size
  if (build.work > MAX_WORK) {
    build.failed ??= 'it is too large to be proven safe'
    return left
  }
  const sum = new Map(left)
  for (const [state, ways] of right) sum.set(state, Math.min(MANY, (sum.get(state) ?? 0) + ways * times))
  return sum
}

function addState(build: Build, ranges: Ranges): number {
  if (build.reads.length >= MAX_STATES) build.failed = `it has more than ${MAX_STATES} parts`
  build.next.push(new Map())
  return build.reads.push(ranges) - 1
}

function link(build: Build, from: Ways, to: Ways): void {
  for (const [state, times] of from) build.next[state] = new Map(add(build, build.next[state]!, to, times))
}

/** Tarjan's algorithm, without recursion. */
function partsOf(next: readonly Ways[]): number[] {
  const part = next.map(() => -1)
  const order = next.map(() => -1)
  const low = next.map(() => 0)
  const open: number[] = []
  const waiting = new Set<number>()
  let count = 0
  let parts = 0
  for (let root = 0; root < next.length; root++) {
    if (order[root] !== -1) continue
    const calls: { state: number; rest: Iterator<number> }[] = []
    const call = (state: number): void => {
      order[state] = low[state] = count++
      open.push(state)
      waiting.add(state)
      calls.push({ state, rest: next[state]!.keys() })
    }
    call(root)
    while (calls.length > 0) {
      const { state, rest } = calls.at(-1)!
      const step = rest.next()
      if (!step.done) {
        if (order[step.value] === -1) call(step.value)
        else if (waiting.has(step.value)) low[state] = Math.min(low[state]!, order[step.value]!)
        continue
      }
      calls.pop()
      const parent = calls.at(-1)?.state
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[state]!)
      if (low[state] === order[state]) close(state)
    }
  }
  return part

  function close(state: number): void {
    const members = open.splice(open.indexOf(state))
    for (const member of members) waiting.delete(member)
    if (members.length === 1 && !next[state]!.has(state)) return
    for (const member of members) part[member] = parts
    parts++
  }
}

/** The pairs of states reachable with the same character. */
export function* sharedSteps(
  automaton: Automaton,
  a: number,
  b: number,
): Generator<readonly [number, number, number]> {
  for (const [left, ways] of automaton.next[a]!) {
    for (const right of automaton.next[b]!.keys()) {
      if (overlap(automaton.reads[left]!, automaton.reads[right]!)) yield [left, right, ways]
    }
  }
}
