import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { patternsThatMatchAll, withoutAssertion } from './assertions.ts'

const ROOT = new URL('../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8')
const ALL = ['src', 'test', 'tools', 'bench'].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`),
)
const FILES = ALL.filter((file) => /\bscenario\(|\brun\b/.test(read(file)))

test('every scenario and every check asserts something', () => {
  expect(FILES.length).toBeGreaterThan(50)
  expect(FILES.flatMap((file) => withoutAssertion(file, read(file)).map((title) => [file, title]))).toEqual(
    [],
  )
})

test.each([
  ["scenario('silent', app, async (client) => { await client.ping() })", ["'silent'"]],
  ["scenario('silent', async (client) => { await client.ping() }, { since: 'x' })", ["'silent'"]],
  [
    "scenario('only its app asserts', () => { expect(1).toBe(1) }, async () => undefined)",
    ["'only its app asserts'"],
  ],
  ["scenario('silent', app, run)", ["'silent'"]],
  ["const checks = [{ title: 'silent', run: async () => undefined }]", ["'silent'"]],
  ["const checks = [{ title: 'silent', run() {} }]", ["'silent'"]],
  ["const checks = [{ title: 'elsewhere', run: check }]", ["'elsewhere'"]],
  ["scenario('loud', app, async (client) => { expect(await client.ping()).toEqual({}) })", []],
  ["scenario('loud', async (client) => { await expectAlive(client) })", []],
  ["const checks = [{ title: 'loud', run: async () => { expect(1).toBe(1) } }]", []],
  ["scenario('loud', async (client) => { await expect.poll(() => client.state).toBe('ready') })", []],
  ["scenario('silent', async (client) => { await client.call(expect.any(String)) })", ["'silent'"]],
  ["const page = { title: 'not a check' }", []],
])('%s', (text, found) => {
  expect(withoutAssertion('planted.test.ts', text)).toEqual(found)
})

test('toMatchObject never gets a regular expression, which would match anything', () => {
  const files = ALL.filter((file) => read(file).includes('.toMatchObject('))
  expect(files.length).toBeGreaterThan(50)
  expect(
    files.flatMap((file) => patternsThatMatchAll(file, read(file)).map((found) => [file, found])),
  ).toEqual([])
})

test.each([
  ['expect(a).toMatchObject({ b: /c/ })', ['/c/']],
  ['await expect(a).rejects.toMatchObject({ b: { c: [1, /d/s] }, e: /f/ })', ['/d/s', '/f/']],
  ['expect(a).not.toMatchObject([{ b: /c/ }])', ['/c/']],
  ['expect(a).toMatchObject({ b: expect.stringMatching(/c/) })', []],
  ["expect(a.replace(/b/, 'c')).toMatchObject({ d: 'e' })", []],
  ['expect(a).toThrow(/b/)', []],
])('%s has the patterns %o, which match anything', (text, found) => {
  expect(patternsThatMatchAll('planted.test.ts', text)).toEqual(found)
})
