import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keepPublicDeclarations, publicDeclarations } from './declarations.ts'

test('keeps what public declarations need, however they name it, and deletes the rest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'declarations-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = {
    'index.d.ts': `export type { A } from './a/a.ts'\nimport './augments.ts'\nexport declare const b: import("./a/b.ts").B`,
    'a/a.d.ts': `import type { C } from '../c.ts'\nexport type A = C`,
    'a/b.d.ts': 'export type B = 1',
    'augments.d.ts': 'export {}',
    'c.d.ts': 'export type C = 1',
    'inner/private.d.ts': `import type { C } from '../c.ts'`,
    'inner/private.js': 'export {}',
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }

  keepPublicDeclarations(folder, ['index.d.ts'])

  const left = Object.keys(files).filter((name) => existsSync(join(folder, name)))
  expect(left).toEqual(Object.keys(files).filter((name) => name !== 'inner/private.d.ts'))
  expect(readFileSync(join(folder, 'index.d.ts'), 'utf8')).toBe(files['index.d.ts'].replaceAll('.ts', '.js'))
})

test('finds the declarations that a package exports', () => {
  const exports = {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './client': { node: { types: './dist/client.d.ts' } },
    './package.json': './package.json',
    './none': null,
  }
  expect(publicDeclarations(exports)).toEqual(['index.d.ts', 'client.d.ts'])
})
