import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { serviceOf } from '../../app/app.ts'
import { createServer } from '../../index.ts'
import { META } from '../../protocol/meta.ts'
import { LineServer } from './server.ts'

const CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'mark',
    _meta: {
      [META.protocolVersion]: '2026-07-28',
      [META.clientCapabilities]: {},
      [META.clientInfo]: { name: 'x', version: '1' },
    },
  },
})

/** Serves lines while the heap has room to decode a large one, but no longer to parse it. Returns what was sent and why the sender is foreign. */
async function serveLines(
  lines: readonly string[],
): Promise<{ ran: number; sent: string; foreign: string[] }> {
  let ran = 0
  let asked = 0
  const app = createServer({ name: 'x', version: '1', log: () => undefined }).tool('mark', {}, () =>
    String(++ran),
  )
  const [input, output] = [new PassThrough(), new PassThrough()]
  const foreign: string[] = []
  const server = new LineServer({
    service: serviceOf(app),
    limits: {
      ...app.limits,
      get heap() {
        return asked++ % 2 === 0 ? 1 : 0
      },
    },
    source: {},
    maxBytes: 1_000_000,
    input,
    output,
    write: (text) => output.write(text),
    onForeign: (reason) => {
      foreign.push(reason)
      server.ignore()
    },
  })
  const taken = new Promise<void>((resolve) => input.on('end', () => server.end(resolve)))
  input.end(lines.map((line) => `${line}\n`).join(''))
  await taken
  return { ran, sent: String(output.read()), foreign }
}

test('L.http a long request line for which the heap has no room does not make a web page a client [R068]', async () => {
  const lines = [`POST /${'x'.repeat(70_000)} HTTP/1.1`, 'Host: 127.0.0.1:6000', '', CALL]
  const { ran, foreign } = await serveLines(lines)
  expect([ran, foreign]).toEqual([0, ['it sent an HTTP request']])
})

test('a large first message for which the heap has no room is rejected, and its sender is served', async () => {
  const large = CALL.replace('"mark"', `"${'x'.repeat(70_000)}"`)
  const { ran, sent, foreign } = await serveLines([large, CALL])
  expect([ran, foreign]).toEqual([1, []])
  expect(sent).toContain('short of memory')
})
