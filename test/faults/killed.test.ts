import { describe, expect, test } from 'vitest'
import type { Revision } from 'pierhead'
import { connect, createClient, type Client, type ConnectOptions, type State } from '../../src/client.ts'
import { Journal } from './journal.ts'

const MORTAL = new URL('./mortal.mjs', import.meta.url).pathname
const REVISIONS: readonly (Revision | undefined)[] = [undefined, '2025-11-25', '2026-07-28']
const OPENING = ['start', 'handshake', 'question', 'half', 'answered'] as const

interface Mortal extends AsyncDisposable {
  readonly client: Client
  readonly journal: Journal
  readonly states: readonly State[]
}

/** A client of a server that dies at a moment of its first lives. */
function mortal(moment: string, lives: number, options: ConnectOptions): Mortal {
  const journal = new Journal()
  const target = { command: process.execPath, args: [MORTAL, journal.path, moment, String(lives)] }
  const client = createClient(target, { timeout: 5000, ...options })
  const states: State[] = []
  client.on('state', (state) => states.push(state))
  return {
    client,
    journal,
    states,
    async [Symbol.asyncDispose]() {
      await client.close()
      journal[Symbol.dispose]()
    },
  }
}

const kindOf = (error: unknown): string => (error as { kind: string }).kind

describe.each(REVISIONS)('a server of revision %s that is killed', (revision) => {
  const options = revision === undefined ? {} : { revision }

  test.each(OPENING)(
    'at the moment "%s" of opening fails what waits, and works the next time [R066] [S2-13-C4]',
    async (moment) => {
      await using server = mortal(moment, 1, options)
      const { client, journal } = server
      const first = await Promise.all(
        ['a', 'b', 'c'].map((key) => client.call('do', { key }).catch((error: unknown) => kindOf(error))),
      )
      for (const one of first) expect(one).toMatch(/^(do [abc]|connect_failed|stream_lost)$/)
      expect(await client.call('do', { key: 'again' })).toBe('do again')
      expect(client.state).toBe('ready')
      for (const key of ['a', 'b', 'c', 'again']) expect(journal.count(`ran ${key}`)).toBeLessThanOrEqual(1)
      expect(journal.count('born')).toBeLessThanOrEqual(3)
    },
  )

  test('with a call before it ran fails the call, which is not repeated unless that is safe [R066] [R128]', async () => {
    await using unsafe = mortal('call', 1, options)
    await expect(unsafe.client.call('do', { key: 'a' })).rejects.toMatchObject({ kind: 'stream_lost' })
    expect(unsafe.journal.count('ran a')).toBe(0)
    expect(await unsafe.client.call('do', { key: 'b' })).toBe('do b')
    expect(unsafe.states).toEqual(['ready', 'reconnecting', 'ready'])

    await using safe = mortal('call', 1, options)
    expect(await safe.client.call('do', { key: 'a' }, { idempotent: true })).toBe('do a')
    expect(safe.states).toEqual(['ready', 'reconnecting', 'ready'])
  })

  test('after a call ran and before its answer fails the call, and never runs it again [R128]', async () => {
    await using server = mortal('ran', 1, options)
    const error = await server.client.call('do', { key: 'a' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'stream_lost', data: { signal: 'SIGKILL' } })
    expect(await server.client.call('do', { key: 'b' })).toBe('do b')
    expect(server.journal.count('ran a')).toBe(1)
  })

  test('in the middle of an answer is repeated like any that was lost [R128]', async () => {
    await using server = mortal('half answer', 1, options)
    expect(await server.client.call('do', { key: 'a' }, { idempotent: true })).toBe('do a')
    expect(server.journal.count('ran a')).toBe(2)
  })

  test('while idle is noticed without a call, and started again by the next one [R066] [S2-13-C11]', async () => {
    await using server = mortal('done', 1, options)
    const { client, states } = server
    const down = new Promise<void>((resolve) =>
      client.on('state', (state) => (state === 'reconnecting' ? resolve() : undefined)),
    )
    expect(await client.call('do', { key: 'a' })).toBe('do a')
    await down
    expect(client.state).toBe('reconnecting')
    expect(await client.call('do', { key: 'b' })).toBe('do b')
    expect(states).toEqual(['ready', 'reconnecting', 'ready'])
  })

  test('with 200 calls in flight fails those that were lost and runs none twice [R066]', async () => {
    await using server = mortal('ran', 1, options)
    const { client, journal } = server
    const keys = Array.from({ length: 200 }, (_, index) => `k${index}`)
    const outcomes = await Promise.allSettled(keys.map((key) => client.call('do', { key })))
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
    for (const [index, outcome] of outcomes.entries()) {
      const key = keys[index] as string
      const end: unknown = outcome.status === 'fulfilled' ? outcome.value : kindOf(outcome.reason)
      expect(end).toBeOneOf([`do ${key}`, 'stream_lost'])
      expect(journal.count(`ran ${key}`)).toBeOneOf(end === 'stream_lost' ? [0, 1] : [1])
    }
    const again = await Promise.all(keys.map((key) => client.call('do', { key: `again ${key}` })))
    expect(again).toEqual(keys.map((key) => `do again ${key}`))
  })
})

test('a server of 2026-07-28 that is killed while something is watched is started again without a call, and the listen repeated [R066]', async () => {
  await using server = mortal('listening', 2, { revision: '2026-07-28' })
  const { client, journal } = server
  const listens = (): number => journal.count('listens {"toolsListChanged":true}')
  for await (const change of client.watch({ tools: true })) {
    expect(change).toEqual({ kind: 'tools' })
    if (listens() === 3) break
  }
  expect(journal.count('born')).toBe(3)
})

test('a server that keeps dying is started ever more slowly, and closing does not wait for it [R066]', async () => {
  const server = mortal('handshake', 100, { revision: '2025-11-25' })
  await using _ = server
  const { client, journal } = server
  const waits: number[] = []
  for (let turn = 0; turn < 4; turn++) {
    const since = performance.now()
    await expect(client.call('do', { key: 'a' })).rejects.toMatchObject({ kind: 'connect_failed' })
    waits.push(performance.now() - since)
  }
  expect(journal.count('born')).toBe(4)
  const [, , third = 0, fourth = 0] = waits
  expect(third).toBeGreaterThan(300)
  expect(fourth).toBeGreaterThan(700)
  const waiting = client.call('do', { key: 'a' }).catch((error: unknown) => kindOf(error))
  await client.close()
  expect(await waiting).toBe('closed')
  expect(journal.count('born')).toBe(4)
})

test('a call that waits for a server to restart can be cancelled', async () => {
  await using server = mortal('handshake', 100, { revision: '2025-11-25' })
  const { client } = server
  for (let turn = 0; turn < 4; turn++) await client.call('do', { key: 'a' }).catch(() => undefined)
  const timed = await client
    .call('do', { key: 'a' }, { timeout: 50 })
    .catch((error: unknown) => kindOf(error))
  expect(timed).toBe('timeout')
  const signal = AbortSignal.timeout(50)
  const aborted = await client.call('do', { key: 'a' }, { signal }).catch((error: unknown) => kindOf(error))
  expect(aborted).toBe('cancelled')
})

test('a client that is closed while its server opens rejects what waited', async () => {
  using journal = new Journal()
  const target = { command: process.execPath, args: [MORTAL, journal.path, 'question', '100'] }
  const opening = connect(target, { revision: '2025-11-25' }).catch((error: unknown) => kindOf(error))
  expect(await opening).toMatch(/connect_failed|stream_lost/)
  const client = createClient(target, { revision: '2025-11-25' })
  const pending = client.ping().catch((error: unknown) => kindOf(error))
  await client.close()
  expect(await pending).toBe('closed')
})
