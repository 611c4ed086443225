import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { App } from '../../src/index.ts'
import { initialize, message } from '../http/messages.ts'
import { frame, type Raw } from '../ws/raw.ts'
import { open } from '../ws/server.ts'
import { startNodes, type Cluster, type TestNode } from './nodes.ts'

const LISTEN = { http: { port: 0 }, ws: true }
/** One caller may keep a quarter of the last one. */
const LIMITS = { streamBytes: 50_000, unsentBytes: 400_000 }
const QUARTER = 100_000
const STREAM = 's'

const define = (app: App): void =>
  void app.tool('big', { input: z.object({ size: z.number() }) }, ({ size }) => 'x'.repeat(size))

interface Socket {
  readonly raw: Raw
  readonly id: string
}

const idOf = ({ head }: Raw): string => /^mcp-session-id: (.*)$/im.exec(head)?.[1]?.trim() ?? ''

async function opened({ port }: TestNode): Promise<Socket> {
  const raw = await open(port, { 'last-event-id': '0' })
  await ask(raw, initialize())
  return { raw, id: idOf(raw) }
}

/** Sends a request, and waits for one more message. */
async function ask(raw: Raw, text: string): Promise<void> {
  const count = raw.texts.length + 1
  raw.write(frame(text))
  await raw.until(() => raw.texts.length === count)
}

const big = (size: number): string => message('tools/call', { name: 'big', arguments: { size } }, 2)

/** How many bytes the store keeps for clients. */
async function kept({ stores }: Cluster, sockets: readonly Socket[]): Promise<number> {
  let bytes = 0
  for (const { id } of sockets) {
    const page = await stores.kinds.events.read(id, STREAM, -1, 100_000)
    for (const { text } of page?.events ?? []) bytes += text.length
  }
  return bytes
}

async function setUp(): Promise<Cluster & { readonly one: TestNode; readonly two: TestNode }> {
  const cluster = await startNodes({ listen: LISTEN, define, limits: LIMITS })
  const [one, two] = cluster.nodes as [TestNode, TestNode]
  return { ...cluster, one, two }
}

describe('the messages that a store keeps for WebSockets', () => {
  test.each([
    ['many small ones', 10, 4000],
    ['one of almost the size of a stream', 1, 40_000],
    ['one that is larger than the stream', 1, 70_000],
    ['one that is larger than what a caller may keep', 1, 150_000],
  ])('take no more than the share of an address, and all sessions go on: %s', async (_, count, size) => {
    const cluster = await setUp()
    const sockets: Socket[] = []
    for (let at = 0; at < 10; at++) {
      const socket = await opened(cluster.one)
      sockets.push(socket)
      for (let each = 0; each < count; each++) await ask(socket.raw, big(size))
    }
    await expect.poll(() => kept(cluster, sockets)).toBeLessThanOrEqual(QUARTER)
    for (const { raw } of sockets) await ask(raw, message('ping', {}, 3))
    for (const { raw } of sockets) expect(raw.texts).toHaveLength(count + 2)
    await expect.poll(() => kept(cluster, sockets)).toBeLessThanOrEqual(QUARTER)
  })

  test('count at the node that resumes a session, with those that the client has', async () => {
    const cluster = await setUp()
    const { one, two } = cluster
    const sockets: Socket[] = []
    for (let at = 0; at < 2; at++) {
      const { raw: old, id } = await opened(one)
      await ask(old, big(40_000))
      const raw = await open(two.port, { 'last-event-id': '2', 'mcp-session-id': id })
      expect(idOf(raw)).toBe(id)
      sockets.push({ raw, id })
    }
    for (let at = 0; at < 8; at++) {
      const socket = await opened(two)
      await ask(socket.raw, big(40_000))
      sockets.push(socket)
    }
    await expect.poll(() => kept(cluster, sockets)).toBeLessThanOrEqual(QUARTER)
    for (const { raw } of sockets) await ask(raw, message('ping', {}, 3))
  })

  test('are gone for a client that missed some of them, and a client that has all resumes', async () => {
    const cluster = await setUp()
    const { one, two } = cluster
    const { raw, id } = await opened(one)
    await ask(raw, big(150_000))
    await expect.poll(() => kept(cluster, [{ raw, id }])).toBe(0)
    for (const count of ['1', '3']) {
      const other = await open(two.port, { 'last-event-id': count, 'mcp-session-id': id })
      expect(idOf(other)).not.toBe(id)
    }
    const resumed = await open(two.port, { 'last-event-id': '2', 'mcp-session-id': id })
    expect(idOf(resumed)).toBe(id)
    await ask(resumed, message('ping', {}, 3))
    expect(resumed.texts).toHaveLength(1)
  })

  test('count without a connection too: the sessions of clients that left end first', async () => {
    const cluster = await setUp()
    const { one } = cluster
    const left: Socket[] = []
    for (let at = 0; at < 2; at++) {
      const socket = await opened(one)
      left.push(socket)
      await ask(socket.raw, big(40_000))
      socket.raw.socket.destroy()
    }
    const sockets = [await opened(one), await opened(one)] as const
    for (const { raw } of sockets) await ask(raw, big(40_000))
    await expect.poll(() => kept(cluster, [...left, ...sockets])).toBeLessThanOrEqual(QUARTER)
    expect(await kept(cluster, sockets)).toBeGreaterThan(80_000)
    for (const { raw } of sockets) await ask(raw, message('ping', {}, 3))
  })

  test('notifications for clients that left take no more than the share of an address, and a little for each session', async () => {
    const uri = `note://${'a'.repeat(2000)}`
    const cluster = await startNodes({
      listen: LISTEN,
      define: (app) => void app.resource('note://{id}', {}, ({ id }) => String(id)),
      limits: { unsentBytes: 400_000 },
    })
    const { app } = cluster.nodes[0] as TestNode
    const left: Socket[] = []
    for (let at = 0; at < 10; at++) {
      const socket = await opened(cluster.nodes[0] as TestNode)
      socket.raw.write(frame(message('notifications/initialized')))
      await ask(socket.raw, message('resources/subscribe', { uri }, 2))
      left.push(socket)
    }
    const closed = left.map(({ raw }) => new Promise((resolve) => raw.socket.once('close', resolve)))
    for (const { raw } of left) raw.socket.destroy()
    await Promise.all(closed)
    const { events, changes } = cluster.stores.kinds
    for (let round = 0; round < 50; round++) {
      app.updated(uri)
      await app.announced()
      const newest = await changes.position()
      for (const { id } of left)
        await expect.poll(() => events.position(id, STREAM), { interval: 1 }).toBe(newest)
    }
    expect(await kept(cluster, left)).toBeLessThan(QUARTER + 10 * 4096)
    expect(await kept(cluster, left)).toBeGreaterThan(10 * 2000)
  })
})
