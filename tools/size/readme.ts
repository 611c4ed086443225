import { readFileSync, writeFileSync } from 'node:fs'
import { run } from '../run.ts'
import type { Size } from './measure.ts'
import { markdownTable } from './table.ts'

const MARKED = /<!-- size -->[\s\S]*<!-- \/size -->/

/** Puts the measured table between the marks in the README. */
export function fillReadme(sizes: readonly Size[]): void {
  writeFileSync('README.md', withSizes(readFileSync('README.md', 'utf8'), sizes))
  run('node_modules/.bin/oxfmt', ['README.md'])
}

/** A README with the measured table between its marks. */
export function withSizes(readme: string, sizes: readonly Size[]): string {
  if (!MARKED.test(readme)) throw new Error('README.md has no <!-- size --> marks')
  return readme.replace(MARKED, () => `<!-- size -->\n\n${markdownTable(sizes)}\n\n<!-- /size -->`)
}
