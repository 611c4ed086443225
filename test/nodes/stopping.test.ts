import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { startNodes } from './nodes.ts'

function post(body: object): string {
  const text = JSON.stringify({ jsonrpc: '2.0', ...body })
  const head = ['POST /mcp HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/json']
  head.push('accept: application/json, text/event-stream', 'mcp-protocol-version: 2025-11-25')
  return `${head.join('\r\n')}\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

test('a request that crosses the end of an idle connection of a node that stops gets 503, and does not run', async () => {
  let runs = 0
  const define = (app: App): void => void app.tool('count', {}, () => String(++runs))
  const { nodes } = await startNodes({ define })
  const [{ app, port }] = nodes as [(typeof nodes)[0]]
  const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  let problem: Error | undefined
  socket.on('error', (error) => (problem = error))
  let got = ''
  socket.setEncoding('latin1').on('data', (text: string) => (got += text))
  socket.write(post({ id: 1, method: 'ping' }))
  await expect.poll(() => got).toMatch(/^HTTP\/1.1 \d/)
  got = ''
  const closing = app.close()
  await once(socket, 'end')
  expect(got).toMatch(/^HTTP\/1.1 503 /)
  expect(got).toMatch(/\r\nretry-after: 1\r\n/i)
  expect(got).toContain('"code":1078')
  // It was sent before the client saw the reply.
  socket.end(post({ id: 2, method: 'tools/call', params: { name: 'count', arguments: {} } }))
  await once(socket, 'close')
  await closing
  expect(problem).toBeUndefined()
  expect(runs).toBe(0)
})
