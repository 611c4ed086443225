import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findUndocumented, toNameList, toSurface } from './surface.ts'

test('each export is listed under its sub-path with its comment and its declaration', () => {
  const page = surface({
    'index.d.ts': "export { make, type Made as Thing } from './make.js'\n",
    'make.d.ts':
      '/** Makes a thing. */\nexport declare function make(name: string): string;\nexport interface Made {\n    /** Inner words. */\n    readonly name: string;\n    // Not for readers.\n    readonly more: 1;\n}\n',
    'client/index.d.ts': 'export declare const client: number;\n',
  })
  expect(page).toContain('## `lib`\n\n2 names.')
  expect(page).toContain('### `make`\n\nMakes a thing.\n\n```ts\nfunction make(name: string): string\n```')
  expect(page).toContain(
    '### `Thing`\n\n```ts\ninterface Made {\n    /** Inner words. */\n    readonly name: string;\n    readonly more: 1;\n}\n```',
  )
  expect(page).toContain('## `lib/client`\n\n1 name.')
  expect(page).toContain('```ts\nconst client: number\n```')
})

test('a name is followed through imports, star exports and files', () => {
  const page = surface({
    'index.d.ts': "import { deep } from './a.js'\nexport { deep }\nexport * from './b.js'\n",
    'a.d.ts': "export { inner as deep } from './c.js'\n",
    'b.d.ts': 'declare const local: 1\nexport { local as other }\n',
    'c.d.ts': 'export declare const inner: 2;\n',
  })
  expect(page).toContain('### `deep`\n\n```ts\nconst inner: 2\n```')
  expect(page).toContain('### `other`\n\n```ts\nconst local: 1\n```')
})

test('overloads of one name are listed together', () => {
  const page = surface({
    'index.d.ts': 'export declare function f(a: 1): 1;\nexport declare function f(a: 2): 2;\n',
  })
  expect(page).toContain('```ts\nfunction f(a: 1): 1\nfunction f(a: 2): 2\n```')
})

test('a declaration that refers to an unexported type is rejected', () => {
  const make = 'import type { Made } from "./made.js";\nexport declare function make(): Made;\n'
  const made =
    'export interface Part {\n}\nexport interface Made extends Part {\n    readonly part?: Part;\n}\n'
  const files = { 'make.d.ts': make, 'made.d.ts': made }
  expect(() => surface({ ...files, 'index.d.ts': "export { make } from './make.js'\n" })).toThrow(
    'names that no entry point exports:\nlib: make refers to Made of dist/made.d.ts',
  )
  const both = "export { make } from './make.js'\nexport type { Made } from './made.js'\n"
  expect(() => surface({ ...files, 'index.d.ts': both })).toThrow(
    'lib: Made refers to Part of dist/made.d.ts',
  )
  const all = "export { make } from './make.js'\nexport type { Made, Part } from './made.js'\n"
  expect(surface({ ...files, 'index.d.ts': all })).toContain('3 names.')
})

test.each([
  ['a parameter', 'export declare function f(one: Hidden): void;\n'],
  ['a base class', 'export declare class F extends Hidden {\n}\n'],
  ['an interface that a class implements', 'export declare class F implements Hidden {\n}\n'],
  ['the type of a value', 'export declare const f: typeof Hidden;\n'],
  ['a whole module', "import * as Hidden from './hidden.js';\nexport declare const f: typeof Hidden;\n"],
  ['a default of a type parameter', 'export type F<One = Hidden> = One[];\n'],
])('%s counts as a reference', (_, text) => {
  const imports = text.startsWith('import') ? '' : "import type { Hidden } from './hidden.js';\n"
  const files = { 'index.d.ts': imports + text, 'hidden.d.ts': 'export declare class Hidden {\n}\n' }
  expect(() => surface(files)).toThrow(/refers to Hidden of dist\/hidden\.d\.ts/)
})

test('exporting another declaration with the same name is not enough', () => {
  const files = {
    'index.d.ts':
      "import type { Made } from './a.js'\nexport type { Made } from './b.js'\nexport declare const made: Made;\n",
    'a.d.ts': 'export interface Made {\n}\n',
    'b.d.ts': 'export interface Made {\n}\n',
  }
  expect(() => surface(files)).toThrow('lib: made refers to Made of dist/a.d.ts')
})

test('type parameters and built-in types need no declaration', () => {
  const text =
    'export type Keys<Of> = Of extends Promise<infer Value> ? { readonly [Name in keyof Value]: Name } : never;\n'
  expect(surface({ 'index.d.ts': text })).toContain('type Keys<Of>')
})

test('private aliases are listed with the exports that use them, and unions of constants are written out', () => {
  const page = surface({
    'index.d.ts': "export type { Name, Row } from './table.js'\n",
    'table.d.ts':
      'export declare const TABLE: {\n    readonly one: 1;\n    readonly two: 2;\n};\n' +
      "export declare const WORDS: readonly ['a', 'b'];\n" +
      'export type Name = keyof typeof TABLE;\n' +
      'type Word = (typeof WORDS)[number];\n' +
      'export type Row = Readonly<Record<Word, Name>>;\n',
  })
  expect(page).toContain("```ts\ntype Name = 'one' | 'two'\n```")
  expect(page).toContain("```ts\ntype Row = Readonly<Record<Word, Name>>\ntype Word = 'a' | 'b'\n```")
})

test('a name that two sub-paths export is declared once', () => {
  const page = surface({
    'index.d.ts': "export type { Made } from './made.js'\n",
    'made.d.ts': 'export interface Made {\n}\n',
    'client/index.d.ts': "export type { Made } from '../made.js'\n",
  })
  expect(page).toContain('## `lib/client`\n\n1 name.\n\n### `Made`\n\nThe same as in `lib`.\n')
})

test('a missing build is reported', () => {
  expect(() => surface({})).toThrow('dist/index.d.ts is missing; run npm run build first')
})

test('the examples of a comment become code', () => {
  const page = surface({
    'index.d.ts':
      '/**\n * Makes a thing.\n *\n * @example\n * make()\n * make(1)\n *\n * @example\n * make(2)\n */\nexport declare function make(n?: number): void;\n',
  })
  expect(page).toContain(
    'Makes a thing.\n\n```ts\nmake()\nmake(1)\n```\n\n```ts\nmake(2)\n```\n\n```ts\nfunction make',
  )
})

test.each([
  ['a function', 'export declare function f(): void;\n', 'f'],
  ['a constant', 'export declare const f: 1;\n', 'f'],
  ['an alias', 'export type F = 1;\n', 'F'],
  [
    'an overload',
    '/** Does it. */\nexport declare function f(a: 1): 1;\nexport declare function f(a: 2): 2;\n',
    'f',
  ],
  ['an interface', 'export interface F {\n}\n', 'F'],
  ['an empty comment', '/** */\nexport interface F {\n}\n', 'F'],
  ['a comment for contributors', '// Does it.\nexport interface F {\n}\n', 'F'],
  ['a member', '/** F. */\nexport interface F {\n    one?: 1;\n}\n', 'F.one'],
  [
    'a member that only the comment of its type names',
    '/** F with `one`. */\nexport interface F {\n    one: 1;\n}\n',
    'F.one',
  ],
  ['a quoted member', "/** F. */\nexport interface F {\n    '~one': 1;\n}\n", 'F.~one'],
  ['a call', '/** F. */\nexport interface F {\n    (): 1;\n}\n', 'F.()'],
  ['a method', '/** F. */\nexport interface F {\n    one(): 1;\n}\n', 'F.one'],
  ['a method of a class', '/** F. */\nexport declare class F {\n    one(): 1;\n}\n', 'F.one'],
  ['a property of a class', '/** F. */\nexport declare class F {\n    one: 1;\n}\n', 'F.one'],
  ['an accessor', '/** F. */\nexport declare class F {\n    get one(): 1;\n}\n', 'F.one'],
  ['a symbol', '/** F. */\nexport declare class F {\n    [Symbol.dispose](): 1;\n}\n', 'F.[Symbol.dispose]'],
  ['a member of an alias', '/** F. */\nexport type F = {\n    one: 1;\n} | 2;\n', 'F.one'],
  [
    'an option of a parameter',
    '/** F. */\nexport declare function f(o: {\n    one: 1;\n}): void;\n',
    'f.one',
  ],
  [
    'an option of a constructor',
    '/** F. */\nexport declare class F {\n    constructor(o: {\n        one: 1;\n    });\n}\n',
    'F.constructor.one',
  ],
  [
    'a member within a member',
    '/** F. */\nexport interface F {\n    /** One. */\n    one: {\n        two: 2;\n    };\n}\n',
    'F.one.two',
  ],
  [
    'a member of a private alias',
    '/** F. */\nexport type F = Part[];\ntype Part = {\n    one: 1;\n};\n',
    'Part.one',
  ],
  [
    'a row that is a member',
    '/** F. */\nexport type F = {\n    [Name in keyof typeof ROWS]: 1;\n};\ndeclare const ROWS: {\n    readonly one: {\n        readonly usual: 1;\n    };\n};\n',
    'ROWS.one',
  ],
])('%s without a comment is not documented', (_, text, name) => {
  expect(undocumented({ 'index.d.ts': text })).toEqual([`src/index.ts: ${name} has no documentation`])
})

test.each([
  ['a documented member', '/** F. */\nexport interface F {\n    /** One. */\n    one?: 1;\n}\n'],
  [
    'an option that the comment of its function names',
    '/** F with `one`. */\nexport declare function f(o: {\n    one: 1;\n}): void;\n',
  ],
  [
    'a member that the comment around it names',
    '/** F. */\nexport interface F {\n    /** Has `two`. */\n    one: {\n        two: 2;\n    };\n}\n',
  ],
  ['a constructor', '/** F. */\nexport declare class F {\n    constructor();\n}\n'],
  ['a private member', '/** F. */\nexport declare class F {\n    #private;\n    private one;\n}\n'],
  ['an index signature', '/** F. */\nexport interface F {\n    [name: string]: 1;\n}\n'],
  ['a condition', '/** F. */\nexport type F<T> = T extends {\n    one: infer One;\n} ? One : never;\n'],
  ['a constraint', '/** F. */\nexport type F<T extends {\n    one: 1;\n}> = T[];\n'],
  [
    'a row with a comment',
    '/** F. */\nexport type F = {\n    [Name in keyof typeof ROWS]: 1;\n};\ndeclare const ROWS: {\n    /** One. */\n    readonly one: {\n        readonly usual: 1;\n    };\n};\n',
  ],
  [
    'a row that describes itself',
    "/** F. */\nexport type F = {\n    [Name in keyof typeof ROWS]: 1;\n};\ndeclare const ROWS: {\n    readonly one: {\n        readonly about: 'One.';\n    };\n};\n",
  ],
  ['a name of another package', "export { one } from 'other'\n"],
])('%s needs no comment', (_, text) => {
  expect(undocumented({ 'index.d.ts': text })).toEqual([])
})

test('the comment of an option that may be left out says its default', () => {
  const member = (comment: string, name: string): string => `    /** ${comment} */\n    ${name}: 1;\n`
  const body =
    member('One.', 'one?') +
    member('Two. Default: 2.', 'two?') +
    member('Three.', 'three') +
    member('It.', 'run()')
  const options = `/** F. */\nexport interface FOptions {\n${body}}\n`
  expect(undocumented({ 'index.d.ts': options })).toEqual([
    'src/index.ts: FOptions.one does not say its default',
  ])
  expect(undocumented({ 'index.d.ts': options.replace('FOptions', 'Facts') })).toEqual([])
})

test('a declaration is reported once, under the name of its own file', () => {
  const files = {
    'index.d.ts': "export { type Made as Thing } from './deep/made.js'\n",
    'client/index.d.ts': "export { type Made as Thing } from '../deep/made.js'\n",
    'deep/made.d.ts': '/** Made. */\nexport interface Made {\n    one: 1;\n}\n',
  }
  expect(undocumented(files)).toEqual(['src/deep/made.ts: Made.one has no documentation'])
})

test('the list of names has each with its first sentence, and names what an earlier sub-path has', () => {
  const root = planted({
    'index.d.ts':
      "/** Makes a thing, e.g. a\n * name. Then more. */\nexport declare function make(): string;\nexport { type Made } from './made.js'\n",
    'made.d.ts': '/** Made. */\nexport interface Made {\n}\n',
    'client/index.d.ts': "export { type Made } from '../made.js'\n",
  })
  expect(toNameList(root)).toContain(
    '## `lib`\n\n- interface `Made`: Made.\n- function `make`: Makes a thing, e.g. a name.\n\n' +
      '## `lib/client`\n\nThe same as in `lib`: `Made`.\n',
  )
  expect(toNameList(root)).toContain('](https://code.example/lib/blob/main/docs/reference/exports.md)')
})

function surface(files: Readonly<Record<string, string>>): string {
  return toSurface(planted(files))
}

function undocumented(files: Readonly<Record<string, string>>): readonly string[] {
  return findUndocumented(planted(files))
}

/** A package with these built declarations. */
function planted(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'surface-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const main = { '.': { types: './dist/index.d.ts' }, './package.json': './package.json' }
  const client = 'client/index.d.ts' in files ? { './client': { types: './dist/client/index.d.ts' } } : {}
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({
      name: 'lib',
      homepage: 'https://code.example/lib#readme',
      exports: { ...main, ...client },
    }),
  )
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'dist', path)), { recursive: true })
    writeFileSync(join(root, 'dist', path), text)
  }
  return root
}
