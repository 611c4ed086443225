import { expect, test } from 'vitest'
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
