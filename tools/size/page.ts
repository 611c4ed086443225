import { readFileSync, writeFileSync } from 'node:fs'
import { run } from '../run.ts'
import type { Size } from './measure.ts'
import { markdownTable } from './table.ts'

const MARKERS = /<!-- size -->[\s\S]*<!-- \/size -->/

const PAGE = 'docs/benchmarks.md'

/** Puts the measured table between the markers on the page of benchmarks. */
export function fillPage(sizes: readonly Size[]): void {
  writeFileSync(PAGE, withSizes(readFileSync(PAGE, 'utf8'), sizes))
  run('node_modules/.bin/oxfmt', [PAGE])
}

/** The page with the measured table between its markers. */
export function withSizes(page: string, sizes: readonly Size[]): string {
  if (!MARKERS.test(page)) throw new Error(`${PAGE} has no <!-- size --> markers`)
  return page.replace(MARKERS, () => `<!-- size -->\n\n${markdownTable(sizes)}\n\n<!-- /size -->`)
}
