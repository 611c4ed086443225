import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { toLimits } from '../src/base/limits.ts'
import { METHODS } from '../src/protocol/methods.ts'
import { REVISIONS } from '../src/protocol/revisions.ts'
import { SWITCHES } from '../src/protocol/switches.ts'
import { lowering as to20241105 } from '../src/wire/2024-11-05/lower.ts'
import { lowering as to20250326 } from '../src/wire/2025-03-26/lower.ts'
import { lowering as to20250618 } from '../src/wire/2025-06-18/lower.ts'
import { lowering as to20251125 } from '../src/wire/2025-11-25/lower.ts'
import { pages, stalePages } from './pages.ts'
import { ALL_CAPABILITIES } from './pages/capabilities.ts'
import { ALL_ERRORS, ALL_REFUSALS } from './pages/errors.ts'
import { docsIn, table } from './pages/markdown.ts'

const committed = fileURLToPath(new URL('../docs/reference', import.meta.url))

test('the committed pages match the tables', () => {
  expect(stalePages(committed)).toEqual([])
})

test('a changed or missing page is reported', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'))
  try {
    mkdirSync(join(folder, 'errors'))
    for (const [name, text] of pages()) writeFileSync(join(folder, name), text)
    expect(stalePages(folder)).toEqual([])
    writeFileSync(join(folder, 'errors.md'), 'changed')
    rmSync(join(folder, 'methods.md'))
    expect(stalePages(folder)).toEqual(['methods.md', 'errors.md'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the check exits with 0 when nothing differs', () => {
  const script = fileURLToPath(new URL('pages.ts', import.meta.url))
  const run = spawnSync(process.execPath, ['--import', 'tsx', script, '--check'], {
    encoding: 'utf8',
    timeout: 15_000,
  })
  expect([run.status, run.stderr]).toEqual([0, ''])
})

test('every row of every table appears on its page', () => {
  const lines = (name: string, rows: object): void => {
    const text = pages().get(name) ?? ''
    for (const row of Object.keys(rows)) expect(text).toMatch(new RegExp(`^\\|.*\`${row}\` \\|`, 'm'))
  }
  lines('methods.md', METHODS)
  lines('errors.md', ALL_ERRORS)
  lines('errors.md', ALL_REFUSALS)
  lines('limits.md', toLimits())
  lines('capabilities.md', ALL_CAPABILITIES)
  lines('revisions.md', SWITCHES)
})

const filesOf = (folder: string): readonly string[] => [`${folder}/lower.ts`, `${folder}/lower-client.ts`]

test('every switch and every lowering rule has an explanation', () => {
  const steps = [to20241105, to20250326, to20250618, to20251125]
  const sources = [
    [['protocol/switches.ts'], SWITCHES],
    ...steps.map((step, index) => [filesOf(`wire/${REVISIONS[index]}`), step] as const),
  ] as const
  for (const [files, rows] of sources) {
    const texts = files.map((name) => readFileSync(new URL(`../src/${name}`, import.meta.url), 'utf8'))
    const docs = docsIn(texts.join('\n'))
    const text = pages().get('revisions.md') ?? ''
    for (const name of Object.keys(rows)) {
      expect(docs.get(name), `${files.join()} ${name}`).toMatch(/\.$/)
      expect(text).toContain(docs.get(name))
    }
  }
})

test('all rows of a table have the same number of cells', () => {
  for (const [name, text] of pages()) {
    for (const block of text.split('\n\n').filter((part) => part.startsWith('|'))) {
      const widths = new Set(
        block
          .trim()
          .split('\n')
          .map((line) => line.replaceAll(String.raw`\|`, '').split('|').length),
      )
      expect([name, widths.size]).toEqual([name, 1])
    }
  }
})

test('a pipe inside a cell is escaped', () => {
  expect(table(['a'], [['x | y']])).toBe(['| a |', '| --- |', String.raw`| x \| y |`].join('\n'))
})

test('every refusal and every code of profile erlmcp has a page with its cause and fix [S2-8.3-2] [S2-13-S3] [S2-8.3-12]', () => {
  const names = [...pages().keys()].filter((name) => name.startsWith('errors/'))
  expect(names).toHaveLength(61 + 38)
  for (const name of names) {
    const text = pages().get(name) ?? ''
    expect([name, text]).toEqual([name, expect.stringMatching(/^# -?\d+ [A-Z_]+\n/)])
    const isExperimental = /^errors\/refusal-109\d/.test(name)
    expect([name, text.includes('This refusal is experimental.')]).toEqual([name, isExperimental])
    for (const part of ['**Cause.** ', '**Fix.** ', '| What our client does | '])
      expect([name, text]).toEqual([name, expect.stringContaining(part)])
    const [, example = '{"code":0,"message":""}'] = /```json\n([^`]+)```/.exec(text) ?? []
    expect(Object.keys(JSON.parse(example)).join()).toMatch(/^code,message|^content,/)
  }
})

test('the page of a retryable refusal that our client does not repeat explains both', () => {
  const texts = [...pages()].flatMap(([name, text]) => (name.startsWith('errors/refusal-') ? [text] : []))
  const both = texts.filter(
    (text) => text.includes('| Retryable | yes |') && text.includes('| Throws the error. |'),
  )
  expect(both).toHaveLength(1)
  expect(both[0]).toMatch(/\*\*Fix\.\*\* .*may succeed .*our client does not repeat it by itself, because/)
})

test('the overview links to every page, and no other page exists', () => {
  const text = pages().get('errors.md') ?? ''
  const linked = [...text.matchAll(/\]\((errors\/[^)]+)\)/g)].map(([, file = '']) => file)
  expect(linked.toSorted()).toEqual(
    [...pages().keys()].filter((name) => name.startsWith('errors/')).toSorted(),
  )
  expect(
    readdirSync(join(committed, 'errors'))
      .map((file) => `errors/${file}`)
      .toSorted(),
  ).toEqual(linked.toSorted())
})
