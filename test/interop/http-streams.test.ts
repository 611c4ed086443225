import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Running } from 'pierhead'
import { createInteropApp } from './app.ts'
import { failure } from './check.ts'
import { textOf } from './checks-running.ts'
import { Network } from './network.ts'
import type { Json, Peer, Way } from './peer.ts'
import { connect } from './ways.ts'

/** Longer than any test: a client that waits this long by itself comes back only when the server says so. */
const NEVER_MS = 600_000

describe.each(['v1', 'v2'] as const)('official %s client over HTTP at 2025-11-25', (client) => {
  let running: Running
  const open: Peer[] = []
  let places = 0
  beforeAll(async () => {
    running = await createInteropApp().listen({ http: { port: 0 } })
  })
  afterAll(async () => {
    await Promise.all(open.map((peer) => peer.close()))
    await running.close()
  })
  const join = async (more: Partial<Way> = {}): Promise<{ peer: Peer; network: Network }> => {
    const network = new Network()
    const way: Way = {
      client,
      revision: '2025-11-25',
      url: running.url as string,
      fetch: network.fetch,
      ...more,
    }
    const peer = await connect(way)
    open.push(peer)
    return { peer, network }
  }

  test('reconnects after the server closed the stream, and misses nothing of a running call [R092] [R094] [S3-9-11]', async () => {
    const { peer, network } = await join({ reconnectMs: NEVER_MS })
    const name = `${client}-${++places}`
    const heard: Json[] = []
    const onprogress = (progress: Json): void => {
      // The second one was sent after the connection was gone: the client is back.
      if (heard.push(progress) === 2) void peer.call('let-go', { name })
    }
    expect(textOf(await peer.call('hang-up', { name }, { onprogress }))).toBe(`let go of ${name}`)
    expect(heard.map(({ progress }) => progress)).toEqual([1, 2, 3])
    expect(await network.resumed(1)).toMatchObject([{ verb: 'GET', status: 200 }])
    expect(peer.errors).toEqual([])
  })

  test('gets an answer that was given while it was away [R092] [S3-9-11]', async () => {
    const { peer, network } = await join({ reconnectMs: NEVER_MS })
    const name = `${client}-${++places}`
    await peer.call('let-go', { name })
    const heard: Json[] = []
    const result = await peer.call('hang-up', { name }, { onprogress: (progress) => heard.push(progress) })
    expect(textOf(result)).toBe(`let go of ${name}`)
    expect(heard.map(({ progress }) => progress)).toEqual([1, 2, 3])
    expect(await network.resumed(1)).toMatchObject([{ verb: 'GET', status: 200 }])
    expect(peer.errors).toEqual([])
  })

  test('reconnects once for a cancelled call, and learns that nothing follows', async () => {
    const { peer, network } = await join()
    const name = `${client}-${++places}`
    const stop = new AbortController()
    const waiting = peer.call('wait', { name }, { signal: stop.signal, onprogress: () => stop.abort() })
    await failure(waiting)
    expect(await network.resumed(1)).toMatchObject([{ verb: 'GET', status: 204 }])
    for (let turn = 0; turn < 50; turn++) await peer.call('echo', { text: 'turn' })
    expect(await network.resumed(1)).toHaveLength(1)
    expect(peer.errors).toEqual([])
  })

  test('gets an error on a stream, and stops asking for more', async () => {
    const { peer, network } = await join()
    const broken = await failure(peer.prompt('broken'))
    expect(broken).toMatchObject({ code: -32603 })
    expect(broken.message).not.toContain('hunter2')
    for (let turn = 0; turn < 50; turn++) await peer.call('echo', { text: 'turn' })
    const resumed = await network.resumed(0)
    expect(resumed.length).toBeLessThan(2)
    expect(resumed.every(({ status }) => status === 204)).toBe(true)
    expect(peer.errors).toEqual([])
  })

  test('is notified of changes on its GET stream, and only there [R072] [R079] [R081]', async () => {
    const { peer, network } = await join()
    expect(await network.until('GET')).toMatchObject({ lastEventId: null, status: 200 })
    const stop = await peer.watch('note://hello')
    await peer.call('touch', { uri: 'note://hello' })
    expect(await peer.heard.next('notifications/resources/updated')).toEqual({ uri: 'note://hello' })
    await stop()
    expect(peer.heard.take('notifications/resources/updated')).toEqual([])
    expect(network.exchanges.filter(({ verb }) => verb === 'GET')).toHaveLength(1)
  })

  test('ends its session, which is then unknown [R085]', async () => {
    const { peer, network } = await join()
    await peer.call('echo', { text: 'still here' })
    await network.until('GET')
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': peer.sessionId() as string,
      'mcp-protocol-version': '2025-11-25',
    }
    const ping = (): Promise<Response> =>
      fetch(running.url as string, {
        method: 'POST',
        headers,
        body: '{"jsonrpc":"2.0","id":"p","method":"ping"}',
      })
    const alive = await ping()
    expect([alive.status, await alive.json()]).toEqual([200, { jsonrpc: '2.0', id: 'p', result: {} }])
    await peer.close()
    expect(await network.until('DELETE')).toMatchObject({ status: 200 })
    expect((await ping()).status).toBe(404)
  })
})
