import { expect } from 'vitest'
import { createServer, ToolError } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const icons = [{ src: 'https://x.example/i.png', mimeType: 'image/png' }]
const bytes = new Uint8Array([137, 80, 78, 71, 0, 255])
const annotations = { audience: ['assistant' as const], priority: 0.3, lastModified: '2025-01-02T03:04:05Z' }

const app = createServer({ name: 'library', version: '1', log: () => undefined })
  .resource(
    'file:///notes.md',
    {
      name: 'notes',
      title: 'Notes',
      description: 'All notes',
      mimeType: 'text/markdown',
      size: 12,
      annotations,
      icons,
      _meta: { 'com.example/k': 1 },
    },
    () => '# Notes',
  )
  .resource('orders://list', {}, () => ({ open: 2 }))
  .resource('pic://logo', { mimeType: 'image/png' }, () => bytes)
  .resource('bin://raw', {}, () => bytes)
  .resource('many://all', { mimeType: 'text/csv' }, () => [
    { uri: 'many://1', text: 'a,b' },
    { uri: 'many://2', blob: bytes, mimeType: 'application/vnd.example+zip' },
    { text: 'c' },
  ])
  .resource('whole://x', {}, () => ({
    contents: [{ uri: 'whole://x/1', text: 'one', _meta: { 'com.example/p': 2 } }],
  }))
  .resource('none://x', {}, () => undefined)
  .resource('leak://x', {}, () => {
    throw new Error('password is hunter2')
  })
  .resource('told://x', {}, () => {
    throw new ToolError('the shelf is locked', { shelf: 7 })
  })

scenario(
  'the list shows each resource with its URI, its name and what the revision knows of it [R170] [S2-3.1-1] [S2-3.2-1] [S2-3.2-2] [S3-5.2-1] [S4-8-2] [S4-1-12] [S0-6.1]',
  app,
  async (client, revision) => {
    const base = {
      uri: 'file:///notes.md',
      name: 'notes',
      description: 'All notes',
      mimeType: 'text/markdown',
      size: 12,
    }
    const older = { ...base, annotations: { audience: ['assistant'], priority: 0.3 } }
    const newer = { ...base, annotations, title: 'Notes', _meta: { 'com.example/k': 1 } }
    const expected = revision < '2025-06-18' ? older : revision < '2025-11-25' ? newer : { ...newer, icons }
    const { resources } = await client.get('resources/list')
    expect((resources as unknown[])[0]).toEqual(expected)
    expect((resources as unknown[]).slice(1, 3)).toEqual([
      { uri: 'orders://list', name: 'list' },
      { uri: 'pic://logo', name: 'logo', mimeType: 'image/png' },
    ])
    const id = client.nextId()
    const again = await client.post(client.requestText(id, 'resources/list', { cursor: null }))
    expect((again as { result: object }).result).toMatchObject({ resources })
  },
)

scenario(
  'strings are read as text, bytes as base64, objects as JSON, each with its URI and type [R171] [S2-3.3-1] [S2-3.3-6] [S3-5.2-2] [S4-8-3] [S4-8-4] [S4-1-10] [S2-3.1-1]',
  app,
  async (client, revision) => {
    const read = async (uri: string): Promise<unknown> =>
      (await client.get('resources/read', { uri }))['contents']
    expect(await read('file:///notes.md')).toEqual([
      { uri: 'file:///notes.md', mimeType: 'text/markdown', text: '# Notes' },
    ])
    expect(await read('orders://list')).toEqual([
      { uri: 'orders://list', mimeType: 'application/json', text: '{"open":2}' },
    ])
    expect(await read('pic://logo')).toEqual([{ uri: 'pic://logo', mimeType: 'image/png', blob: 'iVBORwD/' }])
    expect(await read('many://all')).toEqual([
      { uri: 'many://1', mimeType: 'text/csv', text: 'a,b' },
      { uri: 'many://2', mimeType: 'application/vnd.example+zip', blob: 'iVBORwD/' },
      { uri: 'many://all', mimeType: 'text/csv', text: 'c' },
    ])
    const meta = revision >= '2025-06-18' ? { _meta: { 'com.example/p': 2 } } : {}
    expect(await read('whole://x')).toEqual([{ uri: 'whole://x/1', text: 'one', ...meta }])
  },
)

scenario('a blob without a type is sent as plain bytes [S3-7.2-2]', app, async (client) => {
  expect((await client.get('resources/read', { uri: 'bin://raw' }))['contents']).toEqual([
    { uri: 'bin://raw', mimeType: 'application/octet-stream', blob: 'iVBORwD/' },
  ])
})

const TYPES = [
  'text/plain',
  'text/markdown',
  'text/html',
  'text/csv',
  'text/xml',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/svg+xml',
  'audio/wav',
  'audio/mpeg',
  'audio/aac',
  'audio/flac',
  'audio/ogg',
  'application/json',
  'application/xml',
  'application/pdf',
  'application/vnd.example.v2+json',
]
const typed = createServer({ name: 'typed', version: '1' })
for (const [at, mimeType] of TYPES.entries()) {
  typed.resource(`t://${at}`, { mimeType }, () => (mimeType.startsWith('text/') ? 'x' : bytes))
}

scenario(
  'every MIME type passes unchanged [S2-3.3-3] [S2-3.3-4] [S2-3.3-5] [S2-3.3-6]',
  typed,
  async (client) => {
    for (const [at, mimeType] of TYPES.entries()) {
      const uri = `t://${at}`
      const data = mimeType.startsWith('text/') ? { text: 'x' } : { blob: 'iVBORwD/' }
      expect(await client.get('resources/read', { uri })).toEqual({ contents: [{ uri, mimeType, ...data }] })
    }
  },
)

scenario(
  'a missing resource is an error with its URI: -32002 before 2026-07-28, -32602 there [R172] [R173] [S3-3-2] [S3-7.3-3] [R021] [S2-8.4-2]',
  app,
  async (client, revision) => {
    const near = '; did you mean "orders://list"?'
    for (const uri of ['orders://nothing', 'none://x', '__proto__:x', 'orders://lists']) {
      const error = await refusal(client.request('resources/read', { uri }))
      expect([error.code, error.message]).toEqual([
        revision === '2026-07-28' ? -32602 : -32002,
        `resource "${uri}" does not exist${uri === 'orders://lists' ? near : ''}`,
      ])
      expect(error.data).toEqual({
        uri,
        refusal: {
          code: 1046,
          name: 'RESOURCE_NOT_FOUND',
          httpStatus: 404,
          severity: 'warn',
          retryable: false,
        },
      })
    }
  },
)

scenario('a URI must be a string of sensible length [R012] [R177]', app, async (client) => {
  for (const uri of [undefined, 5, null, '']) {
    const error = await refusal(client.request('resources/read', { uri }))
    const message = 'invalid params for resources/read: uri must be a string'
    expect([error.code, error.message]).toEqual([-32602, message])
  }
  const long = await refusal(client.request('resources/read', { uri: `x:${'a'.repeat(9000)}` }))
  expect([long.code, long.message]).toEqual([-32602, 'the URI is longer than 8192 characters'])
})

scenario(
  'a resource that fails is a masked error, unless it was meant to be told [R188] [S3-3-1]',
  app,
  async (client) => {
    const leak = await refusal(client.request('resources/read', { uri: 'leak://x' }))
    expect(leak.code).toBe(-32603)
    expect(leak.message).toMatch(/^internal error \(reference [0-9a-f-]{36}\)$/)
    const told = await refusal(client.request('resources/read', { uri: 'told://x' }))
    expect([told.code, told.message]).toEqual([-32603, 'the shelf is locked'])
    expect(told.data).toMatchObject({ shelf: 7, refusal: { retryable: false } })
  },
)

const HALF = /\p{Surrogate}/u

scenario(
  'what an error repeats of a long URI does not end in half a character',
  createServer({ name: 'x', version: '1' }).resource('x://1', {}, () => 'one'),
  async (client) => {
    // The limit on what is repeated lies in the middle of one of the faces.
    for (const pad of ['', 'x']) {
      const uri = `x://${pad}${'😀'.repeat(300)}`
      const { message, data } = await refusal(client.request('resources/read', { uri }))
      expect(message).not.toMatch(HALF)
      const shown = (data as { uri: string }).uri
      expect(uri.startsWith(shown)).toBe(true)
      expect(shown).not.toMatch(HALF)
      expect(shown.length).toBeGreaterThan(500)
    }
  },
)
