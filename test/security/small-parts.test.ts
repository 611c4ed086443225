import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { toolStream } from '../../src/extensions.ts'
import { createServer, type App } from '../../src/index.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { headed } from '../http/messages.ts'
import { start, tools } from '../http/server.ts'
import { post, Raw } from '../http/wire.ts'
import { frame, OPCODE } from '../ws/raw.ts'
import { open, start as startWs } from '../ws/server.ts'
import { collect } from '../harness/memory.ts'

const COUNT = 200_000

/** The memory in use, without what nothing refers to. */
function held(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The bytes that a server has read and not parsed. */
function unparsed(app: App): number {
  const service = serviceOf(app)
  return budgetsOf(service, app.limits).read.total
}

test('a body in chunks of one byte takes the memory of its bytes, over node:http', async () => {
  const app = tools()
  const { port } = await start(app)
  const before = held()
  const raw = new Raw(port).write(
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  )
  for (let sent = 0; sent < COUNT; sent += 10_000) raw.write('1\r\n \r\n'.repeat(10_000))
  await expect.poll(() => unparsed(app)).toBe(COUNT)
  expect((held() - before) / COUNT).toBeLessThan(40)
  raw.destroy()
})

test('a body in chunks of one byte takes the memory of its bytes, in a web handler', async () => {
  const app = tools()
  const before = held()
  let sent = 0
  let used = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ < COUNT) return controller.enqueue(new Uint8Array([32]))
      used = held() - before
      controller.close()
    },
  })
  const { status } = await app.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit),
  )
  expect(status).toBe(400)
  expect(used / COUNT).toBeLessThan(40)
})

test('a WebSocket message in fragments of one byte counts with what each fragment takes', async () => {
  const app = createServer({ name: 'pieces', version: '1', limits: { unparsedBytes: 2_000_000 } })
  const { port } = await startWs(app as never)
  const raw = await open(port)
  await raw.pour(frame('[', { fin: false }))
  const many = Buffer.concat(
    Array.from({ length: 1000 }, () => frame(' ', { fin: false, opcode: OPCODE.more })),
  )
  for (let sent = 0; sent < 12; sent++) await raw.pour(many)
  expect(await raw.closeCode()).toBe(1013)
})

test.each([
  ['mcp-method', 'tools/list'],
  ['mcp-name', 'harmless'],
])('the header %s of a method of an extension must not say something else', async (name, value) => {
  const app = tools()
  app.extend(toolStream)
  const { port } = await start(app)
  const method = 'dev.pierhead/tools/stream'
  const { body, headers } = headed(method, { name: 'echo', arguments: { text: 'x' } }, 1)
  const declared = { 'dev.pierhead/tools': {} }
  const message = JSON.parse(body) as { params: { _meta: Record<string, { extensions?: object }> } }
  message.params._meta['io.modelcontextprotocol/clientCapabilities']!.extensions = declared
  const text = JSON.stringify(message)
  const plain = { ...headers, 'mcp-method': method, 'mcp-name': 'echo' }
  const { 'mcp-method': _m, 'mcp-name': _n, ...without } = plain
  const statuses: number[] = []
  for (const sent of [plain, without, { ...plain, [name]: value }])
    statuses.push((await post(port, text, sent)).status)
  expect(statuses).toEqual([200, 200, 400])
})
