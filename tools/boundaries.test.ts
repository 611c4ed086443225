import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findBreaches } from './boundaries.ts'

const TABLE = {
  protocol: { may: [] },
  server: { may: ['protocol'] },
  transport: { may: ['protocol'], node: ['transport/http/server/node.ts', 'transport/stdio/'] },
  entries: { may: ['*'], node: ['*'] },
}

const SOUND = {
  'boundaries.json': JSON.stringify(TABLE),
  'src/index.ts': "export { a } from './protocol/a.ts'\nimport 'node:fs'\n",
  'src/protocol/a.ts': 'export const a = 1\n',
  'src/protocol/switches.ts':
    "export const SWITCHES = {\n  batch:   { at: [false], reader: 'server/batch.ts' },\n} as const\n",
  'src/server/batch.ts':
    "import { a } from '../protocol/a.ts'\nexport const b = (dialect) => dialect.batch && a\n",
  'src/transport/http/server/node.ts': "import { createServer } from 'node:http'\n",
  'src/transport/stdio/server.ts': "import { stdin } from 'node:process'\n",
  'ARCHITECTURE.md':
    '# Tree\n\n```\n.\n├── src/\n│   ├── index.ts   users start here\n│   │   ── pure ──\n│   ├── protocol/  tables\n│   ├── server/\n│   └── transport/\n│       └── http/\n└── test/\n```\n',
}

test('a sound tree has no breach', () => {
  expect(findBreaches(plant({}))).toEqual([])
})

const IMPORTS: readonly (readonly [string, string, string])[] = [
  ['a static import', 'src/protocol/bad.ts', "import { b } from '../server/batch.ts'\n"],
  ['a type import', 'src/protocol/bad.ts', "import type { b } from '../server/batch.ts'\n"],
  ['a re-export', 'src/protocol/bad.ts', "export { b } from '../server/batch.ts'\n"],
  ['an import of everything', 'src/protocol/bad.ts', "export * from '../server/batch.ts'\n"],
  ['an import on demand', 'src/protocol/bad.ts', "export const b = () => import('../server/batch.ts')\n"],
]
test.each(IMPORTS)('%s of a folder that the row does not name is a breach', (_kind, path, text) => {
  expect(findBreaches(plant({ [path]: text }))).toEqual(['protocol/bad.ts: protocol may not import server'])
})

test('an import inside a string or a comment is not a breach', () => {
  const text = "// import '../server/batch.ts'\nexport const text = `import x from '../server/batch.ts'`\n"
  expect(findBreaches(plant({ 'src/protocol/good.ts': text }))).toEqual([])
})

test('a folder may not import the files at the root of src', () => {
  const breaches = findBreaches(plant({ 'src/app.ts': '', 'src/server/bad.ts': "import '../app.ts'\n" }))
  expect(breaches).toEqual(['server/bad.ts: server may not import entries'])
})

test('an index file is for users, not for neighbours', () => {
  const breaches = findBreaches(plant({ 'src/server/bad.ts': "import '../index.ts'\n" }))
  expect(breaches).toEqual(['server/bad.ts: import the file itself, not index.ts'])
})

test('a Node built-in is a breach outside the listed files, with or without its prefix', () => {
  const breaches = findBreaches(
    plant({
      'src/server/bad.ts': "import 'node:fs'\n",
      'src/transport/http/server/guard.ts': "import 'fs'\n",
    }),
  )
  expect(breaches).toEqual([
    'server/bad.ts: may not import node:fs; files that may are listed in boundaries.json',
    'transport/http/server/guard.ts: may not import fs; files that may are listed in boundaries.json',
  ])
})

test('a unit test beside its source may import what it needs', () => {
  const text = "import '../server/batch.ts'\nimport 'node:fs'\n"
  expect(findBreaches(plant({ 'src/protocol/a.test.ts': text }))).toEqual([])
})

test('a folder without a row and a row without a folder are breaches', () => {
  const table = JSON.stringify({ ...TABLE, server: { may: ['rpc'] }, client: { may: [] } })
  const breaches = findBreaches(
    plant({
      'src/store/a.ts': '',
      'src/server/batch.ts': 'export const b = (dialect) => dialect.batch\n',
      'boundaries.json': table,
    }),
  )
  expect(breaches).toEqual([
    'store: the folder has no row in boundaries.json',
    'boundaries.json: there is no folder src/client',
    'boundaries.json: server may import rpc, which has no row',
    'ARCHITECTURE.md: the tree does not name client',
  ])
})

test('rows inside a folder separate its modules, and the name of the folder stands for all of them', () => {
  const table = JSON.stringify({
    protocol: TABLE.protocol,
    server: { may: ['protocol', 'transport'] },
    'transport/http': { may: ['protocol'], node: ['transport/http/server/node.ts'] },
    'transport/stdio': { may: [], node: ['*'] },
    entries: TABLE.entries,
  })
  const breaches = findBreaches(
    plant({
      'boundaries.json': table,
      'src/server/both.ts': "import '../transport/http/a.ts'\nimport '../transport/stdio/server.ts'\n",
      'src/transport/http/a.ts': "import '../stdio/server.ts'\n",
      'src/transport/stray.ts': '',
    }),
  )
  expect(breaches).toEqual([
    'transport: the folder has no row in boundaries.json',
    'transport/http/a.ts: transport/http may not import transport/stdio',
  ])
})

test('a switch read outside its reader is a breach', () => {
  const breaches = findBreaches(
    plant({
      'src/server/bad.ts': 'export const b = (ctx) => ctx.dialect.batch\n',
      'src/transport/bad.ts': 'export const b = (r) => DIALECTS[r].batch\n',
    }),
  )
  expect(breaches).toEqual([
    'server/bad.ts: the switch batch is read only in server/batch.ts',
    'transport/bad.ts: the switch batch is read only in server/batch.ts',
  ])
})

test('a switch that its reader does not read, or that another file destructures, is a breach', () => {
  const breaches = findBreaches(
    plant({
      'src/server/batch.ts': 'export const b = 1\n',
      'src/server/bad.ts':
        'export const b = (peer) => {\n  const { batch } = peer.dialect\n  return batch\n}\n',
      'src/server/worse.ts': 'export const b = (choices) => choices.batch\n',
    }),
  )
  expect(breaches).toEqual([
    'server/bad.ts: the switch batch is read only in server/batch.ts',
    'server/worse.ts: the switch batch is read only in server/batch.ts',
    'server/batch.ts: the switch batch is not read here, as its table says',
  ])
})

test('a source above 400 lines and a test above 600 are breaches', () => {
  const breaches = findBreaches(
    plant({
      'src/server/long.ts': '//\n'.repeat(401),
      'src/server/long.test.ts': '//\n'.repeat(600),
      'test/scenarios/long.test.ts': '//\n'.repeat(601),
    }),
  )
  expect(breaches).toEqual([
    'server/long.ts: 401 lines, at most 400',
    'test/scenarios/long.test.ts: 601 lines, at most 600',
  ])
})

test('a file name that says nothing is a breach', () => {
  const breaches = findBreaches(
    plant({ 'src/server/utils.ts': '', 'test/helpers.ts': '', 'tools/misc.ts': '' }),
  )
  expect(breaches).toEqual([
    'server/utils.ts: name the file after what it holds',
    'test/helpers.ts: name the file after what it holds',
    'tools/misc.ts: name the file after what it holds',
  ])
})

test('the drawn tree names the folders of boundaries.json and no others', () => {
  const page = '```\nsrc/\n  protocol/\n  server/\n    deep/\n  rooms/\ntest/\n```\n'
  expect(findBreaches(plant({ 'ARCHITECTURE.md': page }))).toEqual([
    'ARCHITECTURE.md: the tree does not name transport',
    'ARCHITECTURE.md: the tree names rooms, which has no row in boundaries.json',
  ])
  expect(findBreaches(plant({ 'ARCHITECTURE.md': '# None\n' }))).toEqual([
    'ARCHITECTURE.md: no fenced tree with src/',
  ])
})

function plant(breach: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'boundaries-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries({ ...SOUND, ...breach })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}
