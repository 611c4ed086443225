import { describe, expect, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import type { SentChange } from '../rpc/changes.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import { MemoryChangeBus } from '../store/changes-memory.ts'
import { Lifetime } from '../store/lifetime.ts'
import { memory } from '../store/memory.ts'
import type { NodeMessage } from './messages.ts'
import { Node, checkStores, type NodeListener, type NodeStores } from './node.ts'

const TOOLS: SentChange = { kind: 'tools' }

function toStores(kept = 10_000): NodeStores {
  const { sessions, events, cache } = memory()
  let last = 0
  const nodes: NodeStore = {
    join: () => ({ number: ++last, others: [] }),
    beat: () => true,
    leave: () => undefined,
    isAlive: () => true,
    secret: (_, proposed) => proposed,
  }
  const changes = new MemoryChangeBus(new Lifetime(), { events: kept, bytes: 10_000_000 })
  return { sessions, events, cache, changes, nodes }
}

/** Stores whose bus cannot be reached until it is back. */
function awayStores(): { readonly stores: NodeStores; comeBack(): void } {
  const stores = toStores()
  const { changes } = stores
  const publish = changes.publish.bind(changes)
  changes.publish = () => {
    throw mcpError(STORE_UNREACHABLE, {})
  }
  return { stores, comeBack: () => void (changes.publish = publish) }
}

interface Heard {
  readonly node: Node
  readonly messages: NodeMessage[]
  readonly gaps: number[]
}

async function join(stores: NodeStores, server = 'a'): Promise<Heard> {
  const report = (): void => undefined
  const messages: NodeMessage[] = []
  const gaps: number[] = []
  const listener: NodeListener = {
    onMessage: (message) => void messages.push(message),
    onAllChanged: (position) => void gaps.push(position),
  }
  const node = await Node.join({ server, stores, inMemory: [], beatMs: 1000, listener, report })
  return { node, messages, gaps }
}

const changed = (uri: string): NodeMessage => ({ kind: 'changed', change: { kind: 'resource', uri } })

describe('messages', () => {
  test('reach all nodes of the server, the sender too, and no others', async () => {
    const stores = toStores()
    const [one, two, other] = [await join(stores), await join(stores), await join(stores, 'b')]
    await one.node.publish({ kind: 'ended', session: 's' })
    for (const { messages } of [one, two]) expect(messages).toEqual([{ kind: 'ended', session: 's' }])
    expect(other.messages).toEqual([])
    await Promise.all([one, two, other].map(({ node }) => node.leave()))
  })

  test('that nobody can read are ignored, and a listener that throws does not stop the others', async () => {
    const stores = toStores()
    const one = await join(stores)
    one.node.listen({
      onMessage: () => {
        throw new Error('broken')
      },
      onAllChanged: () => undefined,
    })
    for (const text of ['', '[]', '{"server":"a"}', 'null']) await stores.changes.publish(text)
    await one.node.publish(changed('a://b'))
    await one.node.publish(changed('a://c'))
    expect(one.messages).toEqual([changed('a://b'), changed('a://c')])
    await one.node.leave()
  })

  test('of the time before a node started are known as changes only, and revocations', async () => {
    const stores = toStores()
    const one = await join(stores)
    await one.node.publish({ kind: 'ended', session: 's' })
    await one.node.publish({ kind: 'changed', change: TOOLS })
    const revoked: NodeMessage = { kind: 'revoked', sub: 'ann', at: 1 }
    await one.node.publish(revoked)
    const two = await join(stores)
    expect(two.messages).toEqual([revoked])
    expect(await two.node.changesAfter(0, 3)).toEqual([{ position: 2, change: TOOLS }])
    await Promise.all([one, two].map(({ node }) => node.leave()))
  })

  test('that are sent while the store is away are published later, equal changes once', async () => {
    const { stores, comeBack } = awayStores()
    const one = await join(stores)
    one.node.sendChange(TOOLS)
    one.node.sendChange({ kind: 'prompts' })
    one.node.sendChange({ kind: 'prompts' })
    one.node.send({ kind: 'ended', session: 's' })
    comeBack()
    await one.node.announced()
    expect(one.messages).toEqual([
      { kind: 'changed', change: TOOLS },
      { kind: 'changed', change: { kind: 'prompts' } },
      { kind: 'ended', session: 's' },
    ])
    await one.node.leave()
  })

  test('whose answer was lost are published once, also if others follow', async () => {
    const stores = toStores()
    const { changes } = stores
    const publish = changes.publish.bind(changes)
    const one = await join(stores)
    let lost = 2
    changes.publish = async (text) => {
      const position = await publish(text)
      if (lost-- > 0) {
        for (let others = 0; others < 600; others++) await publish('{}')
        throw mcpError(STORE_UNREACHABLE, {})
      }
      return position
    }
    one.node.sendChange(TOOLS)
    await one.node.sent()
    one.node.sendChange(TOOLS)
    await one.node.sent()
    one.node.sendChange(TOOLS)
    await one.node.sent()
    expect(one.messages).toEqual(Array.from({ length: 3 }, () => ({ kind: 'changed', change: TOOLS })))
    await one.node.leave()
  })

  test('from before its start are known to a node that has not read them yet', async () => {
    const stores = toStores()
    const one = await join(stores)
    await one.node.publish({ kind: 'changed', change: TOOLS })
    await one.node.publish(changed('a://b'))
    let read = (): void => undefined
    const subscribe = stores.changes.subscribe.bind(stores.changes)
    stores.changes.subscribe = (...given) => {
      read = () => void subscribe(...given)
      return () => undefined
    }
    const two = await join(stores)
    const { position } = two.node
    expect(position).toBe(2)
    const known = [
      { position: 1, change: TOOLS },
      { position: 2, change: { kind: 'resource', uri: 'a://b' } },
    ]
    const found = two.node.changesAfter(0, position)
    read()
    expect(await found).toEqual(known)
    expect(two.node.position).toBe(2)
    await Promise.all([one, two].map(({ node }) => node.leave()))
  })

  test('of too many changes say that everything may have changed', async () => {
    const { stores, comeBack } = awayStores()
    const one = await join(stores)
    for (let at = 0; at < 5000; at++) one.node.sendChange({ kind: 'resource', uri: `a://${at}` })
    comeBack()
    await one.node.sent()
    expect(one.messages.length).toBeLessThanOrEqual(1001)
    expect(one.gaps).toHaveLength(1)
    expect(await one.node.changesAfter(0, one.node.position)).toBeUndefined()
    await one.node.leave()
  })

  test('a revocation reaches nodes that start later, however many messages followed it', async () => {
    const stores = toStores(100)
    const one = await join(stores)
    for (const sub of ['ann', 'bob']) one.node.sendRevocation({ kind: 'revoked', sub, at: 1 })
    await one.node.sent()
    for (let at = 0; at < 2500; at++) await one.node.publish(changed(`a://${at}`))
    const [two, other] = [await join(stores), await join(stores, 'b')]
    expect(two.messages).toEqual(['ann', 'bob'].map((sub) => ({ kind: 'revoked', sub, at: 1 })))
    expect(other.messages).toEqual([])
    await Promise.all([one, two, other].map(({ node }) => node.leave()))
  })
})

describe('changes after a position', () => {
  test('are read again if the node does not remember them', async () => {
    const stores = toStores(30_000)
    const one = await join(stores)
    for (let at = 1; at <= 25_000; at++) await one.node.publish(changed(`a://${at}`))
    const found = await one.node.changesAfter(10, 20)
    expect(found?.map(({ position }) => position)).toEqual(Array.from({ length: 10 }, (_, at) => at + 11))
    await one.node.leave()
  })

  test('are unknown if the bus does not have them any more', async () => {
    const stores = toStores(100)
    const one = await join(stores)
    for (let at = 1; at <= 25_000; at++) await one.node.publish(changed(`a://${at}`))
    expect(await one.node.changesAfter(10, 20)).toBeUndefined()
    expect(await one.node.changesAfter(24_990, 25_000)).toHaveLength(10)
    await one.node.leave()
  })
})

test('ids of questions and names of streams are those of their node', async () => {
  const stores = toStores()
  const [one, two] = [await join(stores), await join(stores)]
  const ids = [one, one, two].map(({ node }) => node.nextQuestion())
  expect(new Set(ids).size).toBe(3)
  expect(ids.map((id) => one.node.isForeign(id))).toEqual([false, false, true])
  for (const id of ['1', 5, undefined, 1.5, {}]) expect(one.node.isForeign(id)).toBe(false)
  const names = [one, one, two].map(({ node }) => node.nextStream())
  expect(new Set(names).size).toBe(3)
  await Promise.all([one, two].map(({ node }) => node.leave()))
})

test('a store that lacks a function is rejected with its name', () => {
  const { events, ...rest } = toStores()
  const lacking = Object.create(events, { append: { value: undefined } }) as typeof events
  expect(() => checkStores({ ...rest, events: lacking })).toThrow('events has no function append')
})
