import { expect, test } from 'vitest'
import { toAutomaton } from './automaton.ts'
import { ANY, type Tree } from './pattern-tree.ts'

const ONE: Tree = { kind: 'set', ranges: ANY }
const MAYBE: Tree = { kind: 'repeat', body: ONE, min: 0, max: 1 }

/** A character and so many that may be left out, one group after the other. */
function groups(...sizes: readonly number[]): Tree {
  const parts = sizes.flatMap((size) => [ONE, ...Array.from({ length: size }, () => MAYBE)])
  return { kind: 'seq', parts: [{ kind: 'start' }, ...parts] }
}

test('a pattern that takes more than a million steps to build is given up', () => {
  const most = [5, 10, 37, 179]
  expect(toAutomaton(groups(...most), 16)).toMatchObject({ isWidened: false })
  expect(toAutomaton(groups(0, ...most), 16)).toBe('it is too large to be proven safe')
})
