import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { parseLine } from '../../src/cli/program.ts'
import { SERVER_RULES } from '../../src/validate/server-rules.ts'

const FOLDER = new URL('../../docs/evaluation/', import.meta.url)
const REPORTS = ['official-v1', 'official-v2', 'tmcp', 'fastmcp', 'server-everything'] as const
const PAGES = ['README', 'browser', ...REPORTS] as const

const read = (page: string): string => readFileSync(new URL(`${page}.md`, FOLDER), 'utf8')

/** The command lines of a page, without comments at their ends. */
function linesOf(page: string): readonly string[] {
  return [...read(page).matchAll(/^npx pierhead .*$/gm)].map(([line]) => line.replace(/\s+#.*$/, ''))
}

/** The command that a line runs; throws for a line that is not one of ours. */
function nameIn(line: string): string | undefined {
  const parsed = parseLine(line.split(/ +/).slice(2), COMMANDS)
  return 'command' in parsed ? parsed.command.name : undefined
}

test('the overview goes through the whole pipeline, with commands that exist [S4-0-7]', () => {
  const names = linesOf('README').map((line) => nameIn(line))
  expect(names).not.toContain(undefined)
  const steps = ['create', 'add', 'dev', 'test', 'validate', 'conformance', 'install', 'build']
  expect(steps.filter((step) => !names.includes(step))).toEqual([])
  const mentioned = [...read('README').matchAll(/`pierhead (\w+)/g)].map(([, name]) => name)
  const known = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]))
  expect(mentioned.filter((name) => !known.has(name))).toEqual([])
})

test.each(REPORTS)('the report on %s can be repeated, and has only rules that exist [S4-0-7]', (page) => {
  const names = new Set(linesOf(page).map((line) => nameIn(line)))
  expect([...names]).toEqual(['validate'])
  const ids = [...read(page).matchAll(/\b[RV]\d{3}\b/g)].map(([id]) => id)
  const known = new Set(SERVER_RULES.map(({ id }) => id))
  expect(ids.length).toBeGreaterThan(10)
  expect(ids.filter((id) => !known.has(id))).toEqual([])
  expect(read('README')).toContain(`](${page}.md)`)
})

test.each(REPORTS)('the report on %s is about the version that is installed [S4-0-7]', (page) => {
  const text = read(page).split('\n## ')[0] ?? ''
  const { devDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { readonly devDependencies: Readonly<Record<string, string>> }
  const named = [...text.matchAll(/`([@\w/-]+)` (\d[\d.]*\d)/g)].map(([, name, version]) => [name, version])
  expect(named.length).toBeGreaterThan(0)
  expect(named).toEqual(named.map(([name]) => [name, devDependencies[name ?? '']]))
})

test('there is a page on browsers, and all pages link only what exists [S4-0-7]', () => {
  expect(read('README')).toContain('](browser.md)')
  for (const page of PAGES) {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) => path ?? '')
    expect(links.filter((path) => !existsSync(new URL(path, FOLDER)))).toEqual([])
  }
  // The pages are not in the package, so what is in it links them by their address.
  for (const page of ['README.md', 'docs/guides/validate.md'])
    expect(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')).toMatch(
      /\]\(https:[^)]+\/docs\/evaluation\)/,
    )
})
