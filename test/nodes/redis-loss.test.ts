import { expect, onTestFinished, test, vi } from 'vitest'
import type { NodeMessage } from '../../src/nodes/messages.ts'
import { checkStores } from '../../src/nodes/check-stores.ts'
import { Node } from '../../src/nodes/node.ts'
import { redis } from '../../src/stores.ts'
import { startRedis } from '../harness/redis.ts'

interface Member {
  readonly node: Node
  readonly heard: NodeMessage[]
  readonly gaps: number[]
  isAlive(number: number): Promise<boolean>
}

async function join(url: string): Promise<Member> {
  const store = redis({ url, warn: () => undefined })
  const heard: NodeMessage[] = []
  const gaps: number[] = []
  const node = await Node.join({
    server: 'films',
    inMemory: [],
    beatMs: 100,
    stores: checkStores(store),
    report: () => undefined,
    listener: {
      onMessage: (message) => void heard.push(message),
      onAllChanged: (position) => void gaps.push(position),
    },
  })
  onTestFinished(async () => {
    await node.leave()
    await store.close()
  })
  return { node, heard, gaps, isAlive: async (number) => store.nodes.isAlive(number) }
}

test('nodes go on after Redis has lost its data: they are known again, get messages, and share no number', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  const first = await join(server.url)
  for (let at = 0; at < 20; at++) await first.node.publish({ kind: 'ended', session: `early ${at}` })
  const second = await join(server.url)
  await first.node.publish({ kind: 'ended', session: 'before' })
  await vi.waitFor(() => expect(second.heard).toEqual([{ kind: 'ended', session: 'before' }]))

  await server.send('FLUSHALL')
  const third = await join(server.url)
  await server.send('CLIENT', 'KILL', 'TYPE', 'normal')
  const old = [first, second]
  await vi.waitFor(() => expect(old.map(({ gaps }) => gaps.length > 0)).toEqual([true, true]), 10_000)
  const all = [first, second, third]
  await vi.waitFor(async () => {
    for (const { node } of all) expect(await third.isAlive(node.number)).toBe(true)
    expect(new Set(all.map(({ node }) => node.number)).size).toBe(3)
  }, 10_000)

  await first.node.publish({ kind: 'ended', session: 'after' })
  await vi.waitFor(() => {
    for (const { heard } of all) expect(heard.at(-1)).toEqual({ kind: 'ended', session: 'after' })
  }, 10_000)
})

test('the first number after a loss is not the first one again', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  const first = await join(server.url)
  await server.send('FLUSHALL')
  const second = await join(server.url)
  expect(second.node.number).not.toBe(first.node.number)
})
