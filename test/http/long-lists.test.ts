import { expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { open, start } from './server.ts'

const COUNT = 400

/** A server whose list of tools is so long that its bytes are kept. */
function many(): App {
  const app = createServer({ name: 'long', version: '1.0.0' })
  for (let index = 0; index < COUNT; index++)
    app.tool(`tool-${index}`, { description: `Sägt „${index}“ 🪚 und fräst` }, () => 'ok')
  return app
}

function list(id: string | number): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })
}

function namesOf(reply: JsonObject): readonly unknown[] {
  const { tools } = reply['result'] as { tools: readonly JsonObject[] }
  return tools.map(({ name }) => name)
}

const NAMES = Array.from({ length: COUNT }, (_, index) => `tool-${index}`)

test('a long list is complete each time, for any id, and its length is in bytes', async () => {
  const session = await open((await start(many())).port)
  for (const id of [1, 'zwölf 🪚', 1]) {
    const reply = await session.post(list(id))
    expect(reply.json['id']).toBe(id)
    expect(Number(reply.headers['content-length'])).toBe(Buffer.byteLength(reply.text))
    expect(namesOf(reply.json)).toEqual(NAMES)
    expect(reply.text).toContain('Sägt „399“ 🪚')
  }
})

test('a long list that changes is encoded again', async () => {
  const { app, port } = await start(many())
  const session = await open(port)
  await session.post(list(1))
  app.tool('one-more', { description: 'New' }, () => 'ok')
  expect(namesOf((await session.post(list(2))).json)).toEqual([...NAMES, 'one-more'])
})

test('a long list is the same as an event, and as a member of a batch', async () => {
  const session = await open((await start(many())).port, '2025-03-26')
  const { events } = await session.post(list(1), { accept: 'text/event-stream' })
  expect(namesOf(JSON.parse(events.at(-1)!.data) as JsonObject)).toEqual(NAMES)
  const batch = await session.post(`[${list(2)},${list(3)}]`)
  const replies = batch.json as unknown as readonly JsonObject[]
  expect(replies.map(namesOf)).toEqual([NAMES, NAMES])
})
