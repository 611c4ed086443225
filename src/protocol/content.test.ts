import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { audio, embed, image, isContentBlock, link, text, fromBase64, toBase64 } from './content.ts'

const bytes = new Uint8Array([0, 255, 16, 32])

test('constructors build the five kinds of block [S4-1-7] [S3-7.2-2]', () => {
  expect(text('hi')).toEqual({ type: 'text', text: 'hi' })
  expect(image(bytes, 'image/png')).toEqual({ type: 'image', data: 'AP8QIA==', mimeType: 'image/png' })
  expect(audio('AAAA', 'audio/wav')).toEqual({ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' })
  expect(link('file:///a', { name: 'a', size: 3 })).toEqual({
    type: 'resource_link',
    uri: 'file:///a',
    name: 'a',
    size: 3,
  })
  expect(embed('file:///a', 'hi', 'text/plain')).toEqual({
    type: 'resource',
    resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'hi' },
  })
  expect(embed('file:///a', bytes)).toEqual({
    type: 'resource',
    resource: { uri: 'file:///a', mimeType: 'application/octet-stream', blob: 'AP8QIA==' },
  })
})

test('options become members of the block', () => {
  const options = { annotations: { priority: 1 }, _meta: { 'example.com/a': 1 } }
  expect(text('hi', options)).toEqual({ type: 'text', text: 'hi', ...options })
  expect(embed('file:///a', 'hi', undefined, options)).toMatchObject(options)
})

test('bytes become base64 with and without Buffer, also across chunks and in views', () => {
  const large = Uint8Array.from({ length: 0x6000 * 2 + 5 }, (_, index) => index % 251).subarray(3)
  const expected = Buffer.from(large).toString('base64')
  expect(image(large, 'image/png').data).toBe(expected)
  vi.stubGlobal('Buffer', undefined)
  const withoutBuffer = image(large, 'image/png').data
  vi.unstubAllGlobals()
  expect(withoutBuffer).toBe(expected)
})

test.each(['with', 'without'])(
  'base64 is read %s Buffer only in the form in which it is written',
  (buffer) => {
    if (buffer === 'without') vi.stubGlobal('Buffer', undefined)
    try {
      fc.assert(
        fc.property(fc.uint8Array(), (bytes) => {
          expect([...(fromBase64(toBase64(bytes)) ?? ['nothing'])]).toEqual([...bytes])
        }),
      )
      const broken = [
        'YQ',
        'YQ=',
        'Y',
        'YR==',
        'YQ==\n',
        ' YQ==',
        'Y Q==',
        'YQ==YQ==',
        '-_8=',
        'YQ==x',
        '!',
        'ü',
        '=',
      ]
      for (const text of broken) expect([text, fromBase64(text)]).toEqual([text, undefined])
    } finally {
      vi.unstubAllGlobals()
    }
  },
)

test('every built block is recognised', () => {
  const blocks = fc.oneof(
    fc.string().map((value) => text(value)),
    fc.uint8Array().map((value) => image(value, 'image/png')),
    fc.uint8Array().map((value) => audio(value, 'audio/wav')),
    fc.string().map((name) => link('file:///a', { name })),
    fc.oneof(fc.string(), fc.uint8Array()).map((value) => embed('file:///a', value)),
  )
  fc.assert(fc.property(blocks, (block) => isContentBlock(block)))
})

test.each([
  null,
  'text',
  [],
  {},
  { type: 'video', data: '', mimeType: '' },
  { type: 'text' },
  { type: 'text', text: 1 },
  { type: 'image', data: 'AAAA' },
  { type: 'audio', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a' },
  { type: 'resource' },
  { type: 'resource', resource: { uri: 'file:///a' } },
  { type: 'resource', resource: { text: 'a' } },
  { type: 'resource', resource: { uri: 'file:///a', text: 'a', blob: 'AAAA' } },
])('%j is not a content block', (value) => {
  expect(isContentBlock(value)).toBe(false)
})
