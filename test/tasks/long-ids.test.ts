import { expect, test, vi } from 'vitest'
import { createServer } from '../../src/index.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'
import { start } from '../gist/server.ts'

test('`subscriptions/listen` looks for no task with a longer id than tasks have: comparing many long ones takes seconds', async () => {
  const app = createServer({ name: 'rows', version: '1', log: () => undefined }).tool(
    'work',
    { task: 'optional' },
    () => 'done',
  )
  const { port } = await start(app)
  const owned = vi.spyOn(MemoryTaskStore.prototype, 'owned')
  const short = 'x'.repeat(64)
  const taskIds = [short, ...Array.from({ length: 50 }, (_, number) => `${number}`.padStart(17_000, 'x'))]
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const params = { notifications: { taskIds }, _meta: meta }
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }),
  })
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  expect(new TextDecoder().decode(value)).toContain('"taskIds":[]')
  expect(owned.mock.calls).toEqual([[[short], '']])
  owned.mockRestore()
})
