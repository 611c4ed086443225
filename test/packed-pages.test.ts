import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { packedFiles } from '../tools/package.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const FILES = packedFiles()

test('every relative link in a published page leads to a published file and to a heading that exists', () => {
  const pages = new Map(FILES.filter((path) => path.endsWith('.md')).map((path) => [path, read(path)]))
  expect(pages.size).toBeGreaterThan(100)
  expect(brokenLinks(FILES, pages)).toEqual([])
})

test('links to what is not published and to headings that do not exist are found', () => {
  const page = [
    '# Title, [with](a.md) `code`',
    '## Twice',
    '## Twice',
    '[same](#twice-1) [own](#title-with-code) [file](more/b.md#b) [folder](more) [web](https://example.com/x)',
    '[gone](c.md) [no heading](more/b.md#a) [not here](#thrice) [outside](../a.md) [of a folder](more#b)',
    '```\n[code](d.md)\n# not-a-heading\n```',
    '[code](#not-a-heading)',
  ].join('\n\n')
  const pages = new Map([
    ['a.md', page],
    ['more/b.md', '# B'],
  ])
  expect(brokenLinks([...pages.keys()], pages)).toEqual([
    'a.md: c.md',
    'a.md: more/b.md#a',
    'a.md: #thrice',
    'a.md: ../a.md',
    'a.md: more#b',
    'a.md: #not-a-heading',
  ])
})

test('published pages say which commands need a clone of the repository', () => {
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts)
  const ofProjects = new Set(['start', 'dev', 'build', 'test', 'check'])
  const own = scripts.filter((name) => !ofProjects.has(name))
  const names = new RegExp(String.raw`npm (?:run )?(?:${own.join('|')})\b|npm start|CHANGELOG|changelog`)
  const pages = FILES.filter((path) => /^docs\/(?:guides\/|benchmarks)/.test(path))
  const paragraphs = pages.flatMap((path) =>
    read(path)
      .split(/\n\s*\n/)
      .filter((paragraph) => names.test(paragraph))
      .map((paragraph) => `${path}: ${paragraph}`),
  )
  expect(paragraphs.length).toBeGreaterThan(2)
  expect(paragraphs.filter((paragraph) => !paragraph.includes('repository'))).toEqual([])
})

/** The relative links, as `page: link`, whose file is not among some files or lacks their heading. */
function brokenLinks(files: readonly string[], pages: ReadonlyMap<string, string>): readonly string[] {
  const known = new Set(files.flatMap((path) => [path, ...foldersOf(path)]))
  return [...pages].flatMap(([page, text]) =>
    [...prose(text).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => {
        const [path = '', heading] = link.split('#')
        const target = path === '' ? page : posix.join(posix.dirname(page), path).replace(/\/$/, '')
        if (!known.has(target)) return true
        return heading !== undefined && !headingsOf(pages.get(target) ?? '').has(heading)
      })
      .map((link) => `${page}: ${link}`),
  )
}

function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

/** The anchors of the headings of a page, as GitHub makes them. */
function headingsOf(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [, heading = ''] of prose(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const shown = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = shown.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-')
    let name = anchor
    for (let count = 1; found.has(name); count++) name = `${anchor}-${count}`
    found.add(name)
  }
  return found
}

/** A page without its blocks of code. */
function prose(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, '')
}
