import { expect, onTestFinished, test, vi } from 'vitest'
import { REVISIONS } from '../protocol/revisions.ts'
import type { ServerOptions } from './options.ts'
import { createServer } from './app.ts'
import { checkMount, infoOf, revisionsOf, secretsOf } from './settings.ts'

const OWN = { name: 'a', version: '1' }

function given(options: object): ServerOptions {
  return { ...OWN, ...options } as ServerOptions
}

test('revisions are served oldest first, all unless some are named', () => {
  expect(revisionsOf(OWN)).toEqual(REVISIONS)
  expect(revisionsOf(given({ revisions: ['2026-07-28', '2024-11-05', '2026-07-28'] }))).toEqual([
    '2024-11-05',
    '2026-07-28',
  ])
})

test.each(['2025-01-01', '', 5, null, undefined])('the revision %j is rejected', (unknown) => {
  for (const revisions of [[unknown], ['2025-11-25', unknown]])
    expect(() => createServer(given({ revisions }))).toThrow(
      `revisions must be a list, each element '2024-11-05'`,
    )
})

test('words for what no server does yet are accepted, and the log says that they do nothing', () => {
  const log = vi.fn<(level: string, text: string) => void>()
  createServer(given({ capabilities: ['async', 'registry', 'code_exec', 'stream', 'sandbox'], log }))
  expect(log.mock.calls.map(([, text]) => text)).toEqual([
    'capabilities: registry, code_exec, sandbox: Pierhead has no such features, so clients are not told of them; leave these words out',
  ])
})

test('an empty list of revisions is rejected', () => {
  expect(() => revisionsOf(given({ revisions: [] }))).toThrow('revisions: name at least one revision')
})

test.each([1, 1000])('a page may have %d items', (pageSize) => {
  expect(() => createServer(given({ pageSize }))).not.toThrow()
})

test.each([0, -1, 1.5, Number.NaN, Infinity, '5'])('a page may not have %j items', (pageSize) => {
  expect(() => createServer(given({ pageSize }))).toThrow('createServer: pageSize must be')
})

test('a page has 1000 items by default', () => {
  const app = createServer(OWN)
  for (let at = 0; at < 1001; at++) app.tool(`t${at}`, {}, () => '')
  const replies: string[] = []
  const end = app.connect({ receive: (text) => void replies.push(text) })
  onTestFinished(() => end.close())
  const clientInfo = { name: 'c', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  end.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  end.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }))
  const { result } = JSON.parse(replies[1] as string) as { result: { tools: unknown[]; nextCursor?: string } }
  expect([result.tools.length, typeof result.nextCursor]).toEqual([1000, 'string'])
})

test('a server reports only the facts it was given about itself', () => {
  const shown = { title: 'A', description: 'B', websiteUrl: 'https://a.example', icons: [] }
  expect(infoOf(given({ ...shown, instructions: 'C' }))).toEqual({ ...OWN, ...shown })
  expect(Object.keys(infoOf(given({ title: undefined })))).toEqual(['name', 'version'])
  expect(infoOf({ id: 'b', version: '1' })).toEqual({ name: 'b', version: '1' })
})

test('an id that differs from the name is rejected, because both mean the same', () => {
  expect(() => createServer({ ...OWN, id: 'b' })).toThrow(
    'createServer: "id" is another word for "name", and they differ; write only name: \'a\', and title for people',
  )
  expect(infoOf({ ...OWN, id: OWN.name })).toEqual(OWN)
})

test.each([
  [{ name: undefined }, 'a server needs a name'],
  [{ name: '' }, 'a server needs a name'],
  [{ version: undefined }, 'a server needs a version'],
  [{ name: 5 }, 'name must be a string'],
  [{ version: 1.2 }, 'version must be a string'],
])('creating a server with %o fails: %s', (wrong, message) => {
  expect(() => createServer(given(wrong))).toThrow(`createServer: ${message}`)
})

test('secrets come from the option, or else from the environment', () => {
  vi.stubEnv('PIERHEAD_SECRET', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const [one, two] = ['1'.repeat(16), '2'.repeat(16)]
  expect(secretsOf(OWN)).toBeUndefined()
  expect(secretsOf(given({ secret: one }))).toEqual([one])
  vi.stubEnv('PIERHEAD_SECRET', two)
  expect(secretsOf(OWN)).toEqual([two])
  expect(secretsOf(given({ secret: [one, two] }))).toEqual([one, two])
})

test('the environment is read when it is needed, not when a server is created', async () => {
  vi.stubEnv('PIERHEAD_SECRET', 'short')
  onTestFinished(() => void vi.unstubAllEnvs())
  const app = createServer(given({}))
  await expect(app.listen({ http: { port: 0 } })).rejects.toThrow('secret: use at least 16 characters')
  expect(() => createServer(given({ secret: 'short' }))).toThrow('secret: use at least 16 characters')
})

test.each([['1'.repeat(15)], [''], [[]], [['1'.repeat(16), '2'.repeat(15)]]])(
  'the secret %j is too short',
  (secret) => {
    expect(() => secretsOf(given({ secret }))).toThrow('secret: use at least 16 characters')
  },
)

test.each([
  [{ hosts: 'a.example' }, "listen: hosts must be a list, each element a string; write hosts: ['a.example']"],
  [{ cors: 'https://a' }, "listen: cors must be a list, each element a string; write cors: ['https://a']"],
  [{ gist: { cycle: 'year' } }, "listen gist: cycle must be 'revision' or 'month'"],
  [{ gist: { cycles: 'month' } }, 'listen gist: there is no option "cycles"'],
])('the options %o are rejected: %s', (options, message) => {
  expect(() => checkMount('listen', options as never)).toThrow(message)
})

test.each([
  {},
  { hosts: [], cors: [] },
  { gist: true },
  { gist: false },
  { gist: {} },
  { gist: { cycle: 'revision' } },
  { gist: { cycle: 'month' } },
] as const)('the options %o are accepted', (options) => {
  expect(() => checkMount('listen', options)).not.toThrow()
})
