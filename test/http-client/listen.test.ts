import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { event, events, handshake, note, open, serve, shake, until, type Peer, type Seen } from './peer.ts'

function listening(get: (response: ServerResponse, count: number, seen: Seen) => unknown): Promise<Peer> {
  let count = 0
  return serve((seen, response) => {
    if (!handshake(seen, response) && seen.verb === 'GET') get(response, ++count, seen)
  })
}

test('what belongs to no request is read from a stream of its own', async () => {
  const peer = await listening((response) => {
    events(response)
    response.write(event(note(1), 'a'))
    response.write(event({ jsonrpc: '2.0', id: 1, result: {} }))
    response.write('data: rubbish\n\n')
    response.write(event(note(2), 'b'))
  })
  const opened = await open(peer.url)
  await shake(opened)
  void opened.line.listen?.()
  void opened.line.listen?.()
  await until(() => opened.messages.length === 2)
  expect(opened.messages).toEqual([note(1), note(2)])
  expect(opened.notes).toEqual(['the stream for notifications contained something that is not a message'])
  expect(peer.of('GET').length).toBe(1)
})

test('a stream of events that are no messages is given up, with a warning for the first and for the end', async () => {
  const peer = await listening((response) => {
    events(response)
    response.write(`data: x\n\n${event(note(1))}`)
    response.write('data: x\n\n'.repeat(10_001))
  })
  const opened = await open(peer.url)
  await shake(opened)
  void opened.line.listen?.()
  await until(() => opened.notes.length === 2)
  expect(opened.messages).toEqual([note(1)])
  expect(opened.notes).toEqual([
    'the stream for notifications contained something that is not a message',
    'the stream for notifications sent 10000 invalid messages in a row (limits.clientInvalid)',
  ])
  expect([peer.of('GET').length, opened.downs]).toEqual([1, []])
})

test('a server without such a stream is left in peace', async () => {
  for (const status of [400, 404, 405, 406]) {
    const peer = await listening((response) => response.writeHead(status).end())
    const opened = await open(peer.url)
    await shake(opened)
    void opened.line.listen?.()
    await until(() => peer.of('GET').length === 1)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(peer.of('GET').length).toBe(1)
    expect(opened.notes).toEqual([])
    expect(opened.downs).toEqual([])
  }
})

test('a lost stream is opened again where it was, after the time the server asked for [R095]', async () => {
  const ended: number[] = []
  const peer = await listening((response, count) => {
    events(response)
    if (count > 2) return response.write(event(note(2), 'e2') + event(note(3), 'e3'))
    response.end(`retry: 150\n${event(note(count), `e${count}`)}`)
    return ended.push(performance.now())
  })
  const opened = await open(peer.url, { random: () => 0.5 })
  await shake(opened)
  void opened.line.listen?.()
  await until(() => opened.messages.length === 3)
  expect(opened.messages).toEqual([note(1), note(2), note(3)])
  const gets = peer.of('GET')
  expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e1', 'e2'])
  for (const index of [0, 1]) {
    expect(gets[index + 1]!.at - ended[index]!).toBeGreaterThan(145)
  }
  expect(opened.notes).toEqual(
    Array.from({ length: 2 }, () => expect.stringContaining('next attempt is in 165 ms')),
  )
})

test('a stream that closes at once with retry: 0 does not become a storm [C.get-storm]', async () => {
  for (const extra of ['', event('', 'same'), event(note(1))]) {
    const peer = await listening((response) => {
      events(response)
      response.end(`retry: 0\n\n${extra}`)
    })
    const opened = await open(peer.url, { random: () => 0 })
    await shake(opened)
    void opened.line.listen?.()
    await until(() => opened.notes.length === 4)
    expect(opened.notes).toEqual(
      [20, 40, 80, 160].map((ms) => expect.stringContaining(`next attempt is in ${ms} ms`)),
    )
    // It asks once before each pause, never more.
    expect(peer.of('GET').length).toBe(4)
    await opened.line.close()
  }
})

test('a server that is away is tried again, ever more rarely, until it is back', async () => {
  const peer = await listening((response, count) => {
    if (count < 4) return count === 2 ? response.destroy() : response.writeHead(503).end()
    events(response)
    return response.write(event(note(1)))
  })
  const opened = await open(peer.url, {
    reconnect: { floorMs: 10, firstMs: 20, maxMs: 100 },
    random: () => 0,
  })
  await shake(opened)
  void opened.line.listen?.()
  await until(() => opened.messages.length === 1)
  const times = peer.of('GET').map(({ at }) => at)
  expect(times[3]! - times[2]!).toBeGreaterThan(times[1]! - times[0]!)
  expect(opened.notes.length).toBe(3)
})

test('a position that the server no longer knows is discarded, and the stream starts anew', async () => {
  const peer = await listening((response, count, { headers }) => {
    if (headers['last-event-id'] !== undefined) return response.writeHead(400).end()
    events(response)
    return count === 1 ? response.end(event(note(1), 'old')) : response.write(event(note(2), 'new'))
  })
  const opened = await open(peer.url)
  await shake(opened)
  void opened.line.listen?.()
  await until(() => opened.messages.length === 2)
  expect(opened.notes.some((text) => text.includes('may have been missed'))).toBe(true)
})

test('a session that is gone when the stream is opened again is lost', async () => {
  const peer = await listening((response, count) => {
    if (count > 1) return response.writeHead(404).end()
    events(response)
    return response.end()
  })
  const opened = await open(peer.url)
  await shake(opened)
  void opened.line.listen?.()
  await until(() => opened.downs.length === 1)
  expect(opened.downs).toMatchObject([{ kind: 'session_lost' }])
  await opened.line.close()
  expect(peer.of('DELETE')).toEqual([])
})

test('an event that is too large is left out, and the next one is read [C.sse-huge-event]', async () => {
  const peer = await listening((response) => {
    events(response)
    response.write(`data: ${'x'.repeat(100_000)}\n\n${event(note(2))}`)
  })
  const opened = await open(peer.url, { bytes: 65_536 })
  await shake(opened)
  void opened.line.listen?.()
  await until(() => opened.messages.length === 1)
  expect(opened.messages).toEqual([note(2)])
  expect(opened.notes.length).toBe(1)
})
