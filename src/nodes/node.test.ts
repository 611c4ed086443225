import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { mcpError } from '../errors/error.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import type { BusMessage, ChangeBus } from '../rpc/change-bus.ts'
import type { SentChange } from '../rpc/changes.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import { MemoryChangeBus } from '../store/changes-memory.ts'
import { Lifetime } from '../store/lifetime.ts'
import { memory } from '../store/memory.ts'
import { MemoryNodeStore } from '../store/nodes-memory.ts'
import type { PastChanges } from './change-history.ts'
import type { NodeMessage } from './messages.ts'
import { checkStores } from './check-stores.ts'
import { Node } from './node.ts'
import type { NodeListener, NodeStores } from './node-options.ts'

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

/** A bus that can lose its data, as Redis does if it restarts without them: positions begin again with 1, and readers get a gap. */
class LossyBus implements ChangeBus {
  #bus = new MemoryChangeBus(new Lifetime())
  readonly #resume = new Set<() => void>()

  publish(text: string): number {
    return this.#bus.publish(text)
  }

  subscribe(
    after: number,
    onMessage: (message: BusMessage) => void,
    onGap: (position: number) => void,
  ): () => void {
    this.#resume.add(() => {
      onGap(0)
      this.#bus.subscribe(0, onMessage, onGap)
    })
    return this.#bus.subscribe(after, onMessage, onGap)
  }

  position(): number {
    return this.#bus.position()
  }

  read(after: number, limit: number): readonly BusMessage[] | undefined {
    return this.#bus.read(after, limit)
  }

  loseData(): void {
    this.#bus = new MemoryChangeBus(new Lifetime())
    for (const resume of this.#resume) resume()
  }
}

/** A registry that can lose its data, or take nodes for dead. */
class LossyNodes implements NodeStore {
  #nodes = new MemoryNodeStore(new Lifetime())

  join(...args: Parameters<MemoryNodeStore['join']>): ReturnType<MemoryNodeStore['join']> {
    return this.#nodes.join(...args)
  }

  beat(number: number, leaseMs: number): boolean {
    return this.#nodes.beat(number, leaseMs)
  }

  leave(number: number): void {
    this.#nodes.leave(number)
  }

  isAlive(number: number): boolean {
    return this.#nodes.isAlive(number)
  }

  secret(server: string, proposed: string): string {
    return this.#nodes.secret(server, proposed)
  }

  /** `last` is the number before the next one. */
  loseData(last: number = 0): void {
    this.#nodes = new MemoryNodeStore(new Lifetime(), last)
  }
}

interface Heard {
  readonly node: Node
  readonly messages: NodeMessage[]
  /** The messages that this node has sent itself. */
  readonly own: NodeMessage[]
  readonly positions: number[]
  readonly gaps: number[]
}

async function join(stores: NodeStores, server = 'a'): Promise<Heard> {
  const report = (): void => undefined
  const messages: NodeMessage[] = []
  const own: NodeMessage[] = []
  const positions: number[] = []
  const gaps: number[] = []
  const listener: NodeListener = {
    onMessage(message, isOwn, position) {
      messages.push(message)
      positions.push(position)
      if (isOwn) own.push(message)
    },
    onAllChanged: (position) => void gaps.push(position),
  }
  const node = await Node.join({ server, stores, inMemory: [], beatMs: 1000, listener, report })
  return { node, messages, own, positions, gaps }
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
    expect(await two.node.changesAfter(0, 3)).toEqual({ changes: [{ position: 2, change: TOOLS }], lost: [] })
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
    expect(await found).toEqual({ changes: known, lost: [] })
    expect(two.node.position).toBe(2)
    await Promise.all([one, two].map(({ node }) => node.leave()))
  })

  test('of too many changes say that all resources may have changed; lists are few', async () => {
    const { stores, comeBack } = awayStores()
    const one = await join(stores)
    for (let at = 0; at < 5000; at++) one.node.sendChange({ kind: 'resource', uri: `a://${at}` })
    one.node.sendChange(TOOLS)
    comeBack()
    await one.node.sent()
    expect(one.messages.length).toBeLessThanOrEqual(1002)
    expect(one.gaps).toHaveLength(1)
    expect(one.messages).toContainEqual({ kind: 'changed', change: TOOLS })
    const { changes, lost } = await one.node.changesAfter(0, one.node.position)
    expect([changes.map(({ change }) => change), lost]).toEqual([[TOOLS], ['updates']])
    await one.node.leave()
  })

  test('of changes that nobody knows are not looked for, and come rarely, and none is forgotten', async () => {
    const { stores, comeBack } = awayStores()
    const one = await join(stores)
    const two = await join(stores)
    const read = vi.spyOn(stores.changes, 'read')
    const log = vi.spyOn(stores.events, 'read')
    const change = (round: number): void => {
      for (let at = 0; at < 1500; at++) one.node.sendChange({ kind: 'resource', uri: `a://${round}/${at}` })
    }
    change(0)
    comeBack()
    await one.node.announced()
    log.mockClear()
    read.mockClear()
    const first = two.gaps[0] as number
    for (const after of [0, 5, first - 1])
      expect((await two.node.changesAfter(after, two.node.position)).lost).toEqual(['updates'])
    expect((await two.node.changesAfter(first, two.node.position)).lost).toEqual([])
    expect(read).not.toHaveBeenCalled()
    expect(log).not.toHaveBeenCalled()
    for (let round = 1; round <= 4; round++) {
      change(round)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // Without a rest, there would be one for each round.
    expect(two.gaps.length).toBeLessThan(5)
    // Callers that wait for the changes do not wait for the rest.
    await one.node.announced()
    const count = two.gaps.length
    expect(count).toBeGreaterThan(1)
    change(5)
    await vi.waitFor(() => expect(two.gaps.length).toBeGreaterThan(count), 5000)
    await Promise.all([one, two].map(({ node }) => node.leave()))
  })

  test('about ended sessions do not turn one change into everything, however many wait', async () => {
    const { stores, comeBack } = awayStores()
    const one = await join(stores)
    for (let at = 0; at < 1500; at++) one.node.send({ kind: 'ended', session: `s${at}` })
    one.node.sendChange(TOOLS)
    comeBack()
    await one.node.sent()
    expect(one.messages.at(-1)).toEqual({ kind: 'changed', change: TOOLS })
    expect(one.gaps).toEqual([])
    await one.node.leave()
  })

  test('a revocation reaches nodes that start later, however many messages followed it', async () => {
    const stores = toStores(100)
    const one = await join(stores)
    for (const sub of ['ann', 'bob']) void one.node.sendRevocation({ kind: 'revoked', sub, at: 1 })
    await one.node.sent()
    for (let at = 0; at < 2500; at++) await one.node.publish(changed(`a://${at}`))
    const [two, other] = [await join(stores), await join(stores, 'b')]
    expect(two.messages).toEqual(['ann', 'bob'].map((sub) => ({ kind: 'revoked', sub, at: 1 })))
    expect(other.messages).toEqual([])
    await Promise.all([one, two, other].map(({ node }) => node.leave()))
  })
})

test('a node hears of each revocation once, although it reads the log and the bus; one from before its start has no position', async () => {
  const stores = toStores()
  const { events } = stores
  const one = await join(stores)
  const revoke = async (sub: string): Promise<void> => {
    void one.node.sendRevocation({ kind: 'revoked', sub, at: 1 })
    await one.node.sent()
  }
  await revoke('before')
  const read = events.read.bind(events)
  const isDue = new Deferred<void>()
  events.read = async (...page) => {
    isDue.resolve()
    await Promise.resolve()
    return read(...page)
  }
  const joining = join(stores)
  await isDue.promise
  await revoke('meanwhile')
  const two = await joining
  await revoke('after')
  expect(two.messages.map((message, at) => ['sub' in message && message.sub, two.positions[at]])).toEqual([
    ['before', 0],
    ['meanwhile', 2],
    ['after', 3],
  ])
  await Promise.all([one, two].map(({ node }) => node.leave()))
})

test('a node that misses messages reads the revocations among them, and tells each once', async () => {
  const stores = toStores()
  const { changes, events } = stores
  const subscribe = changes.subscribe.bind(changes)
  const [read, ears] = [
    events.read.bind(events),
    { isDeaf: false, onGap: (_newest: number): void => undefined },
  ]
  changes.subscribe = (from, onMessage, onGap) => {
    ears.onGap = onGap
    return subscribe(from, (message) => (ears.isDeaf ? undefined : onMessage(message)), onGap)
  }
  const two = await join(stores)
  changes.subscribe = subscribe
  const one = await join(stores)
  const revoke = async (sub: string): Promise<void> => {
    void one.node.sendRevocation({ kind: 'revoked', sub, at: 1 })
    await one.node.sent()
  }
  await revoke('heard')
  ears.isDeaf = true
  await revoke('missed')
  ears.isDeaf = false
  events.read = () => Promise.reject(new Error('away'))
  ears.onGap(two.node.position + 10)
  expect(two.messages.map((message) => 'sub' in message && message.sub)).toEqual(['heard'])
  events.read = read
  ears.onGap(two.node.position + 10)
  await vi.waitFor(() => expect(two.messages).toHaveLength(2))
  expect(two.messages.map((message) => 'sub' in message && message.sub)).toEqual(['heard', 'missed'])
  await Promise.all([one, two].map(({ node }) => node.leave()))
})

test('after the bus has lost its data, everything may have changed, and messages arrive as before', async () => {
  const changes = new LossyBus()
  const stores = { ...toStores(), changes }
  const first = await join(stores)
  for (let at = 0; at < 20; at++) await first.node.publish(changed(`a://${at}`))
  const two = await join(stores)
  await first.node.publish({ kind: 'ended', session: 'before' })
  changes.loseData()
  expect(two.gaps).toEqual([0])
  await first.node.publish({ kind: 'ended', session: 'after' })
  expect(two.messages).toEqual(['before', 'after'].map((session) => ({ kind: 'ended', session })))
  expect(two.node.position).toBe(1)
  await Promise.all([first, two].map(({ node }) => node.leave()))
})

describe('a node that the registry does not know any more', () => {
  test('joins again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const nodes = new LossyNodes()
    const one = await join({ ...toStores(), nodes })
    nodes.loseData(100)
    expect(nodes.isAlive(one.node.number)).toBe(false)
    await vi.advanceTimersByTimeAsync(1000)
    expect([one.node.number, nodes.isAlive(101)]).toEqual([101, true])
    await one.node.leave()
    expect(nodes.isAlive(101)).toBe(false)
  })

  test('joins again although another one has got its number', async () => {
    const [nodes, changes] = [new LossyNodes(), new LossyBus()]
    const stores = { ...toStores(), nodes, changes }
    const one = await join(stores)
    await one.node.publish({ kind: 'ended', session: 's' })
    const question = one.node.nextQuestion()
    nodes.loseData()
    const two = await join(stores)
    expect(two.node.number).toBe(one.node.number)
    changes.loseData()
    await vi.waitFor(() => expect(one.node.number).not.toBe(two.node.number))
    for (const { node } of [one, two]) expect(nodes.isAlive(node.number)).toBe(true)
    expect(one.node.isForeign(two.node.nextQuestion())).toBe(true)
    // It still waits for the answers to its earlier questions.
    expect(one.node.mayHaveAsked(question)).toBe(true)
    expect(two.node.mayHaveAsked(one.node.nextQuestion())).toBe(false)
    await Promise.all([one, two].map(({ node }) => node.leave()))
  })

  test('does not take the messages of a node with the same number for its own', async () => {
    const nodes = new LossyNodes()
    const stores = { ...toStores(), nodes }
    const one = await join(stores)
    nodes.loseData()
    const two = await join(stores)
    expect(two.node.number).toBe(one.node.number)
    const revoked: NodeMessage = { kind: 'revoked', sub: 'ann', at: 1 }
    void two.node.sendRevocation(revoked)
    await two.node.sent()
    expect([one.messages, one.own, two.own]).toEqual([[revoked], [], [revoked]])
    await Promise.all([one, two].map(({ node }) => node.leave()))
  })

  test('keeps its number if it only was late', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const stores = toStores()
    const beats: number[] = []
    stores.nodes.beat = (number) => {
      beats.push(number)
      return false
    }
    const one = await join(stores)
    await vi.advanceTimersByTimeAsync(2000)
    expect(beats).toEqual([1, 1])
    expect(one.node.number).toBe(1)
    await one.node.leave()
  })

  test('does not join again while it leaves', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const nodes = new LossyNodes()
    const one = await join({ ...toStores(), nodes })
    nodes.loseData()
    const beat = vi.advanceTimersByTimeAsync(1000)
    await Promise.all([one.node.leave(), beat])
    expect([1, 2, 3].map((number) => nodes.isAlive(number))).toEqual([false, false, false])
  })
})

describe('changes after a position', () => {
  const positionsOf = ({ changes }: PastChanges): readonly number[] => changes.map(({ position }) => position)

  test('are read again if the node does not remember them', async () => {
    const stores = toStores(60_000)
    const one = await join(stores)
    for (let at = 1; at <= 55_000; at++) await one.node.publish(changed(`a://${at}`))
    const found = await one.node.changesAfter(10, 20)
    expect(positionsOf(found)).toEqual(Array.from({ length: 10 }, (_, at) => at + 11))
    expect(found.lost).toEqual([])
    await one.node.leave()
  })

  test('are unknown if the bus does not have them any more, and there were very many since', async () => {
    const stores = toStores(100)
    const one = await join(stores)
    await one.node.publish({ kind: 'changed', change: TOOLS })
    for (let at = 2; at <= 55_000; at++) await one.node.publish(changed(`a://${at}`))
    expect(await one.node.changesAfter(0, 20)).toEqual({
      changes: [{ position: 1, change: TOOLS }],
      lost: ['updates'],
    })
    expect((await one.node.changesAfter(54_990, 55_000)).changes).toHaveLength(10)
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
