import type { Message } from '../../src/protocol/jsonrpc.ts'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { after, ask, event, events, json, note, open, result, serve, until } from './peer.ts'
import { processorMs } from '../harness/processor.ts'
import { heldBuffers } from '../harness/memory.ts'

const LIMIT = 65_536
const BOMB = 64 * 1024 * 1024
const CHUNK = Buffer.alloc(65_536, 'x')
/** What the buffers of two sockets may hold besides what was read. */
const BUFFERED = 16 * 1024 * 1024

/** Writes as much as the client takes, up to a lot. */
function pour(response: ServerResponse): void {
  let left = BOMB
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= CHUNK.length
      if (!response.write(CHUNK)) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}

test('an endless JSON reply is aborted at the limit [C.json-huge]', async () => {
  const peer = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    pour(response)
  })
  const { line } = await open(peer.url, { bytes: LIMIT })
  await expect(ask(line, 'tools/list')).rejects.toMatchObject({ kind: 'answer_too_large' })
  await peer.seen[0]!.gone
  expect(peer.sent).toBeLessThan(BUFFERED)
})

test('a JSON answer that announces too much is not read at all [C.json-huge]', async () => {
  const peer = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(BOMB) })
    pour(response)
  })
  const { line } = await open(peer.url, { bytes: LIMIT })
  await expect(ask(line, 'tools/list')).rejects.toMatchObject({ kind: 'answer_too_large' })
  await peer.seen[0]!.gone
  expect(peer.sent).toBeLessThan(BUFFERED)
})

test('a decompressed answer is aborted at the limit if a browser hides that it was compressed', async () => {
  let produced = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      produced += CHUNK.length
      controller.enqueue(CHUNK)
      if (produced >= BOMB) controller.close()
    },
  })
  const headers = { 'content-type': 'application/json', 'content-length': '100' }
  const fetch = (): Promise<Response> => Promise.resolve(new Response(body, { headers }))
  const { line } = await open('http://localhost/mcp', { bytes: LIMIT, fetch })
  await expect(ask(line, 'tools/list')).rejects.toMatchObject({ kind: 'answer_too_large' })
  expect(produced).toBeLessThanOrEqual(4 * CHUNK.length)
})

test('an answer is read at the limit and refused above it', async () => {
  const peer = await serve(({ message }, response) => {
    const text = JSON.stringify(result(message.id, { pad: '' }))
    const pad = 'x'.repeat(LIMIT - text.length + (message.method === 'above' ? 1 : 0))
    const body = JSON.stringify(result(message.id, { pad }))
    if (message.method !== 'stream') return json(response, result(message.id, { pad }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(body.slice(0, 10))
    return response.end(body.slice(10))
  })
  const { line } = await open(peer.url, { bytes: LIMIT })
  expect((await ask(line, 'at')).error).toBeUndefined()
  expect((await ask(line, 'stream')).error).toBeUndefined()
  await expect(ask(line, 'above')).rejects.toMatchObject({ kind: 'answer_too_large' })
})

test('an endless event is aborted at the limit [C.sse-huge-event]', async () => {
  for (const start of ['data: ', ': ', 'data: {\n']) {
    const peer = await serve((_, response) => {
      events(response)
      response.write(start)
      pour(response)
    })
    const { line } = await open(peer.url, { bytes: LIMIT })
    await expect(ask(line, 'tools/list')).rejects.toMatchObject({ kind: 'answer_too_large' })
    await peer.seen[0]!.gone
    expect(peer.sent).toBeLessThan(BUFFERED)
  }
})

test('a server that sends a lot after the answer is left', async () => {
  const peer = await serve(({ message }, response) => {
    events(response)
    response.write(event(result(message.id)))
    pour(response)
  })
  const { line } = await open(peer.url, { bytes: LIMIT })
  await ask(line, 'tools/list')
  await peer.seen[0]!.gone
  expect(peer.sent).toBeLessThan(BUFFERED)
})

test('a compressed answer is counted as it unpacks [C.gzip-bomb]', async () => {
  const bomb = gzipSync(Buffer.alloc(BOMB, 'x'))
  for (const type of ['application/json', 'text/event-stream']) {
    const peer = await serve((_, response) => {
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(bomb)
    })
    const { line } = await open(peer.url, { bytes: LIMIT })
    const before = heldBuffers()
    await expect(ask(line, 'tools/list')).rejects.toMatchObject({ kind: 'answer_too_large' })
    expect(heldBuffers() - before).toBeLessThan(BUFFERED)
  }
})

test('a content length that is not a number is ignored', async () => {
  let pulled = 0
  const endless: typeof fetch = () => {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      pulled += 65_536
      if (pulled > BOMB) controller.close()
      else controller.enqueue(new Uint8Array(65_536))
    }
    const headers = { 'content-type': 'application/json', 'content-length': '5, 5' }
    return Promise.resolve(new Response(new ReadableStream({ pull }), { headers }))
  }
  const { line } = await open('http://127.0.0.1/mcp', { fetch: endless, bytes: LIMIT })
  await expect(ask(line, 'tools/list')).rejects.toMatchObject({ kind: 'answer_too_large' })
  expect(pulled).toBeLessThan(BUFFERED)
})

test('thousands of stacked encodings fail quickly [C.encoding-stack]', async () => {
  for (const [coding, count] of [
    ['gzip', 5000],
    ['br', 4000],
    ['gzip', 100],
  ] as const) {
    const peer = await serve(({ message }, response) => {
      const encodings = Array.from({ length: count }, () => coding).join(',')
      const headers = { 'content-type': 'application/json', 'content-encoding': encodings }
      response.writeHead(200, headers).end(gzipSync(JSON.stringify(result(message.id))))
    })
    const { line } = await open(peer.url, { bytes: LIMIT })
    const ms = await processorMs(() =>
      expect(ask(line, 'tools/list')).rejects.toMatchObject({ name: 'McpError' }),
    )
    expect(ms).toBeLessThan(3000)
  }
})

test('an answer nested too deeply is an error [C.json-deep]', async () => {
  const peer = await serve(({ message }, response) => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const body = `{"jsonrpc":"2.0","id":${message.id},"result":{"a":${deep}}}`
    if (message.method === 'json')
      return response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    events(response)
    return response.write(`data: ${body}\n\n`)
  })
  const { line } = await open(peer.url)
  await expect(ask(line, 'json')).rejects.toMatchObject({ kind: 'bad_answer' })
  await expect(ask(line, 'stream')).rejects.toMatchObject({ kind: 'bad_answer' })
})

test('answers under other ids are not taken as the answer [C.wrong-id]', async () => {
  const peer = await serve(({ message }, response) => {
    const id = message.id as number
    const wrong = [id + 1, String(id), 0, -id].map((other) => ({
      jsonrpc: '2.0',
      id: other,
      result: { wrong: true },
    }))
    if (message.method === 'json') return json(response, wrong[0])
    events(response)
    for (const each of wrong) response.write(event(each))
    return response.end(message.method === 'never' ? '' : event(result(id)))
  })
  const { line } = await open(peer.url)
  expect((await ask(line, 'stream')).result).toEqual({ done: true })
  await expect(ask(line, 'json')).rejects.toMatchObject({ kind: 'bad_answer' })
  await expect(ask(line, 'never')).rejects.toMatchObject({ kind: 'stream_lost' })
})

test('a second answer under the same id is ignored [C.twice]', async () => {
  const peer = await serve(({ message }, response) => {
    const both = [result(message.id, { n: 1 }), result(message.id, { n: 2 })]
    if (message.method === 'json') return json(response, both)
    events(response)
    return response.end(both.map((each) => event(each)).join(''))
  })
  const { line } = await open(peer.url)
  const heard: Message[] = []
  const onMessage = (message: Message): void => void heard.push(message)
  expect((await ask(line, 'stream', { onMessage })).result).toEqual({ n: 1 })
  expect((await ask(line, 'json', { onMessage })).result).toEqual({ n: 1 })
  expect(heard).toEqual([])
})

test('a result of the wrong type is an error [C.result-types]', async () => {
  const results = [null, [], 'text', 7, true]
  const peer = await serve(({ message }, response) => {
    json(response, { jsonrpc: '2.0', id: message.id, result: results[Number(message.method)] })
  })
  const { line } = await open(peer.url)
  for (const index of results.keys())
    await expect(ask(line, String(index))).rejects.toMatchObject({ kind: 'bad_answer' })
})

test('an answer that is not JSON is an error [C.not-json]', async () => {
  const bodies = [
    '',
    'not json',
    '{"jsonrpc":"2.0"',
    '\u0000',
    '{}',
    '[]',
    'null',
    Buffer.from([0xff, 0xfe, 0x7b]),
  ]
  const peer = await serve(({ message }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(bodies[Number(message.method)])
  })
  const { line } = await open(peer.url)
  for (const index of bodies.keys())
    await expect(ask(line, String(index))).rejects.toMatchObject({ kind: 'bad_answer' })
})

test('a page, a bare acceptance and an unknown type are errors [C.html]', async () => {
  const replies = [
    [200, 'text/html'],
    [202, undefined],
    [204, undefined],
    [200, undefined],
    [200, 'application/octet-stream'],
  ] as const
  const peer = await serve(({ message }, response) => {
    const [status, type] = replies[Number(message.method)]!
    response.writeHead(status, type === undefined ? {} : { 'content-type': `${type}; charset=utf-8` })
    response.end(status === 200 ? '<html>\u001b[31m</html>' : undefined)
  })
  const { line } = await open(peer.url)
  for (const [index, [status]] of replies.entries()) {
    const error = ask(line, String(index))
    await expect(error).rejects.toMatchObject({ kind: 'bad_answer', data: { status } })
  }
})

test('something that is not HTTP is an error', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const { line } = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  await expect(ask(line, 'ping')).rejects.toMatchObject({ kind: 'bad_answer' })
})

test('waiting ends as soon as the caller cancels [C.hang] [C.sse-endless] [C.progress-endless]', async () => {
  const peer = await serve(({ message, gone }, response) => {
    if (message.method === 'hang') return
    const type = message.method === 'body' ? 'application/json' : 'text/event-stream'
    response.writeHead(200, { 'content-type': type }).flushHeaders()
    const texts: Record<string, string> = {
      comments: ': still here\n\n',
      progress: event(note(1)),
      body: ' ',
    }
    const timer = setInterval(() => response.write(texts[message.method ?? '']), 2)
    void gone.then(() => clearInterval(timer))
  })
  const { line } = await open(peer.url)
  for (const method of ['hang', 'comments', 'progress', 'body']) {
    const abort = new AbortController()
    const waiting = ask(line, method, { signal: abort.signal })
    waiting.catch(() => undefined)
    await until(() => peer.seen.at(-1)?.message.method === method)
    await new Promise((resolve) => setTimeout(resolve, 20))
    abort.abort(new Error('too long'))
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled', cause: { message: 'too long' } })
    await peer.seen.at(-1)!.gone
  }
})

test('a fetch that ignores its signal is abandoned', async () => {
  const deaf: typeof fetch = () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(': hi\n\n')),
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
  const { line } = await open('http://127.0.0.1/mcp', { fetch: deaf })
  const abort = new AbortController()
  const waiting = ask(line, 'ping', { signal: abort.signal })
  setTimeout(() => abort.abort(new Error('too long')), 20)
  await expect(waiting).rejects.toMatchObject({ kind: 'cancelled', cause: { message: 'too long' } })
})

test('a request that is already cancelled is not sent', async () => {
  const peer = await serve(({ message }, response) => json(response, result(message.id)))
  const { line } = await open(peer.url)
  const signal = AbortSignal.abort(new Error('changed my mind'))
  await expect(ask(line, 'ping', { signal })).rejects.toMatchObject({
    kind: 'cancelled',
    cause: { message: 'changed my mind' },
  })
  expect(peer.seen).toEqual([])
})

test('names of the prototype in a message change nothing [C.proto]', async () => {
  const peer = await serve(({ message }, response) => {
    const body = `{"jsonrpc":"2.0","id":${message.id},"result":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}`
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  const { line } = await open(peer.url)
  const { result: got } = await ask(line, 'tools/list')
  expect(Object.hasOwn(got as object, '__proto__')).toBe(true)
  expect('polluted' in {}).toBe(false)
})
