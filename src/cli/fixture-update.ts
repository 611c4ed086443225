import { parseJsonc, type JsoncNode } from './jsonc.ts'
import { isPlainObject } from './fixtures.ts'

/** What a fixture expects from now on. */
export type Expectation = { readonly output: unknown } | { readonly error: string }

/**
 * What a fixture expects from now on: the members that it names, with the values that came. Members that no longer come are no longer
 * expected.
 */
export function named(expected: unknown, got: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(got))
    return got.map((item: unknown, i) => (i < expected.length ? named(expected[i], item) : item))
  if (!isPlainObject(expected) || !isPlainObject(got)) return got
  const kept = Object.entries(expected).filter(([name]) => Object.hasOwn(got, name))
  return Object.fromEntries(kept.map(([name, value]) => [name, named(value, got[name])]))
}

/** The text of a fixture file with other expectations in some of its fixtures. Everything else stays as it is. */
export function rewritten(text: string, changes: ReadonlyMap<number, Expectation>): string {
  const { items = [] } = parseJsonc(text)
  const indent = /\n([\t ]+)\S/.exec(text)?.[1] ?? '  '
  let changed = text
  // From the end, so that the places before stay valid.
  for (const [i, expectation] of [...changes].toSorted(([a], [b]) => b - a)) {
    const fixture = items[i]
    if (fixture !== undefined) changed = withExpectation(changed, fixture, expectation, indent)
  }
  return changed
}

function withExpectation(text: string, fixture: JsoncNode, expectation: Expectation, indent: string): string {
  const [[name, value] = ['', undefined]] = Object.entries(expectation)
  const { members = [] } = fixture
  const old = members.findLast((member) => member.name === name)?.node
  const isOneLine = !text.slice(fixture.start, fixture.end).includes('\n')
  const json = jsonOf(value, isOneLine ? undefined : indent)
  if (old !== undefined) return text.slice(0, old.start) + json + text.slice(old.end)
  const last = members.at(-1)
  if (last === undefined) return text
  const space = isOneLine ? ' ' : `\n${indent.repeat(2)}`
  return `${text.slice(0, last.node.end)},${space}${JSON.stringify(name)}: ${json}${text.slice(last.node.end)}`
}

/** JSON in the style of the file: in one line, or with the indentation of a member of a fixture. */
function jsonOf(value: unknown, indent: string | undefined): string {
  if (indent !== undefined)
    return (JSON.stringify(value, undefined, indent) ?? 'null').replaceAll('\n', `\n${indent.repeat(2)}`)
  // No line break of JSON is within a text.
  return (JSON.stringify(value, undefined, 1) ?? 'null').replaceAll(/\n */g, ' ')
}
