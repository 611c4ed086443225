import { expect, test } from 'vitest'
import { McpError } from '../../../errors/error.ts'
import { ReconnectBackoff } from './reconnect-backoff.ts'
import { resume } from './resume.ts'
import { Place } from './stream.ts'

test('the body of a reply that is not wanted is discarded, so that its connection can be used again', async () => {
  let discarded = 0
  const busy = (): Response =>
    new Response(new ReadableStream({ cancel: () => void discarded++ }), { status: 503 })
  const replies = [busy(), busy(), new Response('', { headers: { 'content-type': 'text/event-stream' } })]
  const response = await resume(
    {
      place: new Place(),
      backoff: new ReconnectBackoff({ floorMs: 0, firstMs: 0, maxMs: 0 }),
      signal: new AbortController().signal,
      counted: true,
      get: () => Promise.resolve(replies.shift() as Response),
    },
    false,
  )
  expect([response?.status, discarded]).toEqual([200, 2])
})

test('a login that fails for a while does not end a stream, and one that fails for good does', async () => {
  const failed = (retryable: boolean): McpError => new McpError('login_failed', 'no', { retryable })
  const outcomes = [failed(true), failed(true), new Response('')]
  let waits = 0
  const options = {
    place: new Place(),
    backoff: new ReconnectBackoff({ floorMs: 0, firstMs: 0, maxMs: 0 }),
    signal: new AbortController().signal,
    counted: false,
    onWait: () => void waits++,
    get: async (): Promise<Response> => {
      const next = outcomes.shift()
      if (next instanceof Response) return next
      throw next as McpError
    },
  }
  expect((await resume(options, false))?.status).toBe(200)
  expect(waits).toBe(2)
  outcomes.push(failed(false), new Response(''))
  await expect(resume(options, false)).rejects.toMatchObject({ kind: 'login_failed' })
  expect(waits).toBe(2)
})
