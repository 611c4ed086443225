import { expect, test } from 'vitest'
import { openEndpoint } from '../../../app/app.ts'
import { createServer } from '../../../index.ts'
import { META } from '../../../protocol/meta.ts'
import type { HttpIn } from './parts.ts'

const LISTEN = {
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: { toolsListChanged: true },
    _meta: {
      [META.protocolVersion]: '2026-07-28',
      [META.clientCapabilities]: {},
      [META.clientInfo]: { name: 'x', version: '1' },
    },
  },
}

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'subscriptions/listen',
}

test.each<[string, Pick<HttpIn, 'body' | 'parsed'>]>([
  ['text', { body: JSON.stringify(LISTEN) }],
  ['parsed', { body: '', parsed: LISTEN }],
])('a long-lived stream does not keep the body that it began with (%s)', async (_, given) => {
  const app = createServer({ name: 'x', version: '1' }).tool('one', {}, () => 'one')
  const endpoint = await openEndpoint(app, { hosts: undefined, cors: [], sessions: true, sse: false })
  const request: HttpIn = {
    method: 'POST',
    header: (name) => HEADERS[name],
    onGone: () => undefined,
    ...given,
  }
  const out = await endpoint.answer(request)
  expect(out.stream).toBeDefined()
  expect([request.body, request.parsed]).toEqual(['', undefined])
  await app.close()
})
