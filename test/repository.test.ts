import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const GUIDES = readdirSync(new URL('../docs/guides', import.meta.url)).map((name) => `docs/guides/${name}`)

/** The guides with code; those on security and on validation have none. */
const WITH_CODE = GUIDES.filter((page) => !/\/(?:security|validate)\.md$/.test(page))

test.each(['README.md', ...WITH_CODE])(
  'every piece of code in %s stands in the file that it names',
  (page) => {
    const text = read(page)
    const fences = [...text.matchAll(/<!-- from (\S+) -->\s+```ts\n([\s\S]*?)```/g)]
    expect(fences.length).toBeGreaterThan(0)
    expect(fences.length).toBe(text.split('```ts\n').length - 1)
    for (const [, file, code] of fences) expect(squeezed(read(file!))).toContain(squeezed(code!))
  },
)

test.each(GUIDES)('%s links only what exists', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path!)
  const at = new URL(`../${page}`, import.meta.url)
  expect(links.filter((path) => !existsSync(new URL(path, at)))).toEqual([])
})

test('the README names the two commands and links only what exists', () => {
  const readme = read('README.md')
  expect(readme).toContain('npm install && npm start')
  expect(readme).toContain('npm install && npm test')
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path!)
  expect(links.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([])
})

test('commands in the guides run only files of the package', () => {
  const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] }
  const run = GUIDES.flatMap((page) => [
    ...read(page).matchAll(/(?:npx tsx|node) (\S*(?:examples|pierhead)\/[\w./-]+)/g),
  ]).map(([, file = '']) => file.replace('node_modules/pierhead/', ''))
  expect(run).toContain('examples/nodes/start.ts')
  expect(run.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([])
  for (const file of run) expect(files).toContain(file.split('/')[0])
})

test('one repository holds everything, with rules for those who work in it [S4-0-8]', () => {
  for (const file of [
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'LICENSE',
    '.gitignore',
    '.editorconfig',
  ]) {
    expect(`${file} ${read(file).length > 20}`).toBe(`${file} true`)
  }
  const examples = readdirSync(new URL('../examples', import.meta.url)).filter((name) => !name.includes('.'))
  const list = read('examples/README.md')
  expect(
    examples.filter((name) => !list.includes(`](${name})`) && !list.includes(`/main/examples/${name})`)),
  ).toEqual([])
  const readme = read('README.md')
  expect([...GUIDES, 'examples', 'ARCHITECTURE.md'].filter((path) => !readme.includes(`](${path})`))).toEqual(
    [],
  )
  expect(read('.gitignore')).toMatch(/^node_modules\/$/m)
})

test('the lock file names no registry', () => {
  expect(read('package-lock.json')).not.toMatch(/"resolved"/)
})

function squeezed(code: string): string {
  return code.replaceAll(/\s+/g, ' ').trim()
}

test('the sources parse URLs only where the length of their hosts is bounded', () => {
  const files = readdirSync(new URL('../src', import.meta.url), { recursive: true, encoding: 'utf8' })
  /** These parse only URLs of the program: options of stores, whose passwords may be long, and URIs of resources. */
  const others = /\.test\.ts$|^store\/|^server\/register-resource\.ts$|^protocol\/url\.ts$/
  const sources = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !others.test(file))
  const parses = /new URL\(|\bURL\.(?:canParse|parse)\b|domainTo(?:ASCII|Unicode)|\burl\.parse\(/
  expect(sources.length).toBeGreaterThan(500)
  expect(sources.filter((file) => parses.test(read(`src/${file}`)))).toEqual([])
  expect(parses.test(read('src/protocol/url.ts'))).toBe(true)
})
