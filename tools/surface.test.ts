import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { toSurface } from './surface.ts'

test('each export is listed under its sub-path with its promise and its declaration', () => {
  const page = surface({
    'index.d.ts': "export { make, type Made as Thing } from './make.js'\n",
    'make.d.ts':
      '/** Makes a thing. */\nexport declare function make(name: string): Made;\nexport interface Made {\n    /** Inner words. */\n    readonly name: string;\n}\n',
    'client/index.d.ts': 'export declare const client: number;\n',
  })
  expect(page).toContain('## `lib`\n\n2 names.')
  expect(page).toContain('### `make`\n\nMakes a thing.\n\n```ts\nfunction make(name: string): Made\n```')
  expect(page).toContain('### `Thing`\n\n```ts\ninterface Made {\n    readonly name: string;\n}\n```')
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

test('overloads of one name stand together', () => {
  const page = surface({
    'index.d.ts': 'export declare function f(a: 1): 1;\nexport declare function f(a: 2): 2;\n',
  })
  expect(page).toContain('```ts\nfunction f(a: 1): 1\nfunction f(a: 2): 2\n```')
})

test('a missing build is named', () => {
  expect(() => surface({})).toThrow('dist/index.d.ts is missing; run npm run build first')
})

function surface(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'surface-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const doors = { '.': { types: './dist/index.d.ts' }, './package.json': './package.json' }
  const client = 'client/index.d.ts' in files ? { './client': { types: './dist/client/index.d.ts' } } : {}
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'lib', exports: { ...doors, ...client } }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'dist', path)), { recursive: true })
    writeFileSync(join(root, 'dist', path), text)
  }
  return toSurface(root)
}
