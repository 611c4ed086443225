import { text } from 'node:stream/consumers'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { runProgram } from '../mounts/run-program.ts'
import { serve } from './peer.ts'

const CODERS: Readonly<Record<string, (text: string) => Uint8Array>> = {
  br: brotliCompressSync,
  gzip: gzipSync,
}

test('in Bun the client asks for replies without a coding and rejects others', async () => {
  const peer = await serve(({ message: { id, method, params } }, response) => {
    const type = { 'content-type': 'application/json' }
    if (method === 'server/discover') {
      const error = { code: -32601, message: 'unknown method' }
      return void response.writeHead(400, type).end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    }
    if (id === undefined) return void response.writeHead(method === undefined ? 405 : 202).end()
    const serverInfo = { name: 'coded', version: '1.0.0' }
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
        : { content: [{ type: 'text', text: 'answer' }] }
    const reply = JSON.stringify({ jsonrpc: '2.0', id, result })
    const coding = params?.name ?? ''
    const coder = CODERS[coding]
    if (coder === undefined) response.writeHead(200, type).end(reply)
    else response.writeHead(200, { ...type, 'content-encoding': coding }).end(coder(reply))
  })
  const child = runProgram(
    'bun',
    new URL('coded-caller.ts', import.meta.url),
    peer.url,
    'plain',
    'br',
    'gzip',
  )
  const rejected = expect.stringContaining('bad_answer: the server sent a compressed reply')
  expect(JSON.parse(await text(child.stdout))).toEqual(['answer', rejected, rejected])
  const asked = new Set(peer.seen.map(({ headers }) => headers['accept-encoding']))
  expect(asked).toEqual(new Set(['identity']))
})
