import { readFileSync, writeFileSync } from 'node:fs'
import { run } from '../run.ts'
import type { Size } from './measure.ts'
import { markdownTable } from './table.ts'

const MARKERS = /<!-- size -->[\s\S]*<!-- \/size -->/

/** Puts the measured table between the markers in the README. */
export function fillReadme(sizes: readonly Size[]): void {
  writeFileSync('README.md', withSizes(readFileSync('README.md', 'utf8'), sizes))
  run('node_modules/.bin/oxfmt', ['README.md'])
}

/** The README with the measured table between its markers. */
export function withSizes(readme: string, sizes: readonly Size[]): string {
  if (!MARKERS.test(readme)) throw new Error('README.md has no <!-- size --> markers')
  return readme.replace(MARKERS, () => `<!-- size -->\n\n${markdownTable(sizes)}\n\n<!-- /size -->`)
}
