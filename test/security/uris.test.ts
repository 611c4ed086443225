import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { Context } from '../../src/server/context.ts'
import { open } from '../harness/client.ts'
import type { AnyApp } from '../harness/connection.ts'
import { scenario } from '../harness/scenario.ts'
import { processorMs } from '../harness/processor.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-root-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = join(folder, 'root')
mkdirSync(join(root, 'sub'), { recursive: true })
mkdirSync(join(folder, 'root-secret'))
writeFileSync(join(root, 'a.md'), 'public')
writeFileSync(join(root, 'sub', 'b.md'), 'public too')
writeFileSync(join(folder, 'secret.md'), 'CANARY')
writeFileSync(join(folder, 'root-secret', 'secret.md'), 'CANARY')

// Handlers as people write them, without a check of their own.
const app = createServer({ name: 'files', version: '1', log: () => undefined })
  .resource('file:///docs/{+path}', {}, ({ path }) => readFileSync(resolve(root, path), 'utf8'))
  .resource('docs://files/{+path}', {}, ({ path }) => readFileSync(join(root, path), 'utf8'))
  .resource('note://{name}', {}, ({ name }) => readFileSync(join(root, name), 'utf8'))
  .resource('tree://files{/path*}', {}, ({ path }) => readFileSync(join(root, ...path), 'utf8'))
  .resource('query://files{?path}', {}, ({ path }) => readFileSync(join(root, path ?? ''), 'utf8'))

const secret = 'secret.md'
const outside = join(folder, secret)
const SPELLINGS = [
  `../${secret}`,
  `..%2f${secret}`,
  `..%2F${secret}`,
  `%2e%2e/${secret}`,
  `%2E%2E%2F${secret}`,
  `.%2e/${secret}`,
  `%2e./${secret}`,
  `sub/../../${secret}`,
  `sub/%2e%2e/%2e%2e/${secret}`,
  `./../${secret}`,
  `.//../${secret}`,
  `..\\${secret}`,
  `..%5c${secret}`,
  `sub\\..\\..\\${secret}`,
  `%252e%252e%252f${secret}`,
  `..%252f${secret}`,
  `%c0%ae%c0%ae/${secret}`,
  `%c0%2e%c0%2e/${secret}`,
  `..%00/${secret}`,
  `../${secret}%00.md`,
  `..;/${secret}`,
  `．．/${secret}`,
  `%ef%bc%8e%ef%bc%8e/${secret}`,
  `..%20/${secret}`,
  `../root-secret/${secret}`,
  `....//${secret}`,
  `%2e%2e%5c${secret}`,
]
const BASES = ['file:///docs/', 'docs://files/', 'note://', 'tree://files/', 'query://files?path=']

scenario(
  'M.traversal no spelling of a path leads out of the folder of a template [R177] [S2-13-S10] [S2-15-9]',
  app,
  async (client) => {
    expect(await client.get('resources/read', { uri: 'docs://files/sub/b.md' })).toMatchObject({
      contents: [{ text: 'public too' }],
    })
    for (const base of BASES) {
      for (const spelling of SPELLINGS) {
        const text = client.requestText('spoilt', 'resources/read', { uri: `${base}${spelling}` })
        const reply = JSON.stringify(await client.post(text))
        expect([base, spelling, reply]).toMatchObject([base, spelling, expect.not.stringContaining('CANARY')])
        expect(reply).toContain('"error"')
        expect(reply).not.toContain(folder)
      }
    }
    for (const uri of [
      `file:///docs/${outside}`,
      `file:///docs/${encodeURIComponent(outside)}`,
      `FILE:///docs/${outside}`,
    ]) {
      expect(await client.post(client.requestText('spoilt', 'resources/read', { uri }))).toHaveProperty(
        'error',
      )
    }
  },
)

test('M.traversal the ways of real files stay open', async () => {
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  for (const uri of [
    'file:///docs/a.md',
    'docs://files/sub/b.md',
    'note://a.md',
    'tree://files/sub/b.md',
    'query://files?path=a.md',
    'note://sub%2Fb.md',
  ]) {
    expect(await client.get('resources/read', { uri })).toMatchObject({ contents: [{ uri }] })
  }
})

test('M.traversal variables do not leave the folder together with the text between them', async () => {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const split = createServer({ name: 'split', version: '1', log: () => undefined })
    .resource('file:///docs/{name}.{ext}', {}, ({ name, ext }) => read(`${name}.${ext}`))
    .resource('dots://{from}..{to}', {}, ({ from, to }) => read(`${from}..${to}`))
    .resource('hidden://.{name}', {}, ({ name }) => read(`.${name}`))
    .resource('two://files/{+dir}{+rest}', {}, ({ dir, rest }) => read(dir + rest))
    .resource('up://sub/../{name}', {}, ({ name }) => read(name))
  const client = await open(split, { transport: 'memory', revision: '2025-11-25' })
  for (const uri of [
    'file:///docs/..%2Fsecret.md',
    'file:///docs/..%5csecret.md',
    'file:///docs/sub%2F..%2F..%2Fsecret.md',
    'file:///docs/%2e.%2fsecret%2emd',
    'dots://sub%2F..%2F..%2Fsecret.md',
    'hidden://..%2Fsecret.md',
    'hidden://.%2E%2Fsecret.md',
    'two://files/../secret.md',
    'two://files/%2e%2e/secret.md',
    'up://sub/../..%2Fsecret.md',
    'up://sub/../%2e%2e%2Fsecret.md',
  ]) {
    const reply = await client.post(client.requestText('spoilt', 'resources/read', { uri }))
    const message = expect.stringMatching(/^resource ".*" does not exist$/) as string
    expect([uri, reply]).toMatchObject([uri, { error: { message } }])
  }
  for (const uri of ['file:///docs/a.md', 'file:///docs/sub%2Fb.md', 'two://files/a.md', 'up://sub/../a.md'])
    expect(await client.get('resources/read', { uri })).toMatchObject({ contents: [{ uri }] })
})

scenario(
  'M.uri-malformed URIs that are none are refused, and read nothing [R012] [R177]',
  app,
  async (client) => {
    const odd: unknown[] = [
      '',
      ' ',
      '://',
      'note://%',
      'note://%zz',
      'note://%e0%80',
      'note://\ud800',
      'http://[',
      '\0',
      'note://a\nb',
      'x'.repeat(8193),
      `note://${'a'.repeat(8192)}`,
      5,
      null,
      {},
      ['note://a.md'],
      { toString: 'note://a.md' },
    ]
    for (const uri of odd) {
      const bad = async (method: string): Promise<void> => {
        // A lone surrogate fits no header, so that at 2026-07-28 header and body differ.
        const reply = (await client.post(client.requestText('spoilt', method, { uri }))) as JsonObject
        const { code } = reply['error'] as { code: number }
        expect([uri, [-32602, -32002, -32020].includes(code)]).toEqual([uri, true])
      }
      await bad('resources/read')
      if (client.hasSession) await bad('resources/subscribe')
    }
  },
)

scenario(
  'M.uri-redos URIs that are made to keep a matcher busy are answered at once [R177]',
  () =>
    createServer({ name: 'matches', version: '1', log: () => undefined })
      .resource('a://{+a}{+b}{+c}x', {}, () => 'x')
      .resource('b://{#a*}{+b}{#c*}x', {}, () => 'x')
      .resource('c://{a}{?b*,c}', {}, () => 'x') as AnyApp,
  async (client) => {
    const long = ['a', '#,', '%41', '/', 'ü'].flatMap((part) =>
      ['a', 'b', 'c'].map((scheme) => `${scheme}://${part.repeat(8000 / part.length)}`),
    )
    for (const uri of [...long, `c://x?${'b=1&'.repeat(2000)}`]) {
      const text = client.requestText('spoilt', 'resources/read', { uri })
      let reply: unknown
      expect(await processorMs(async () => (reply = await client.post(text)))).toBeLessThan(1500)
      expect(reply).toMatchObject({ jsonrpc: '2.0' })
    }
  },
)

test('M.uri-redos no URI keeps a template busy, however the template is written [R177]', async () => {
  const templates = [
    'a://{/a*}{/b*}{/c*}',
    'b://{+a}{+b}{+c}{+d}',
    'c://{a}{b}{c}{d}{e}',
    'd://x{?a*,b*}{&c*}',
    'e://{;a*}{;b*}',
    'f://{a*}.{b*}.{c*}',
    'g://{.a*}{.b*}{#c}',
  ]
  const greedy = createServer({ name: 'greedy', version: '1' })
  for (const template of templates) greedy.resource(template, {}, () => 'x')
  const client = await open(greedy, { transport: 'memory', revision: '2025-11-25' })
  const fillings = ['/a', 'a', 'a.', '.', ',', '/', '%61', ';a', '&a=1', '?a=1&', 'a/', '=', '%2F']
  for (const template of templates) {
    const scheme = template.slice(0, 4)
    for (const filling of fillings) {
      const uri = `${scheme}${filling.repeat(8100 / filling.length)}\u0000`
      for (const one of [uri, uri.slice(0, -1)]) {
        const text = client.requestText('spoilt', 'resources/read', { uri: one })
        expect(await processorMs(() => client.post(text))).toBeLessThan(1500)
      }
    }
  }
})

const many = createServer({ name: 'many', version: '1', pageSize: 2, log: () => undefined })
for (let at = 0; at < 7; at++) {
  const visible = ({ auth }: { auth?: unknown }): boolean => auth !== undefined
  many.tool(`tool-${at}`, at % 2 === 0 ? {} : { visible }, () => at)
}
many
  .prompt('one', {}, () => 'x')
  .resource('x://one', {}, () => 'x')
  .resource('x://{a}', {}, () => 'x')

scenario(
  'M.cursor-forged M.cursor-type M.cursor-huge cursors that were not given out are refused or show nothing hidden [R183] [S3-9-7]',
  many,
  async (client) => {
    const bad: unknown[] = [
      5,
      {},
      [],
      true,
      { toString: '' },
      'x',
      'null',
      '__proto__',
      '-1',
      btoa('tools:-1'),
      btoa('tools:1e9'),
      btoa('tools:0'),
      btoa('tools:999999999'),
      btoa('tools:01'),
      btoa('tools:1 '),
      btoa('prompts:1'),
      btoa('tools:1\n'),
      btoa('tools:__proto__'),
      `${btoa('tools:1').replace(/=+$/, '')}=`,
      'x'.repeat(100_000),
      '\ud800',
      'ü',
      '../../x',
    ]
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      for (const cursor of bad) {
        if (method === 'prompts/list' && cursor === btoa('prompts:1')) continue
        const reply = (await client.post(client.requestText('spoilt', method, { cursor }))) as JsonObject
        expect([method, cursor, reply]).toMatchObject([method, cursor, { error: { code: -32602 } }])
      }
    }
    for (let place = 1; place < 40; place++) {
      const cursor = btoa(`tools:${place}`).replace(/=+$/, '')
      const reply = JSON.stringify(await client.post(client.requestText('spoilt', 'tools/list', { cursor })))
      expect(reply).not.toMatch(/tool-[135]/)
    }
  },
)

test('M.cursor-kept pages are kept where reading in order leads, not where somebody chose to begin', () => {
  const long = createServer({ name: 'long', version: '1', pageSize: 10 })
  for (let at = 0; at < 40; at++) long.tool(`t-${at}`, {}, () => at)
  const page = (cursor?: string): JsonObject =>
    serviceOf(long).tools.page(
      new Context({ params: { cursor }, peer: { dialect: {} } } as never, undefined as never),
    )
  const first = page()
  const next = first['nextCursor'] as string
  expect([page() === first, page(next) === page(next)]).toEqual([true, true])
  const place = Number(/:(\d+)/.exec(atob(next))?.[1])
  const chosen = btoa(`tools:${place + 3}`).replace(/=+$/, '')
  expect(page(chosen)).toEqual(page(chosen))
  expect(page(chosen)).not.toBe(page(chosen))
})

test.each([
  ['note://{name}', `note://${encodeURIComponent(outside)}`],
  ['note://{name}', `note://%5C${secret}`],
  ['note://{name}', `note://C%3A%5C${secret}`],
  ['tree://files{/path*}', `tree://files/sub/${encodeURIComponent(outside)}`],
])('M.traversal %s does not take an absolute path that is written as %s', async (template, uri) => {
  const files = createServer({ name: 'files', version: '1', log: () => undefined }).resource(
    template,
    {},
    (variables) => readFileSync(resolve(root, ...(Object.values(variables).flat() as string[])), 'utf8'),
  )
  const client = await open(files as AnyApp, { transport: 'memory', revision: '2025-11-25' })
  await expect(client.request('resources/read', { uri })).rejects.toMatchObject({ code: -32002 })
  const inside = uri.startsWith('note') ? 'note://sub%2Fb.md' : 'tree://files/sub/b.md'
  expect(await client.get('resources/read', { uri: inside })).toMatchObject({
    contents: [{ text: 'public too' }],
  })
  await client.close()
})

/** Values that leave a folder when a handler makes a URL of them. */
const LEAVING: readonly (readonly [string, readonly string[]])[] = [
  [
    'up://files/{+path}',
    [
      '.%09./secret.md',
      '.%0A./secret.md',
      '.%0D./secret.md',
      '%2e%09%2e%2Fsecret.md',
      '%252e%252e/secret.md',
      '.%252E/secret.md',
      '%25252e%25252e/secret.md',
      '%252e%252e%252fsecret.md',
      'file:../secret.md',
      'c:..%5Csecret.md',
      '..?x',
      '..%23x',
      'a%00b',
      'a%1Fb',
    ],
  ],
  [
    'one://{id}',
    [
      '.%09.%2Fsecret.md',
      '%252e%252e%2Fsecret.md',
      '%2Fsecret.md',
      '%09%2Fsecret.md',
      '%20%2Fsecret.md',
      '%C2%A0%2Fsecret.md',
      '%252Fsecret.md',
      'file:%2Fsecret.md',
      'file%3A%2Fsecret.md',
      'FILE%3Asecret.md',
      '%20file%3Asecret.md',
      'f%09ile%3Asecret.md',
      'https%3A%2F%2Fevil.example',
      'a-b%3A%5Csecret.md',
    ],
  ],
  ['segment://d{/a}', ['.%09.%2Fsecret.md', '%20%2Fsecret.md', 'file%3A%2Fsecret.md', '%252e%252e']],
  ['file:///docs/{+path}', ['%20/secret.md', 'a/%20/secret.md', '%09/secret.md']],
]

test.each(LEAVING)(
  'M.traversal %s has no value that a URL takes out of the folder',
  async (template, values) => {
    const urls = createServer({ name: 'urls', version: '1', log: () => undefined }).resource(
      template,
      {},
      (variables) => new URL(String(Object.values(variables)[0]), 'file:///root/docs/').href,
    )
    const client = await open(urls as AnyApp, { transport: 'memory', revision: '2025-11-25' })
    const base = template.replace(/\{.*/, '').replace(/d$/, 'd/')
    for (const value of values) {
      const reply = await client.post(client.requestText('spoilt', 'resources/read', { uri: base + value }))
      expect([value, reply]).toMatchObject([value, { error: {} }])
    }
  },
)

test('M.traversal values that only look a little like ways out are served', async () => {
  const values = createServer({ name: 'values', version: '1', log: () => undefined })
    .resource('one://{id}', {}, ({ id }) => id)
    .resource('more://{+path}', {}, ({ path }) => path)
    .resource('ask://all{?q}', {}, ({ q }) => q ?? '')
  const client = await open(values as AnyApp, { transport: 'memory', revision: '2025-11-25' })
  const texts: Readonly<Record<string, string>> = {
    'one://a%3Ab': 'a:b',
    'one://note%3A1': 'note:1',
    'one://profile%3A1': 'profile:1',
    'one://sub%2Fb.md': 'sub/b.md',
    'one://a%20b': 'a b',
    'one://12%3A30%2F45': '12:30/45',
    'one://100%25': '100%',
    'one://v1..v2': 'v1..v2',
    'one://a...': 'a...',
    'more://https://example.com/a?b=c': 'https://example.com/a?b=c',
    'ask://all?q=%2Fetc': '/etc',
  }
  for (const [uri, text] of Object.entries(texts))
    expect([uri, await client.get('resources/read', { uri })]).toMatchObject([uri, { contents: [{ text }] }])
})
