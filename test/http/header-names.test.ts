import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'

test('H.header-proto a header is never a member that objects inherit', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasownproperty', 'X-Mine']
  const app = createServer({ name: 'x', version: '1', log: () => undefined }).tool('read', {}, (_, ctx) =>
    JSON.stringify(names.map((name) => ctx.header(name) ?? null)),
  )
  const listener = await app.listen({ http: { port: 0 } })
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  }
  const params = { name: 'read', arguments: {}, _meta: meta }
  const reply = await fetch(listener.addresses.http!, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'read',
      'x-mine': 'yes',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const text = await reply.text()
  await listener.close()
  expect(JSON.parse(text)).toMatchObject({
    result: { content: [{ text: JSON.stringify([null, null, null, null, 'yes']) }] },
  })
})
