import { expect, test } from 'vitest'
import { toOrdinaryReply } from './error-reply.ts'

const headers = { 'content-type': 'application/json' }
const reply = (body: BodyInit): Response => new Response(body, { status: 404, headers })

test('the error that answers a request is an ordinary reply, whatever its status', async () => {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 1048, message: 'no such tool' } })
  const changed = await toOrdinaryReply(reply(text))
  expect([changed.status, await changed.text()]).toEqual([200, text])
})

test('an error about the caller keeps its status, and so does what answers nothing', async () => {
  const error = { code: -32600, message: 'gone', data: { refusal: { code: 1016 } } }
  for (const body of [{ id: 1, error }, { error: { code: 1, message: 'x' } }, { id: 1, result: {} }])
    expect((await toOrdinaryReply(reply(JSON.stringify(body)))).status).toBe(404)
  expect((await toOrdinaryReply(reply('not JSON'))).status).toBe(404)
})

test('C.gzip-bomb a reply without an end is not read to it', async () => {
  const piece = new Uint8Array(65_536).fill(32)
  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      pulled++
      controller.enqueue(piece)
    },
  })
  expect((await toOrdinaryReply(reply(endless))).status).toBe(404)
  expect(pulled).toBeLessThan(32)
})
