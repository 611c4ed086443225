import { readFileSync, writeFileSync } from 'node:fs'
import { run, versionOf } from '../run.ts'
import type { Size } from './measure.ts'
import { markdownTable } from './table.ts'

const MARKERS = /<!-- size -->[\s\S]*<!-- \/size -->/

const V1 = '@modelcontextprotocol/sdk'
const V2 = '@modelcontextprotocol/server'
const PAGE = 'docs/benchmarks.md'

/** Puts the measured table between the markers on the page of benchmarks. */
export function fillPage(sizes: readonly Size[]): void {
  writeFileSync(PAGE, withSizes(readFileSync(PAGE, 'utf8'), sizes, originText()))
  run('node_modules/.bin/oxfmt', [PAGE])
}

/** The page with the measured table between its markers. */
export function withSizes(page: string, sizes: readonly Size[], origin: string): string {
  if (!MARKERS.test(page)) throw new Error(`${PAGE} has no <!-- size --> markers`)
  return page.replace(
    MARKERS,
    () => `<!-- size -->\n\n${markdownTable(sizes)}\n\n${origin}\n\n<!-- /size -->`,
  )
}

/** When and with what the sizes were measured. */
function originText(): string {
  const parts = {
    'official v1': V1,
    'official v2': V2,
    tmcp: 'tmcp',
    zod: 'zod',
    esbuild: 'esbuild',
    Vite: 'vite',
  }
  const versions = Object.entries(parts).map(([name, one]) => `${name} ${versionOf(one)}`)
  const date = new Date().toISOString().slice(0, 10)
  return `Measured on ${date} with Node ${process.versions.node}, ${versions.join(', ')}.`
}
