import type { Message } from '../../src/protocol/jsonrpc.ts'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import {
  ask,
  event,
  events,
  failure,
  handshake,
  note,
  open,
  result,
  serve,
  shake,
  type Opened,
  type Peer,
  type Seen,
} from './peer.ts'

/** A server with sessions: `post` begins the stream of a request, `get` goes on with it. */
async function resumable(
  post: (id: number, response: ServerResponse, seen: Seen) => void,
  get: (lastId: string, response: ServerResponse, id: number) => void,
): Promise<Peer> {
  let asked = 0
  return serve((seen, response) => {
    if (handshake(seen, response)) return
    if (seen.verb === 'GET') return get(String(seen.headers['last-event-id']), response, asked)
    asked = seen.message.id as number
    events(response)
    return post(asked, response, seen)
  })
}

async function call({ line }: Opened): Promise<{ answer: Message; heard: unknown[] }> {
  const heard: unknown[] = []
  const answer = await ask(line, 'tools/call', {
    onMessage: ({ params }) => void heard.push(params?.['data']),
  })
  return { answer, heard }
}

test('a stream that was primed and closed is resumed after the time the server asked for [R095]', async () => {
  let closed = 0
  const peer = await resumable(
    (_, response) => {
      response.end(`${event('', 'e1')}retry: 500\n\n`)
      closed = performance.now()
    },
    (_, response, id) => {
      events(response)
      response.end(event(result(id), 'e2'))
    },
  )
  for (const random of [() => 0, () => 0.999]) {
    // Without the server's wish it would be ten minutes.
    const opened = await open(peer.url, { reconnect: { firstMs: 600_000, maxMs: 600_000 }, random })
    await shake(opened)
    expect((await call(opened)).answer.result).toEqual({ done: true })
    const { at, headers } = peer.of('GET').at(-1)!
    expect(headers).toMatchObject({
      'last-event-id': 'e1',
      'mcp-session-id': 'one',
      accept: 'text/event-stream',
    })
    expect(at - closed).toBeGreaterThan(495)
  }
})

test('a stream cut after any of its events brings each of them once and the answer once [R095] [F9]', async () => {
  const total = 6
  for (let cutAt = 1; cutAt <= total; cutAt++) {
    const peer = await resumable(
      (_, response) => {
        for (let n = 1; n <= cutAt; n++) response.write(event(n === 1 ? '' : note(n), `e${n}`))
        setTimeout(() => response.destroy(), 10)
      },
      (lastId, response, id) => {
        events(response)
        for (let n = Number(lastId.slice(1)) + 1; n <= total; n++) response.write(event(note(n), `e${n}`))
        response.end(event(result(id), 'last'))
      },
    )
    const opened = await open(peer.url)
    await shake(opened)
    const { answer, heard } = await call(opened)
    expect(answer.result).toEqual({ done: true })
    expect(heard).toEqual([2, 3, 4, 5, 6])
    expect(peer.of('GET').length).toBe(1)
  }
})

test('a stream cut after every event comes to its end', async () => {
  const peer = await resumable(
    (_, response) => response.end(event(note(1), 'e1')),
    (lastId, response, id) => {
      const n = Number(lastId.slice(1)) + 1
      events(response)
      response.end(n < 10 ? event(note(n), `e${n}`) : event(result(id)))
    },
  )
  const opened = await open(peer.url, { reconnect: { floorMs: 5, firstMs: 10, maxMs: 1000, tries: 2 } })
  await shake(opened)
  expect((await call(opened)).heard).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('events that a server repeats on resuming are not delivered again', async () => {
  const all = [1, 2, 3].map((n) => event(note(n), `e${n}`)).join('')
  const peer = await resumable(
    (_, response) => response.end(all),
    (_, response, id) => {
      events(response)
      response.end(all + event(note(4), 'e4') + event(result(id), 'e5') + event(result(id), 'e5'))
    },
  )
  const opened = await open(peer.url)
  await shake(opened)
  const { answer, heard } = await call(opened)
  expect(heard).toEqual([1, 2, 3, 4])
  expect(answer.result).toEqual({ done: true })
})

test('equal event ids on one connection lose nothing', async () => {
  const peer = await resumable(
    (id, response) => response.end(event(note(1), 'x') + event(note(2), 'x') + event(result(id), 'x')),
    () => undefined,
  )
  const opened = await open(peer.url)
  await shake(opened)
  expect((await call(opened)).heard).toEqual([1, 2])
})

test('failed attempts wait longer each time, and end when they are used up', async () => {
  const peer = await resumable(
    (_, response) => response.end(event(note(1), 'e1')),
    (_, response) => response.writeHead(503).end(),
  )
  const opened = await open(peer.url, {
    reconnect: { floorMs: 5, firstMs: 20, maxMs: 80, tries: 4 },
    random: () => 0,
  })
  await shake(opened)
  await expect(call(opened)).rejects.toMatchObject({ kind: 'stream_lost' })
  const times = peer.of('GET').map(({ at }) => at)
  const waits = times.slice(1).map((at, index) => at - times[index]!)
  expect(waits.length).toBe(3)
  for (const [index, least] of [38, 78, 78].entries()) expect(waits[index]).toBeGreaterThan(least)
})

test('an event gives the attempts back; connections that bring nothing use them up', async () => {
  let gets = 0
  const peer = await resumable(
    (_, response) => response.end(event('', 'e0')),
    (_, response) => {
      events(response)
      gets++
      response.end(gets <= 4 ? event(note(gets), `e${gets}`) : ': nothing\n\n')
    },
  )
  const opened = await open(peer.url, { reconnect: { floorMs: 5, firstMs: 10, maxMs: 20, tries: 3 } })
  await shake(opened)
  await expect(call(opened)).rejects.toMatchObject({ kind: 'stream_lost' })
  expect(gets).toBe(4 + 3)
})

test('a server that does not resume ends it at once', async () => {
  for (const [status, kind] of [
    [400, 'stream_lost'],
    [405, 'stream_lost'],
    [401, 'http_failed'],
  ] as const) {
    const peer = await resumable(
      (_, response) => response.end(event('', 'e0')),
      (_, response) => response.writeHead(status).end(),
    )
    const opened = await open(peer.url)
    await shake(opened)
    await expect(call(opened)).rejects.toMatchObject({ kind, data: { status } })
    expect(peer.of('GET').length).toBe(1)
  }
})

test('a session that is gone on resuming is lost, but the request may have run', async () => {
  const peer = await resumable(
    (_, response) => response.end(event('', 'e0')),
    (_, response) => response.writeHead(404).end(),
  )
  const opened = await open(peer.url)
  await shake(opened)
  await expect(call(opened)).rejects.toMatchObject({ kind: 'stream_lost' })
  expect(opened.downs).toMatchObject([{ kind: 'session_lost' }])
})

test('without an event id, and at 2026-07-28, a lost stream is a lost request [R128]', async () => {
  for (const [id, revision] of [
    [undefined, '2025-11-25'],
    ['caf\u00e9', '2025-11-25'],
    ['e1', '2026-07-28'],
  ] as const) {
    const peer = await resumable(
      (_, response) => response.end(event(note(1), id)),
      () => undefined,
    )
    const opened = await open(peer.url)
    opened.line.agree(revision)
    await expect(call(opened)).rejects.toMatchObject({ kind: 'stream_lost' })
    expect(peer.of('GET')).toEqual([])
  }
})

test('retry: 0 does not make a storm of a stream that closes at once', async () => {
  const peer = await resumable(
    (_, response) => response.end(`retry: 0\n${event('', 'e0')}`),
    (_, response) => {
      events(response)
      response.end(`retry: 0\n${event('', `e${Math.random()}`)}`)
    },
  )
  const opened = await open(peer.url, { reconnect: {} })
  await shake(opened)
  const abort = new AbortController()
  const waiting = failure(ask(opened.line, 'tools/call', { signal: abort.signal }))
  setTimeout(() => abort.abort(new Error('enough')), 1200)
  expect(await waiting).toMatchObject({ kind: 'cancelled', cause: { message: 'enough' } })
  expect(peer.of('GET').length).toBeGreaterThan(1)
  expect(peer.of('GET').length).toBeLessThan(5)
})
