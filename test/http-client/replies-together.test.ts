import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type Client, type ClientLimits } from '../../src/client.ts'
import { LATEST } from '../../src/protocol/revisions.ts'

const EARLIER = '2025-11-25'
const BYTES = 60_000
const LIMITS = { clientBytes: 100_000, clientUnparsedBytes: 200_000 }

/** A server whose replies to calls wait after most of their bytes until they are finished. */
async function slowServer(kind: 'json' | 'stream') {
  const waiting: { readonly response: ServerResponse; readonly rest: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const { id, method } = JSON.parse(body) as { readonly id?: number; readonly method: string }
      if (id === undefined) return response.writeHead(202).end()
      const reply = (result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result })
      if (method !== 'tools/call') {
        const capabilities = { tools: {} }
        const about = { serverInfo: { name: 'slow', version: '1' }, capabilities }
        const result =
          method === 'initialize'
            ? { ...about, protocolVersion: EARLIER }
            : {
                ...about,
                resultType: 'complete',
                supportedVersions: [LATEST],
                ttlMs: 0,
                cacheScope: 'private',
              }
        return response.writeHead(200, { 'content-type': 'application/json' }).end(reply(result))
      }
      const content = [{ type: 'text', text: 'x'.repeat(BYTES) }]
      const message = reply({ resultType: 'complete', content })
      const text = kind === 'json' ? message : `: hello\n\ndata: ${message}\n\n`
      response.writeHead(200, { 'content-type': kind === 'json' ? 'application/json' : 'text/event-stream' })
      response.write(text.slice(0, BYTES))
      return waiting.push({ response, rest: text.slice(BYTES) })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const finish = (): void => {
    for (const { response, rest } of waiting.splice(0)) response.end(rest)
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, waiting, finish }
}

async function meet(
  kind: 'json' | 'stream',
  limits: Partial<ClientLimits>,
  revision: typeof LATEST | typeof EARLIER = LATEST,
) {
  const server = await slowServer(kind)
  const client: Client = await connect(server.url, { limits, revision, recovery: false })
  onTestFinished(() => client.close())
  return { ...server, client }
}

const RIGHT = { status: 'fulfilled' }
const WRONG = {
  status: 'rejected',
  reason: {
    kind: 'answer_too_large',
    message: expect.stringContaining('200000 bytes at once') as string,
    hint: expect.stringContaining('limits.clientUnparsedBytes') as string,
  },
}

test.each([
  ['json', LATEST],
  ['stream', LATEST],
  ['json', EARLIER],
  ['stream', EARLIER],
] as const)('all replies that a server has not finished share a limit: %s at %s', async (kind, revision) => {
  const { client, waiting, finish } = await meet(kind, LIMITS, revision)
  // Twice, since what has been read or was rejected no longer counts.
  for (let time = 0; time < 2; time++) {
    let ended = 0
    const calls = Array.from({ length: 6 }, () => client.call('a').finally(() => ended++))
    const outcomes = Promise.allSettled(calls)
    await expect.poll(() => [waiting.length, ended]).toEqual([6, 3])
    finish()
    const sorted = (await outcomes).toSorted((a, b) => a.status.localeCompare(b.status))
    expect(sorted).toMatchObject([RIGHT, RIGHT, RIGHT, WRONG, WRONG, WRONG])
  }
  const calls = Array.from({ length: 3 }, () => client.call('a'))
  await expect.poll(() => waiting.length).toBe(3)
  finish()
  expect(await Promise.all(calls)).toHaveLength(3)
})

test('calls that are cancelled free what their replies took', async () => {
  const { client, waiting, finish } = await meet('stream', LIMITS)
  for (let time = 0; time < 4; time++) {
    const leaving = new AbortController()
    const calls = Array.from({ length: 3 }, () => client.call('a', {}, { signal: leaving.signal }))
    const outcomes = Promise.allSettled(calls)
    await expect.poll(() => waiting.length).toBe(3)
    leaving.abort()
    expect(await outcomes).toMatchObject(
      calls.map(() => ({ status: 'rejected', reason: { kind: 'cancelled' } })),
    )
    waiting.splice(0)
  }
  const calls = Array.from({ length: 3 }, () => client.call('a'))
  await expect.poll(() => waiting.length).toBe(3)
  finish()
  expect(await Promise.all(calls)).toHaveLength(3)
})

test('a single reply may be as long as clientBytes says', async () => {
  const { client, waiting, finish } = await meet('json', { clientBytes: 100_000, clientUnparsedBytes: 10 })
  const call = client.call('a')
  await expect.poll(() => waiting.length).toBe(1)
  finish()
  expect(String(await call).length).toBe(BYTES)
})
