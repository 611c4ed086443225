import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { listen, methodOf, serveWell, tool, web, type Web } from './peer.ts'
import type { Case, Outcome } from './small-client.ts'

const MB = 1024 * 1024
const CHUNK = Buffer.alloc(MB, 'x')
/** What a client may hold that reads messages of 16 MB, the runtime and the compiler of these tests included. */
const MOST_MB = 420

/** Runs a client with little memory against servers, and says how each case ended. */
async function small(cases: readonly Case[]): Promise<readonly Outcome[]> {
  const program = fileURLToPath(new URL('small-client.ts', import.meta.url))
  const args = ['--max-old-space-size=160', '--conditions=pierhead-source', '--import', 'tsx', program]
  const child = spawn(process.execPath, [...args, JSON.stringify(cases)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  expect([code, signal, out.slice(0, 200)]).toEqual([0, null, expect.stringContaining('[')])
  return JSON.parse(out) as readonly Outcome[]
}

/** Writes up to so many megabytes, as fast as they are taken. */
function pour(response: ServerResponse, megabytes: number, start = ''): void {
  let left = megabytes
  if (start !== '') response.write(start)
  const more = (): void => {
    while (left-- > 0 && !response.destroyed)
      if (!response.write(CHUNK)) return void response.once('drain', more)
    response.end()
  }
  more()
}

/** A server that is well-behaved until a tool is called. */
function calling(reply: (response: ServerResponse, id: number) => void): Promise<Web> {
  return web((request, response) => {
    if (methodOf(request) !== 'tools/call') return serveWell(request, response, '2026-07-28')
    return reply(response, (JSON.parse(request.body) as { id: number }).id)
  })
}

test('C.json-huge C.sse-huge-event C.gzip-bomb answers of half a gigabyte and more do not exhaust memory', async () => {
  const members = gzipSync(Buffer.alloc(16 * MB, 'x'))
  const bomb = Buffer.concat(Array.from({ length: 64 }, () => members))
  const stacked = gzipSync(bomb)
  const start = (id: number): string =>
    `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`
  const json = { 'content-type': 'application/json' }
  const sse = { 'content-type': 'text/event-stream' }
  const servers = await Promise.all([
    calling((response, id) => pour(response.writeHead(200, json), 512, start(id))),
    calling((response) =>
      pour(response.writeHead(200, { ...json, 'content-length': String(512 * MB) }), 512),
    ),
    calling((response) => pour(response.writeHead(500, json), 512)),
    calling((response) => pour(response.writeHead(404, { 'content-type': 'text/html' }), 512)),
    calling((response, id) => pour(response.writeHead(200, sse), 512, `data: ${start(id)}`)),
    calling((response) => pour(response.writeHead(200, sse), 512, ': ')),
    calling((response) => pour(response.writeHead(200, sse), 512, 'id: ')),
    ...[json, sse].map((type) =>
      calling((response) => response.writeHead(200, { ...type, 'content-encoding': 'gzip' }).end(bomb)),
    ),
    calling((response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip, gzip' }).end(stacked),
    ),
    calling((response) => response.writeHead(500, { ...json, 'content-encoding': 'gzip' }).end(bomb)),
  ])
  const outcomes = await small(servers.map(({ url }) => ({ url, use: 'call' })))
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ name: 'McpError', after: 'works' })
    expect(outcome.ms).toBeLessThan(5000)
    expect(outcome.rssMb).toBeLessThan(MOST_MB)
  }
})

test('C.json-huge a body that is longer than it claims does not exhaust memory', async () => {
  const port = await listen(
    createServer((socket) => {
      socket.once('data', () => {
        socket.write(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\ntransfer-encoding: chunked\r\n\r\n',
        )
        const more = (): void => {
          while (!socket.destroyed) {
            socket.write('100000\r\n')
            if (!socket.write(Buffer.concat([CHUNK, Buffer.from('\r\n')])))
              return void socket.once('drain', more)
          }
        }
        more()
      })
    }),
  )
  const [outcome] = await small([{ url: `http://127.0.0.1:${port}/mcp`, use: 'call' }])
  expect(outcome).toMatchObject({ name: 'McpError' })
  expect(outcome!.rssMb).toBeLessThan(MOST_MB)
})

test('C.values answers and notifications of millions of empty objects do not exhaust memory', async () => {
  const empties = `[${'{},'.repeat(5_000_000)}{}]`
  const text = (id: number): string =>
    `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":${empties}}}`
  const notice = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${empties}}}`
  const json = { 'content-type': 'application/json' }
  const sse = { 'content-type': 'text/event-stream' }
  const servers = await Promise.all([
    calling((response, id) => response.writeHead(200, json).end(text(id))),
    calling((response, id) => response.writeHead(200, sse).end(`data: ${text(id)}\n\n`)),
    calling((response) => response.writeHead(200, sse).end(`data: ${notice}\n\n`)),
    calling((response) => response.writeHead(200, json).end(`[${notice}]`)),
  ])
  for (const outcome of await small(servers.map(({ url }) => ({ url, use: 'call' })))) {
    expect(outcome).toMatchObject({
      name: 'McpError',
      message: expect.stringContaining('more than 500000 objects and lists') as string,
      after: 'works',
    })
  }
})

test('C.encoding-stack 5 000 stacked encodings do not hang the client', async () => {
  const servers = await Promise.all(
    ['gzip', 'br', 'deflate', 'identity'].map((coding) =>
      calling((response) =>
        response
          .writeHead(200, {
            'content-type': 'application/json',
            'content-encoding': Array.from({ length: coding === 'gzip' ? 2500 : 1500 }, () => coding).join(
              ',',
            ),
          })
          .end('{}'),
      ),
    ),
  )
  const long = await calling((response) =>
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'content-encoding': Array.from({ length: 5000 }, () => 'gzip').join(','),
      })
      .end('{}'),
  )
  for (const outcome of await small([...servers, long].map(({ url }) => ({ url, use: 'call' })))) {
    expect(outcome).toMatchObject({ name: 'McpError' })
    expect(outcome.ms).toBeLessThan(3000)
    expect(outcome.rssMb).toBeLessThan(MOST_MB)
  }
})

test('C.tools-100k 100 000 tools do not exhaust the client', async () => {
  const server = (size: number, pages: number, more: object, ttlMs: number): Promise<Web> =>
    web((request, response) => {
      if (methodOf(request) !== 'tools/list') return serveWell(request, response, '2026-07-28')
      const { id, params } = JSON.parse(request.body) as { id: number; params: { cursor?: string } }
      const page = Number(params.cursor ?? 0)
      const tools = Array.from({ length: size }, (_, index) => tool(`t${page}-${index}`, more as never))
      const next = page + 1 < pages ? { nextCursor: String(page + 1) } : {}
      const result = { resultType: 'complete', tools, ttlMs, cacheScope: 'private', ...next }
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  const description = 'x'.repeat(1_500_000)
  const servers = await Promise.all([
    server(100_000, 1, {}, 0),
    server(1000, 100, { outputSchema: { type: 'object', properties: { a: { type: 'string' } } } }, 60_000),
    server(1, 900, { description, outputSchema: { description } }, 60_000),
  ])
  const [one, paged, wide] = await small(servers.map(({ url }) => ({ url, use: 'tools' })))
  expect(one).toMatchObject({ count: 100_000, after: 'works' })
  expect(paged).toMatchObject({ count: 100_000, after: 'works' })
  expect(wide).toMatchObject({ name: 'McpError', after: 'works' })
  expect(wide!.count).toBeLessThan(100)
  for (const outcome of [one, paged, wide]) expect(outcome!.rssMb).toBeLessThan(MOST_MB)
})

/** A server program that is well-behaved until a tool is called, and then does what a text says. */
function program(act: string): { readonly command: string; readonly args: readonly string[] } {
  const text = `
    let rest = ''
    process.stdin.on('data', (bytes) => {
      rest += bytes
      for (const line of rest.split('\\n').slice(0, -1)) take(JSON.parse(line))
      rest = rest.slice(rest.lastIndexOf('\\n') + 1)
    })
    const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
    function take({ id, method }) {
      if (method === 'server/discover') return say(id, { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
      if (method !== 'tools/call') return
      ${act}
    }`
  return { command: process.execPath, args: ['-e', text] }
}

test('C.json-huge C.sse-huge-event a server program that writes half a gigabyte does not exhaust memory', async () => {
  const flood = (start: string): string => `
    const block = 'x'.repeat(1 << 20)
    let left = 512
    process.stdout.write(${start})
    const more = () => {
      while (left-- > 0) if (!process.stdout.write(block)) return process.stdout.once('drain', more)
      process.stdout.write('\\n')
    }
    more()`
  const starts = ['`{"jsonrpc":"2.0","id":${id},"result":{"content":"`', '"x"']
  const targets = starts.map((start) => program(flood(start)))
  for (const outcome of await small(targets.map((target) => ({ ...target, use: 'call' })))) {
    expect(outcome).toMatchObject({ name: 'McpError' })
    expect(outcome.ms).toBeLessThan(5000)
    expect(outcome.rssMb).toBeLessThan(MOST_MB)
  }
})

test('C.values a server program that writes millions of empty objects does not exhaust memory, not even with its last words', async () => {
  const write = (end: string): string => `
    const content = '[' + '{},'.repeat(5_000_000) + '{}]'
    process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":' + content + '}}' + ${end})`
  const targets = [write(`'\\n'`), write(`'', () => process.exit()`)].map(program)
  for (const outcome of await small(targets.map((target) => ({ ...target, use: 'call' }))))
    expect(outcome).toMatchObject({
      name: 'McpError',
      message: expect.stringContaining('more than 500000 objects and lists') as string,
    })
})

test('C.server-requests ids of questions do not exhaust memory', async () => {
  const long = 'x'.repeat(8 * MB)
  const asking = (question: (index: number) => object): Promise<Web> =>
    web((request, response) => {
      if (methodOf(request) !== 'tools/call') return serveWell(request, response, '2025-11-25')
      const { id } = JSON.parse(request.body) as { id: number }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      let index = 0
      const more = (): void => {
        if (index++ === 30) {
          const result = { content: [{ type: 'text', text: 'done' }] }
          return void response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
        }
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...question(index) })}\n\n`, more)
      }
      return more()
    })
  const visit = { mode: 'url', message: 'visit', url: 'https://example.com/' }
  const servers = await Promise.all([
    asking((index) => ({ id: `${index}${long}`, method: 'ping' })),
    asking((index) => ({
      id: `q${index}`,
      method: 'elicitation/create',
      params: { ...visit, elicitationId: `${index}${long}` },
    })),
  ])
  const outcomes = await small(servers.map(({ url }) => ({ url, use: 'call' })))
  for (const { after } of outcomes) expect(after).toBe('works')
})
