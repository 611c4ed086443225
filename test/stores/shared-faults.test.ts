import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { memory, sqlite, type BusMessage, type RateUse } from '../../src/stores.ts'
import { findsPlanted, later, type Faults } from './planted.ts'

const LONG_MS = 3_600_000

const folder = mkdtempSync(join(tmpdir(), 'pierhead-faults-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CHANGES: Faults<'changes'> = {
  'positions begin with 1, and grow by 1': ['drivers do not share', 'unshared'],
  'every text is kept as it is': [
    'lone surrogates are replaced',
    (bus) => ({ publish: (text) => bus.publish(Buffer.from(text).toString()) }),
  ],
  'all nodes get all messages, in the same order': [
    'nodes do not get their own messages',
    (bus) => {
      const own = new Set<string>()
      return {
        publish(text) {
          own.add(text)
          return bus.publish(text)
        },
        subscribe: (after, onMessage, onGap) =>
          bus.subscribe(after, (message) => void (own.has(message.text) || onMessage(message)), onGap),
      }
    },
  ],
  'a node gets the messages after a position, old and new': [
    'old messages are not delivered',
    (bus) => ({
      subscribe: async (_after, onMessage, onGap) => bus.subscribe(await bus.position(), onMessage, onGap),
    }),
  ],
  'many old messages arrive in order': [
    'old messages arrive from the newest to the oldest',
    (bus) => ({
      async subscribe(after, onMessage) {
        const messages: readonly BusMessage[] = (await bus.read(after, 1000)) ?? []
        for (const message of messages.toReversed()) onMessage(message)
        return () => {}
      },
    }),
  ],
  'messages are read page by page': [
    'every page is the first',
    (bus) => ({ read: (_after, limit) => bus.read(0, limit) }),
  ],
  'a position that the bus never had is a gap': [
    'such a position waits for its message',
    (bus) => ({
      subscribe: (after, onMessage) => bus.subscribe(after, onMessage, () => {}),
    }),
  ],
  'a subscriber that was stopped gets nothing': [
    'subscribers cannot be stopped',
    (bus) => ({
      async subscribe(...given) {
        await bus.subscribe(...given)
        return () => {}
      },
    }),
  ],
  'a node may publish when it gets a message': [
    'messages that are published meanwhile come first',
    (bus) => ({
      subscribe(after, onMessage, onGap) {
        const held: BusMessage[] = []
        return bus.subscribe(
          after,
          (message) => {
            held.push(message)
            if (message.text === 'question') return void bus.publish('answer')
            for (const one of held.splice(0).toReversed()) onMessage(one)
          },
          onGap,
        )
      },
    }),
  ],
}

const CACHE: Faults<'cache'> = {
  'a text is read as it was set, also by other nodes': ['drivers do not share', 'unshared'],
  'every text and every key is kept as it is': [
    'keys are cut at NUL',
    (cache) => ({ set: (key, ...rest) => cache.set(key.split('\0')[0] ?? '', ...rest) }),
  ],
  'of all nodes that add a text, one succeeds': [
    'adding asks first',
    (cache) => ({
      async add(key, text, ttlMs) {
        if ((await cache.get(key)) !== undefined) return false
        await later()
        await cache.set(key, text, ttlMs)
        return true
      },
    }),
  ],
  'a text that was removed can be added again': [
    'removing leaves an empty text',
    (cache) => ({ delete: (key) => cache.set(key, '', LONG_MS) }),
  ],
  'texts vanish when their time is over': [
    'texts stay',
    (cache) => ({ set: (key, text) => cache.set(key, text, LONG_MS) }),
  ],
  'setting a text again gives it a new time': [
    'the first time counts',
    (cache) => {
      const times = new Map<string, number>()
      return {
        set(key, text, ttlMs) {
          times.set(key, times.get(key) ?? ttlMs)
          return cache.set(key, text, times.get(key) ?? ttlMs)
        },
      }
    },
  ],
}

const RATES: Faults<'rates'> = {
  'requests up to the limit are within it, for all nodes together': ['drivers do not share', 'unshared'],
  'each key is counted by itself': [
    'keys are ignored',
    (rates) => ({ use: (_key, ...rest) => rates.use('', ...rest) }),
  ],
  'a request may count for more than one': [
    'the cost is ignored',
    (rates) => ({ use: (key, limit, windowMs) => rates.use(key, limit, windowMs) }),
  ],
  'the answer says when the window ends': [
    'each request begins a window',
    (rates) => ({
      async use(key, limit, windowMs, cost) {
        return { ...(await rates.use(key, limit, windowMs, cost)), resetMs: windowMs }
      },
    }),
  ],
  'a new window begins when the last one is over': [
    'windows do not end',
    (rates) => ({ use: (key, limit, _windowMs, cost) => rates.use(key, limit, LONG_MS, cost) }),
  ],
  'requests at the same time are all counted': [
    'requests are counted after they were let in',
    () => {
      let used = 0
      return {
        async use(_key, limit, windowMs, cost = 1): Promise<RateUse> {
          const before = used
          await later()
          used = before + cost
          return { isWithin: used <= limit, remaining: limit - used, resetMs: windowMs }
        },
      }
    },
  ],
}

const NODES: Faults<'nodes'> = {
  'each node has a number of its own': ['drivers do not share', 'unshared'],
  'a number is not used again after its node left': [
    'numbers are places',
    (nodes) => ({
      async join(node, leaseMs) {
        return { ...(await nodes.join(node, leaseMs)), number: 1 }
      },
    }),
  ],
  'a node sees the living nodes of its server': [
    'nodes see nobody',
    (nodes) => ({
      async join(node, leaseMs) {
        return { ...(await nodes.join(node, leaseMs)), others: [] }
      },
    }),
  ],
  'a node is alive until it leaves': ['nodes cannot leave', () => ({ leave() {} })],
  'a node that is silent is dead until its next sign of life': [
    'a late beat looks like any other',
    (nodes) => ({
      async beat(number, leaseMs) {
        await nodes.beat(number, leaseMs)
        return true
      },
    }),
  ],
  'a sign of life counts from then on': [
    'leases only grow',
    (nodes) => ({ beat: (number) => nodes.beat(number, LONG_MS) }),
  ],
  'all nodes of a server get the same secret': [
    'each node gets its own',
    () => ({ secret: (_server, proposed) => proposed }),
  ],
  'every text is kept as it is': [
    'lone surrogates are replaced',
    (nodes) => ({
      join: (node, leaseMs) =>
        nodes.join({ ...node, inMemory: node.inMemory.map((text) => Buffer.from(text).toString()) }, leaseMs),
    }),
  ],
}

findsPlanted('changes', CHANGES, memory)
findsPlanted('cache', CACHE, memory)
findsPlanted('rates', RATES, memory)
findsPlanted('nodes', NODES, () =>
  sqlite(join(folder, `${crypto.randomUUID()}.db`), { synchronous: 'normal', shared: true }),
)
