import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { capabilitiesPage } from './pages/capabilities.ts'
import { commandPage } from './pages/command.ts'
import { errorPages } from './pages/error-pages.ts'
import { errorsPage } from './pages/errors.ts'
import { limitsPage } from './pages/limits.ts'
import { methodsPage } from './pages/methods.ts'
import { revisionsPage } from './pages/revisions.ts'
import { switchesPage } from './pages/switches.ts'
import { transportsPage } from './pages/transports.ts'

/** The pages of docs/reference that are generated from tables, by file name. */
export function pages(): ReadonlyMap<string, string> {
  return new Map([
    ['methods.md', methodsPage()],
    ['errors.md', errorsPage()],
    ...errorPages(),
    ['limits.md', limitsPage()],
    ['capabilities.md', capabilitiesPage()],
    ['revisions.md', revisionsPage()],
    ['switches.md', switchesPage()],
    ['transports.md', transportsPage()],
    ['command.md', commandPage()],
  ])
}

/** The names of pages in a folder that are missing or out of date. */
export function stalePages(folder: string): readonly string[] {
  return [...pages()].filter(([name, text]) => readPage(`${folder}/${name}`) !== text).map(([name]) => name)
}

function readPage(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** Writes the pages, or with `--check` only checks that they are up to date. */
function main(flags: readonly string[]): number {
  const folder = fileURLToPath(new URL('../docs/reference', import.meta.url))
  const stale = stalePages(folder)
  if (!flags.includes('--check')) {
    mkdirSync(`${folder}/errors`, { recursive: true })
    for (const [name, text] of pages()) writeFileSync(`${folder}/${name}`, text)
    console.log(stale.length === 0 ? 'The reference pages were up to date.' : `Written: ${stale.join(', ')}`)
    return 0
  }
  for (const name of stale)
    console.error(`docs/reference/${name} differs from the tables: run tsx tools/pages.ts`)
  return stale.length === 0 ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2))
