import { expect, test, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createServer } from '../../src/index.ts'
import { start } from '../gist/server.ts'

const ROWS = Array.from({ length: 20_000 }, (_, row) => ({ row }))

/** The characters that this process parses and writes as JSON during `act`. */
async function charsOf(act: () => Promise<unknown>): Promise<number> {
  const [parse, stringify] = [vi.spyOn(JSON, 'parse'), vi.spyOn(JSON, 'stringify')]
  await act()
  const parsed = parse.mock.calls.map(([text]) => text.length)
  const written = stringify.mock.results.map(({ value }) => (value as string | undefined)?.length ?? 0)
  parse.mockRestore()
  stringify.mockRestore()
  return [...parsed, ...written].reduce((sum, chars) => sum + chars, 0)
}

test('small requests for a long result of a task do not make the server parse and write it each time', async () => {
  const app = createServer({ name: 'rows', version: '1', log: () => undefined }).tool(
    'rows',
    { task: 'optional' },
    () => ({ content: [{ type: 'text', text: 'see rows' }], structuredContent: { rows: ROWS } }),
  )
  const { port } = await start(app)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const post = async (method: string, params: object, id?: number): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', method, params, id })
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body })
    const session = response.headers.get('mcp-session-id')
    if (session !== null) headers['mcp-session-id'] = session
    return response.text()
  }
  const client = { capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  await post('initialize', { protocolVersion: '2025-11-25', ...client }, 1)
  headers['mcp-protocol-version'] = '2025-11-25'
  await post('notifications/initialized', {})
  const created = await post('tools/call', { name: 'rows', arguments: {}, task: {} }, 2)
  const taskId = /"taskId":"([^"]+)"/.exec(created)?.[1] as string
  const result = async (): Promise<string> => post('tasks/result', { taskId }, 3)
  const job = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/jobs/${taskId}`)).text()
  for (const read of [result, job]) {
    const first = await read()
    expect(first).toContain('"row":19999')
    let again = ''
    expect(await charsOf(async () => (again = await read()))).toBeLessThan(5000)
    const inner = (text: string): unknown =>
      (JSON.parse(text.slice(text.indexOf('{'))) as { result: unknown }).result
    expect(inner(again)).toEqual(inner(first))
  }
})

test('nor do calls with the key of a task that has ended', async () => {
  let calls = 0
  const auth = bearer((token) => ({ sub: token }))
  const app = createServer({ name: 'rows', version: '1', log: () => undefined, auth }).tool(
    'rows',
    { task: { key: () => 'the rows' } },
    () => ({ content: [{ type: 'text', text: `call ${++calls}` }], structuredContent: { rows: ROWS } }),
  )
  const { port } = await start(app)
  const read = async (): Promise<string> => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    }
    const params = { name: 'rows', arguments: {}, _meta: meta }
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: 'Bearer ann',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'rows',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    return response.text()
  }
  const first = await read()
  expect(first).toContain('"row":19999')
  let again = ''
  expect(await charsOf(async () => (again = await read()))).toBeLessThan(5000)
  expect(JSON.parse(again.slice(again.indexOf('{')))).toEqual(JSON.parse(first.slice(first.indexOf('{'))))
  expect(calls).toBe(1)
})
