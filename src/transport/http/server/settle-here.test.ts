import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mcpError } from '../../../errors/error.ts'
import { STORE_FAILED, STORE_UNREACHABLE } from '../../../errors/store.ts'
import type { Node } from '../../../nodes/node.ts'
import type { CacheStore } from '../../../rpc/cache-store.ts'
import { PendingRequests } from '../../../rpc/pending-requests.ts'
import type { Session } from '../../../rpc/session.ts'
import { settleHere } from './replicas.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const away = (): never => {
  throw mcpError(STORE_UNREACHABLE, {})
}

interface Asked {
  readonly answer: Promise<unknown>
  /** Handles the message that says that the answer is in the cache. */
  settle(id?: number): Promise<void>
}

/** A node that has asked question 1, whose answer is in the cache. */
function ask(cache: Partial<CacheStore>): Asked {
  const pending = new PendingRequests()
  const controller = new AbortController()
  const options = { signal: controller.signal, timeoutMs: 600_000, cancel: () => undefined }
  const answer = pending.ask('roots/list', () => undefined, options).catch((error: unknown) => error)
  const node = { mayHaveAsked: () => true, isForeign: () => false, stores: { cache } } as unknown as Node
  const session = { pending } as unknown as Session
  return {
    answer,
    settle: (id = 1) => settleHere(node, session, { kind: 'answered', session: 's', key: 'k', id }),
  }
}

test('a long answer counts although it cannot be removed from the cache', async () => {
  const { answer, settle } = ask({ get: () => '{"id":1,"result":{"roots":[]}}', delete: away })
  await settle()
  expect(await answer).toEqual({ roots: [] })
})

test('a long answer is read again while the store is away', async () => {
  let failures = 3
  const removed: string[] = []
  const { answer, settle } = ask({
    get: () => (failures-- > 0 ? away() : '{"id":1,"result":{"roots":[]}}'),
    delete: (key) => void removed.push(key),
  })
  const settling = settle()
  await vi.advanceTimersByTimeAsync(2000)
  await settling
  expect(await answer).toEqual({ roots: [] })
  expect(removed).toEqual(['k'])
})

const LOST: readonly (readonly [string, CacheStore['get']])[] = [
  ['that the cache does not have any more', () => undefined],
  ['that the store cannot give for long', away],
]

test.each(LOST)('a question fails whose answer is one %s', async (_, get) => {
  const { answer, settle } = ask({ get, delete: () => undefined })
  const settling = settle()
  await vi.advanceTimersByTimeAsync(60_000)
  await settling
  expect(await answer).toMatchObject({ kind: 'ask_refused', message: expect.stringContaining('lost') })
})

test('a question fails whose answer cannot be read, and the error is reported', async () => {
  const broken = mcpError(STORE_FAILED, { path: 'here', reason: 'broken' })
  const { answer, settle } = ask({ get: () => Promise.reject(broken), delete: () => undefined })
  await expect(settle()).rejects.toBe(broken)
  expect(await answer).toMatchObject({ kind: 'ask_refused' })
})

test('the answer to a question of another node stays in the cache', async () => {
  const removed: string[] = []
  const { settle } = ask({
    get: () => '{"id":2,"result":{"roots":[]}}',
    delete: (key) => void removed.push(key),
  })
  await settle(2)
  expect(removed).toEqual([])
})
