import { expect, test } from 'vitest'
import type { Choices } from '../../protocol/choices.ts'
import { strictMime } from './mime.ts'

/** Reads contents of these types under the profile. */
async function read(...types: (string | undefined)[]): Promise<unknown> {
  const checks = strictMime({ strictMime: true } as Choices)
  const contents = types.map((mimeType) => ({
    uri: 'a://b',
    text: '',
    ...(mimeType !== undefined && { mimeType }),
  }))
  return checks?.middleware.wrap(undefined as never, () => Promise.resolve({ contents }))
}

// oxfmt-ignore
const KNOWN = [
  'text/plain', 'text/markdown', 'text/html', 'text/csv', 'text/xml',
  'image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml',
  'audio/wav', 'audio/mpeg', 'audio/aac', 'audio/flac', 'audio/ogg',
  'application/json', 'application/xml', 'application/pdf', 'application/octet-stream',
]

test.each([
  ...KNOWN,
  undefined,
  'Text/PLAIN',
  'text/plain; charset=utf-8',
  ' text/plain ;x',
  'application/vnd.ms-excel',
  'application/vnd.a.b+json; v=1',
])('contents of the type %s are read', async (type) => {
  expect(await read(type, type)).toMatchObject({ contents: [{ uri: 'a://b' }, { uri: 'a://b' }] })
})

test.each([
  '',
  'text/',
  'audio/',
  'video/mp4',
  'text/plain/more',
  'x-text/plain',
  'application/vnd.',
  'application/vnd.a b',
  'x-application/vnd.a',
  'image/vnd.a',
])('contents of the type %j are refused, wherever they are', async (type) => {
  const refused = { kind: 'unsupported_type', message: expect.stringContaining(type) }
  await expect(read(type)).rejects.toMatchObject(refused)
  await expect(read('text/plain', type)).rejects.toMatchObject(refused)
})

test('nothing is checked unless the profile asks for it, or where there are no contents', async () => {
  expect(strictMime({ strictMime: false } as Choices)).toBeUndefined()
  const checks = strictMime({ strictMime: true } as Choices)
  expect(await checks?.middleware.wrap(undefined as never, () => Promise.resolve({}))).toEqual({})
})
