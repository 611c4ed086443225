import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectGist, type GistClient } from '../../src/gist.ts'
import { failureOf } from '../harness/failure.ts'
import { serve } from '../http-client/peer.ts'

const DESCRIPTOR = { mcp_version: '2025-11', session: '00000000-0000-4000-8000-000000000001' }
const GONE = {
  status: 'error',
  error: { code: -32001, message: 'gone', refusal: { code: 1026, name: 'INVALID_SESSION_ID' } },
}

type Stall = (response: ServerResponse) => void

/** What a server does with the second handshake. */
const STALLS: Readonly<Record<string, Stall>> = {
  silence: () => undefined,
  progress: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const timer = setInterval(() => response.write('data: {"status":"in_progress"}\n\n'), 20)
    response.on('close', () => clearInterval(timer))
  },
}

/** A client whose server forgets the session and does not open another. */
async function stalled(stall: Stall): Promise<{ readonly client: GistClient; shakes(): number }> {
  let shakes = 0
  const { url } = await serve(({ message }, response) => {
    const isShake = 'mcp_version' in message
    if (isShake && ++shakes > 1) return stall(response)
    const reply = isShake
      ? DESCRIPTOR
      : { ...GONE, request_id: (message as Record<string, unknown>)['request_id'] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
  const client = await connectGist(url)
  onTestFinished(() => client.close())
  return { client, shakes: () => shakes }
}

describe.each(Object.entries(STALLS))(
  'a new handshake that ends in %s does not hold a request longer',
  (_, stall) => {
    test('than its total', async () => {
      const { client } = await stalled(stall)
      const failures = await Promise.all([
        failureOf(client.call('slow', {}, { total: 200 })),
        failureOf(client.tools({ total: 200 })),
      ])
      expect(failures).toMatchObject([{ kind: 'timeout' }, { kind: 'timeout' }])
    })

    test('than until its signal aborts, and concurrent requests share it', async () => {
      const { client, shakes } = await stalled(stall)
      const stop = new AbortController()
      const calls = [
        client.call('a', {}, { signal: stop.signal }),
        client.call('b', {}, { signal: stop.signal }),
      ]
      const failures = Promise.all(calls.map(failureOf))
      await expect.poll(shakes).toBe(2)
      stop.abort()
      expect(await failures).toMatchObject([{ kind: 'cancelled' }, { kind: 'cancelled' }])
      expect(shakes()).toBe(2)
    })
  },
)

test('a new handshake without an answer does not hold a call longer than its timeout', async () => {
  const { client } = await stalled(() => undefined)
  expect(await failureOf(client.call('slow', {}, { timeout: 200 }))).toMatchObject({ kind: 'timeout' })
})

test('the total of connecting covers both offers of a handshake', async () => {
  const total = 800
  const offer = async (firstMs: number): Promise<number> => {
    let offers = 0
    const { url } = await serve((_, response) => {
      if (++offers > 1) return
      const reply = {
        status: 'error',
        error: { code: -32022, message: 'no', data: { supported: ['2025-06-18'] } },
      }
      setTimeout(
        () => response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(reply)),
        firstMs,
      )
    })
    const begun = performance.now()
    expect(await failureOf(connectGist(url, { total }))).toMatchObject({ kind: 'timeout' })
    return performance.now() - begun
  }
  const quick = await offer(0)
  expect(await offer(0.75 * total)).toBeLessThan(1.5 * quick)
})
