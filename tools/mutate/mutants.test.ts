import { expect, test } from 'vitest'
import { apply, draw, sitesOf } from './mutants.ts'

/** Every mutated text of a source, with whitespace collapsed. */
function mutantsOf(text: string): readonly string[] {
  const all = sitesOf('src/planted.ts', text).flat()
  return all.map((mutant) => apply(text, mutant).replace(/\s+/g, ' ').trim())
}

test('conditions are negated and forced, and their operators swapped', () => {
  const found = mutantsOf(`if (a < b && c) run()`)
  expect(found).toEqual(
    expect.arrayContaining([
      'if (!(a < b && c)) run()',
      'if (true) run()',
      'if (false) run()',
      'if (a < b || c) run()',
      'if (a < b) run()',
      'if (c) run()',
      'if (a <= b && c) run()',
      'if (a < b && c) {}',
    ]),
  )
})

test('statements, early exits, return values and elements are removed', () => {
  const found = mutantsOf(`for (const a of list) { if (a) break; clearTimeout(a) }`)
  expect(found).toContain('for (const a of list) { if (a) {} clearTimeout(a) }')
  expect(found).toContain('for (const a of list) { if (a) break; {} }')
  expect(mutantsOf(`const f = () => 5`)).toEqual(['const f = () => undefined', 'const f = () => 6'])
  expect(mutantsOf(`const f = () => { throw e }`)).toEqual(['const f = () => { {} }'])
  expect(mutantsOf(`run({ a, b: [c] })`)).toEqual(
    expect.arrayContaining(['run({ b: [c] })', 'run({ a, })', 'run({ a, b: [] })']),
  )
})

test('literals, defaults, optional chains and the anchors of patterns are changed', () => {
  expect(mutantsOf(`x = -1`)).toEqual(expect.arrayContaining(['x = 1', 'x = -2']))
  expect(mutantsOf(`x = a ?? true`)).toEqual(expect.arrayContaining(['x = a', 'x = true', 'x = a ?? false']))
  expect(mutantsOf(`x = a?.b?.[c]?.()`)).toEqual(
    expect.arrayContaining(['x = a.b?.[c]?.()', 'x = a?.b[c]?.()', 'x = a?.b?.[c]()']),
  )
  expect(mutantsOf(`x = /^a$/u`)).toEqual(expect.arrayContaining(['x = /a$/u', 'x = /^a/u']))
})

test('types, imports, keys, comments and prose are left alone', () => {
  expect(
    mutantsOf(`import { a } from './a.ts'\ntype A = 'b' | 3\n// c\nexport { a }\nexport { b } from './b.ts'`),
  ).toEqual([])
  expect(mutantsOf(`const a: Record<'b', 3> = b as Record<'b', 3>`)).toEqual([])
  expect(mutantsOf(`throw new Error('the name is missing')`)).toEqual(['{}'])
  expect(mutantsOf(`throw new Error(\`the name \${name} is missing\`)`)).toEqual(['{}'])
  expect(mutantsOf(`run({ hint: 'Retry.' })`)).toEqual(['{}', 'run({ })'])
  expect(mutantsOf(`const a = { 'b-c': d }`)).toEqual(['const a = { }'])
})

test('a loop is never made endless by its condition', () => {
  expect(mutantsOf(`while (a) {}`)).toEqual(['while (false) {}'])
})

const SOURCES = new Map([
  ['src/a.ts', 'export const sum = (a: number, b: number): number => (a > 10 ? a + b : a - b)\n'],
  ['src/b.ts', 'export const names = ["one", "two", "three"].map((name) => name.length)\n'],
])

test('the same seed draws the same mutants, another seed draws others, and no place is drawn twice', () => {
  const drawn = draw(SOURCES, 7, 6)
  expect(drawn).toHaveLength(6)
  expect(draw(SOURCES, 7, 6)).toEqual(drawn)
  expect(draw(SOURCES, 8, 6)).not.toEqual(drawn)
  const all = draw(SOURCES, 7, 1000)
  expect(all).toHaveLength([...SOURCES].flatMap(([file, text]) => sitesOf(file, text)).length)
})

test('each mutant has its place and its change', () => {
  const [mutant] = sitesOf('src/planted.ts', '\n\nrun(true)').flat().slice(-1)
  expect(mutant).toEqual({
    file: 'src/planted.ts',
    line: 3,
    start: 6,
    end: 10,
    kind: 'flip',
    original: 'true',
    mutated: 'false',
  })
})
