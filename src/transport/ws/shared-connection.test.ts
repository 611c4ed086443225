import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mcpError } from '../../errors/error.ts'
import { STORE_UNREACHABLE } from '../../errors/store.ts'
import type { Node } from '../../nodes/node.ts'
import type { EventStore } from '../../rpc/event-store.ts'
import { MemoryEventStore } from '../../store/events-memory.ts'
import { Lifetime } from '../../store/lifetime.ts'
import type { SharedClient } from '../http/server/shared-client.ts'
import type { SharedClients } from '../http/server/shared-clients.ts'
import { ReceivedLog } from './received-log.ts'
import type { Carrier } from './session.ts'
import { SharedConnection } from './shared-connection.ts'

const IDLE_MS = 60_000
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call"}'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface View {
  readonly log: ReceivedLog
  isAway: boolean
}

/** The store as one node sees it. */
function toView(store: EventStore, number: number): View {
  const view = { isAway: false }
  const events = new Proxy(store, {
    get: (target, name: keyof EventStore) => {
      const step = target[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        if (view.isAway) throw mcpError(STORE_UNREACHABLE, {})
        return step.apply(target, args)
      }
    },
  })
  const node = { number, stores: { events } } as unknown as Node
  return Object.assign(view, { log: new ReceivedLog(node, 2 * IDLE_MS, 100) })
}

interface Opened {
  readonly connection: SharedConnection
  readonly carrier: Carrier
  readonly ends: string[]
}

function open(log: ReceivedLog): Opened {
  const ends: string[] = []
  const carrier: Carrier = {
    isBehind: false,
    send: () => undefined,
    ask: () => undefined,
    replace: () => void ends.push('replaced'),
    refuse: (why) => void ends.push(why),
    abort: () => void ends.push('aborted'),
  }
  const client = {
    id: 's',
    runs: [],
    holder: undefined,
    connection: {},
    attach: () => undefined,
    detach: () => true,
  } as unknown as SharedClient
  const clients = { idleMs: IDLE_MS, catchUp: () => Promise.resolve() } as unknown as SharedClients
  const options = { client, clients, log, epoch: 0, received: 0, isLatest: () => true }
  const connection = new SharedConnection(options)
  connection.carryOn(carrier, { count: 0, auth: undefined })
  return { connection, carrier, ends }
}

test('a connection that another node took over accepts no message, however long its node could not reach the store', async () => {
  const store = new MemoryEventStore(new Lifetime())
  const [one, two] = [toView(store, 1), toView(store, 2)]
  await one.log.begin('s', 0, 0)
  const { connection, carrier, ends } = open(one.log)
  one.isAway = true
  expect(await two.log.end('s', 0)).toMatchObject({ epoch: 0, total: 0 })
  // Meanwhile the log that was ended is forgotten.
  for (let passed = 0; passed <= 3 * IDLE_MS; passed += IDLE_MS / 4) {
    await vi.advanceTimersByTimeAsync(IDLE_MS / 4)
    connection.touch()
  }
  one.isAway = false
  await vi.advanceTimersByTimeAsync(5000)
  expect(await connection.note(carrier, [CALL])).toBe(false)
  expect(ends).toContain('replaced')
})

test('a node that cannot reach the store for long aborts its connections, whose logs may have ended', async () => {
  const store = new MemoryEventStore(new Lifetime())
  const one = toView(store, 1)
  await one.log.begin('s', 0, 0)
  const { connection, ends } = open(one.log)
  one.isAway = true
  for (let passed = 0; passed <= IDLE_MS; passed += IDLE_MS / 4) {
    await vi.advanceTimersByTimeAsync(IDLE_MS / 4)
    connection.touch()
  }
  expect(ends).toEqual(['aborted'])
})

test('the log of a silent connection stays', async () => {
  const store = new MemoryEventStore(new Lifetime())
  const one = toView(store, 1)
  await one.log.begin('s', 0, 0)
  const { connection, carrier, ends } = open(one.log)
  for (let passed = 0; passed <= 5 * IDLE_MS; passed += IDLE_MS / 4) {
    await vi.advanceTimersByTimeAsync(IDLE_MS / 4)
    connection.touch()
  }
  expect(await connection.note(carrier, [CALL])).toBe(true)
  expect(ends).toEqual([])
  expect(await one.log.end('s', 0)).toMatchObject({ epoch: 0, total: 1, runs: [{ node: 1, ids: ['1'] }] })
})

test('C.values a message is noted before its limits are checked, so it is not parsed for that', async () => {
  const store = new MemoryEventStore(new Lifetime())
  const one = toView(store, 1)
  await one.log.begin('s', 0, 0)
  const { connection, carrier } = open(one.log)
  const hidden = `{"params":{"x":{}},"jsonrpc":"2.0","method":"ping","id":7}`
  const batch = `[${Array.from({ length: 101 }, (_, id) => `{"id":${id},"method":"ping"}`).join(',')}]`
  const parse = vi.spyOn(JSON, 'parse')
  try {
    expect(await connection.note(carrier, [hidden, batch])).toBe(true)
    expect(parse.mock.calls.flat()).not.toContain(hidden)
    expect(parse.mock.calls.flat()).not.toContain(batch)
  } finally {
    parse.mockRestore()
  }
  // A batch that is too long is not accepted, so none of its requests runs.
  expect(await one.log.end('s', 0)).toMatchObject({ total: 2, runs: [{ node: 1, ids: ['7'] }] })
})
