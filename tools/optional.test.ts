import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findMissing, withUndefined } from './optional.ts'

/** A package with these declarations, and what the check finds in it. */
function check(files: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'optional-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const described = { exports: { '.': { types: './dist/index.d.ts' }, './package.json': './package.json' } }
  for (const [path, text] of Object.entries({ 'package.json': JSON.stringify(described), ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return findMissing(root).map(({ path, declaration, member }) => `${path} ${declaration}.${member}`)
}

test('finds an optional member that does not accept undefined, wherever it is public', () => {
  const found = check({
    'dist/index.d.ts': `
      export { open, type Options } from './app/open.ts'
      export type { Given as Named } from './given.ts'
      export * from './all.ts'
    `,
    'dist/app/open.d.ts': `
      import type { Inner } from './inner.ts'
      export interface Options { readonly good?: string | undefined; readonly bad?: string; readonly inner?: Inner | undefined }
      type Local = { readonly local?: () => void }
      export interface Unused { readonly unused?: string }
      export declare function open(options: Options & Local & { readonly inline?: number }): void
      export declare class Closed { readonly closed?: string }
    `,
    'dist/app/inner.d.ts': `export interface Inner { readonly deep?: readonly string[]; readonly any?: unknown; readonly none?: never }`,
    'dist/given.d.ts': `
      export type Given = Partial<Options>
      interface Options { readonly hidden?: string }
    `,
    'dist/all.d.ts': `export declare class Server { readonly declared?: string; method?(): void }
      export type Reads<T> = T extends { readonly input?: infer In } ? In : never`,
  })
  expect(found.toSorted()).toEqual([
    'dist/all.d.ts Server.declared',
    'dist/app/inner.d.ts Inner.deep',
    'dist/app/open.d.ts Local.local',
    'dist/app/open.d.ts Options.bad',
    'dist/app/open.d.ts open.inline',
    'dist/given.d.ts Given.Partial',
    'dist/given.d.ts Options.hidden',
  ])
})

test('follows a name through files that export all of each other and import it back', () => {
  const found = check({
    'dist/index.d.ts': `export type { Made } from './whole.ts'`,
    'dist/whole.d.ts': `export type * from './first.ts'\nexport type * from './second.ts'`,
    'dist/first.d.ts': `import type { Made } from './whole.ts'\nexport interface Uses { readonly made: Made }`,
    'dist/second.d.ts': `export interface Made { readonly bad?: string }`,
  })
  expect(found).toEqual(['dist/second.d.ts Made.bad'])
})

test('is content when every optional member accepts undefined', () => {
  const good = `export interface Options { readonly a?: string | undefined; readonly b?: ((x?: string) => void) | undefined; readonly c: string }`
  expect(check({ 'dist/index.d.ts': good })).toEqual([])
})

test('corrects exactly the members that were found', () => {
  const source = `
    export interface Options {
      /** Why. */
      readonly text?: string
      readonly run?: (input: string) => void
      readonly either?: A extends B ? 1 : 2
      readonly both?: A & B
      readonly fine?: string | undefined
      readonly other?: string
    }
    export interface Others { readonly text?: string }
  `
  const members = new Set(['text', 'run', 'either', 'both', 'fine'].map((name) => `Options.${name}`))
  const corrected = withUndefined('a.ts', source, members)
  expect(corrected).toBe(
    source
      .replace('text?: string', 'text?: string | undefined')
      .replace('(input: string) => void', '((input: string) => void) | undefined')
      .replace('A extends B ? 1 : 2', '(A extends B ? 1 : 2) | undefined')
      .replace('A & B', 'A & B | undefined'),
  )
  expect(withUndefined('a.ts', corrected, members)).toBe(corrected)
})
