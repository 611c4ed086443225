import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { BOTH, call, headed, initialize, message } from './messages.ts'
import { start, tools } from './server.ts'
import { post, send } from './wire.ts'

const stateless = { sessions: false }

test('without sessions each request stands alone [S2-10.4-3]', async () => {
  const { port, endpoint } = await start(tools(), stateless)
  const opened = await post(port, initialize(), BOTH)
  expect([opened.status, opened.json]).toMatchObject([200, { result: { protocolVersion: '2025-11-25' } }])
  expect(opened.headers).not.toHaveProperty('mcp-session-id')
  const versioned = { ...BOTH, 'mcp-protocol-version': '2025-11-25' }
  const reply = await post(port, call('echo', { text: 'hi' }), versioned)
  expect(reply.json).toMatchObject({ id: 2, result: { content: [{ text: 'hi' }] } })
  expect(endpoint.sessions.size).toBe(0)
})

test('without sessions progress is streamed, without ids that could be resumed', async () => {
  const { port } = await start(tools(), stateless)
  const versioned = { ...BOTH, 'mcp-protocol-version': '2025-11-25' }
  const reply = await post(port, call('steps', { count: 2 }, 2, { progressToken: 1 }), versioned)
  expect(reply.events).toHaveLength(3)
  expect(reply.text).not.toMatch(/^id:/m)
})

test('without sessions GET and DELETE are refused with 405 [R079]', async () => {
  const { port } = await start(tools(), stateless)
  for (const method of ['GET', 'DELETE']) {
    const reply = await send(port, {
      method,
      headers: { accept: 'text/event-stream', 'mcp-session-id': 'x' },
    })
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST, OPTIONS'])
  }
})

test('without sessions notifications and responses get 202, and an unknown version header 400 [R076] [R089]', async () => {
  const { port } = await start(tools(), stateless)
  const response = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })
  for (const body of [message('notifications/initialized'), response]) {
    const reply = await post(port, body, BOTH)
    expect([reply.status, reply.text]).toEqual([202, ''])
  }
  const odd = { ...BOTH, 'mcp-protocol-version': '1999-01-01' }
  for (const body of [message('notifications/initialized'), message('ping', {}, 1)]) {
    expect((await post(port, body, odd)).status).toBe(400)
  }
})

test('without sessions a missing version header means 2025-03-26, which has batches [R090] [R013]', async () => {
  const { port } = await start(tools(), stateless)
  const batch = `[${message('ping', {}, 1)},${message('ping', {}, 2)}]`
  expect((await post(port, batch, BOTH)).json).toMatchObject([{ id: 1 }, { id: 2 }])
  expect((await post(port, batch, { ...BOTH, 'mcp-protocol-version': '2025-06-18' })).status).toBe(400)
})

test('without sessions two hundred handshakes leave no listener behind', async () => {
  const { port, app } = await start(tools(), stateless)
  const before = serviceOf(app).changes.listeners
  for (let each = 0; each < 4; each++) {
    await Promise.all(Array.from({ length: 50 }, () => post(port, initialize(), BOTH)))
  }
  expect(serviceOf(app).changes.listeners).toBe(before)
})

test('2026-07-28 is served the same without sessions [S2-10.4-3]', async () => {
  const { port } = await start(tools(), stateless)
  const { body, headers } = headed('tools/call', { name: 'echo', arguments: { text: 'hi' } })
  expect((await post(port, body, headers)).json).toMatchObject({ result: { content: [{ text: 'hi' }] } })
})
