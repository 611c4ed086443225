import { expect, test } from 'vitest'
import { createServer, image } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { scenario } from '../harness/scenario.ts'

const SIZE = 2 * 1024 * 1024
const bytes = new Uint8Array(SIZE).map((_, at) => (at * 31) % 251)
const app = createServer({ name: 'large', version: '1' })
  .tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } } } }, ({ text }) => text)
  .tool('picture', {}, () => image(bytes, 'image/png'))
  .resource('big://bytes', { mimeType: 'application/x-big' }, () => bytes)

scenario(
  'large texts and blobs arrive whole, both ways [S3-9-10]',
  app,
  async (client) => {
    const text = 'ä✓😀\n"\\\u2028 '.repeat(SIZE / 16)
    const { content } = await client.call('echo', { text })
    expect((content as { text: string }[])[0]!.text === text).toBe(true)
    const blob = Buffer.from(bytes).toString('base64')
    const picture = await client.call('picture')
    expect((picture['content'] as { data: string }[])[0]!.data === blob).toBe(true)
    const read = await client.get('resources/read', { uri: 'big://bytes' })
    expect((read['contents'] as { blob: string }[])[0]!.blob === blob).toBe(true)
  },
  { only: ['2024-11-05', '2025-11-25', '2026-07-28'] },
)

scenario(
  'text of every alphabet, and half of a character, arrives as it was sent [S0-3.3]',
  app,
  async (client) => {
    for (const text of [
      'äöü',
      '日本語',
      '😀👨‍👩‍👧',
      '\u0000\u001f',
      '\u2028\u2029',
      '\ud800',
      '\\u0041',
      ' \t\r\n',
    ]) {
      expect((await client.call('echo', { text }))['content']).toEqual([{ type: 'text', text }])
    }
  },
)

const limits = {
  memoryBytes: 3000,
  stdioBytes: 3000,
  httpBytes: 3000,
  sseBytes: 3000,
  wsBytes: 3000,
  tcpBytes: 3000,
}
const small = createServer({ name: 'small', version: '1', limits }).tool(
  'echo',
  { input: { type: 'object' } },
  () => 'ok',
)

scenario(
  'a message over the limit is refused, and the next is served [S2-8.4-2]',
  small,
  async (client, _, stage) => {
    const fitting = client.requestText('fits', 'tools/call', { name: 'echo', arguments: { text: '' } })
    const padded = fitting.replace('"text":""', `"text":"${'x'.repeat(3000 - fitting.length)}"`)
    expect(await client.post(padded)).toMatchObject({ id: 'fits', result: { isError: false } })
    const reply = await client.post(padded.replace('"text":"', '"text":"x'))
    // Over HTTP the reply itself says which request it belongs to.
    const { id = 'fits', ...told } = reply as JsonObject
    expect(id).toBe('fits')
    expect(told).toEqual({
      jsonrpc: '2.0',
      error: {
        code: -32600,
        message: 'the message is larger than 3000 bytes',
        data: {
          maxSize: 3000,
          refusal: {
            code: 1068,
            name: 'MESSAGE_TOO_LARGE',
            httpStatus: 413,
            severity: 'error',
            retryable: false,
          },
        },
      },
    })
    // A WebSocket ends with a message that is too large: the next comes on another.
    const next = stage.transport === 'ws' ? await stage.join() : client
    await next.settle()
  },
)

test('the limits are those of the transports: 10 MB over stdio, 50 MB over HTTP [S2-1.6-1] [S2-1.6-3]', () => {
  expect(app.limits.stdioBytes).toBe(10_485_760)
  expect(app.limits.httpBytes).toBe(52_428_800)
})

test('registration keeps the limits that it is given', () => {
  expect(small.limits).toMatchObject(limits)
})
