import type { Message } from '../../src/protocol/jsonrpc.ts'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ask, event, events, json, note, open, result, serve, until, vacantUrl } from './peer.ts'

test('a JSON reply is the answer [R073] [R078] [C.sane]', async () => {
  const peer = await serve(({ message }, response) => json(response, result(message.id)))
  const { line } = await open(peer.url)
  expect(await ask(line, 'tools/list', { id: 7 })).toEqual({ jsonrpc: '2.0', id: 7, result: { done: true } })
  const { headers, body } = peer.seen[0]!
  expect(headers['accept']).toBe('application/json, text/event-stream')
  expect(headers['content-type']).toBe('application/json')
  expect(JSON.parse(body)).toMatchObject({ id: 7, method: 'tools/list' })
})

test('a compressed reply is read', async () => {
  const peer = await serve(({ message }, response) => {
    const body = gzipSync(JSON.stringify(result(message.id)))
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body)
  })
  const { line } = await open(peer.url)
  expect((await ask(line, 'ping')).result).toEqual({ done: true })
})

test('a stream brings notifications and questions, then the answer [R078] [R132]', async () => {
  const question = { jsonrpc: '2.0', id: 'q', method: 'roots/list' }
  const peer = await serve(({ message }, response) => {
    events(response)
    response.write(': hello\r\n\r\n')
    response.write(event(note(1)))
    response.write(event(question))
    response.write('event: other\ndata: nothing for us\n\n')
    response.end(event(result(message.id)))
  })
  const { line } = await open(peer.url)
  const heard: Message[] = []
  const answer = await ask(line, 'tools/call', { onMessage: (message) => void heard.push(message) })
  expect(answer.result).toEqual({ done: true })
  expect(heard).toEqual([note(1), question])
})

test('messages in one batch are delivered separately', async () => {
  const peer = await serve(({ message }, response) => json(response, [note(1), result(message.id), note(2)]))
  const { line } = await open(peer.url)
  const heard: Message[] = []
  const answer = await ask(line, 'tools/call', { onMessage: (message) => void heard.push(message) })
  expect(answer.result).toEqual({ done: true })
  expect(heard).toEqual([note(1), note(2)])
})

test('the answer ends the stream: a server that goes on sending is left', async () => {
  let left = false
  const peer = await serve(({ message, gone }, response) => {
    events(response)
    response.write(event(result(message.id)))
    const timer = setInterval(() => response.write(event(note(1))), 5)
    void gone.then(() => {
      clearInterval(timer)
      left = true
    })
  })
  const { line } = await open(peer.url)
  const heard: Message[] = []
  await ask(line, 'tools/call', { onMessage: (message) => void heard.push(message) })
  await until(() => left)
  expect(heard).toEqual([])
})

test('connections are used again after JSON, after a stream and after a notification', async () => {
  const ports = new Set<number | undefined>()
  const peer = await serve(({ message }, response) => {
    ports.add(response.socket?.remotePort)
    if (message.id === undefined) return response.writeHead(202).end()
    if (message.method === 'json') return json(response, result(message.id))
    events(response)
    response.write(event(result(message.id)))
    return setTimeout(() => response.end(), 3)
  })
  const { line } = await open(peer.url)
  for (const method of ['json', 'stream', 'note', 'stream', 'note', 'json']) {
    if (method === 'note') await line.send('{"jsonrpc":"2.0","method":"notifications/cancelled"}')
    else await ask(line, method)
    await peer.seen.at(-1)!.gone
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(ports.size).toBe(1)
})

test('an error with a bad status is the answer, whether it names the request or not', async () => {
  const error = { code: -32022, message: 'no', data: { supported: ['2025-11-25'] } }
  const bodies: Record<string, object> = { ours: {}, none: {}, null: { id: null } }
  const peer = await serve(({ message }, response) => {
    const id = message.method === 'ours' ? { id: message.id } : bodies[message.method ?? '']
    json(response, { jsonrpc: '2.0', error, ...id }, 400)
  })
  const { line } = await open(peer.url)
  for (const method of ['ours', 'none', 'null']) expect((await ask(line, method)).error).toEqual(error)
})

test('a bad status without an error for us fails with the status', async () => {
  const peer = await serve(({ message }, response) => {
    const foreign = { jsonrpc: '2.0', id: 999_999, error: { code: 1, message: 'no' } }
    if (message.method === 'foreign') return json(response, foreign, 400)
    if (message.method === 'result') return json(response, result(message.id), 400)
    return response.writeHead(405).end('go away')
  })
  const { line } = await open(peer.url)
  for (const [method, status] of [
    ['foreign', 400],
    ['result', 400],
    ['text', 405],
  ] as const) {
    await expect(ask(line, method)).rejects.toMatchObject({ kind: 'http_failed', data: { status } })
  }
})

test('refused credentials tell what the server wants', async () => {
  const challenge = 'Bearer resource_metadata="http://127.0.0.1/x"'
  const peer = await serve(({ message }, response) => {
    const error = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'no' } }
    json(response, error, message.method === 'a' ? 401 : 403, { 'www-authenticate': challenge })
  })
  const { line } = await open(peer.url)
  const data = { wwwAuthenticate: challenge, error: { code: -32001, message: 'no' } }
  await expect(ask(line, 'a')).rejects.toMatchObject({ kind: 'http_failed', data: { status: 401, ...data } })
  await expect(ask(line, 'b')).rejects.toMatchObject({ kind: 'http_failed', data: { status: 403, ...data } })
})

test('a busy server says when to retry, and the transport does not retry by itself [C.503-loop]', async () => {
  const values = ['0', '2', '999999999', new Date(Date.now() + 5000).toUTCString(), 'soon']
  const peer = await serve(({ message }, response) => {
    response
      .writeHead(message.method === '1' ? 429 : 503, { 'retry-after': values[Number(message.method)]! })
      .end()
  })
  const { line } = await open(peer.url)
  const waits: (number | undefined)[] = []
  for (const index of values.keys()) {
    const error = await ask(line, String(index)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'http_failed' })
    waits.push((error as { retryAfterMs?: number }).retryAfterMs)
  }
  expect(waits[0]).toBe(0)
  expect(waits[1]).toBe(2000)
  expect(waits[2]).toBe(3_600_000)
  expect(waits[3]).toBeGreaterThan(3000)
  expect(waits[3]).toBeLessThanOrEqual(5000)
  expect(waits[4]).toBeUndefined()
  expect(peer.seen.length).toBe(values.length)
})

test('a message without an answer is sent, and its outcome reported', async () => {
  const peer = await serve(({ message }, response) =>
    response.writeHead(message.method === 'good' ? 202 : 400).end(),
  )
  const { line } = await open(peer.url)
  await line.send('{"jsonrpc":"2.0","method":"good"}')
  await expect(line.send('{"jsonrpc":"2.0","method":"bad"}')).rejects.toMatchObject({ kind: 'http_failed' })
})

test('a missing server is a failure to connect; a broken connection is a lost stream', async () => {
  const peer = await serve(({ message }, response) => {
    if (message.method === 'cut') return response.destroy()
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('{"jsonrpc"')
    return setTimeout(() => response.destroy(), 20)
  })
  const { line } = await open(peer.url)
  await expect(ask(line, 'cut')).rejects.toMatchObject({ kind: 'stream_lost' })
  await expect(ask(line, 'half')).rejects.toMatchObject({ kind: 'stream_lost' })
  const { line: nobody } = await open(await vacantUrl())
  const refused = { kind: 'connect_failed', data: { code: 'ECONNREFUSED' } }
  await expect(ask(nobody, 'ping')).rejects.toMatchObject(refused)
})
