import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { CommandTarget } from '../../src/client/target.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { failure, next } from './gather.ts'

const RECORDER: CommandTarget = {
  command: process.execPath,
  args: [fileURLToPath(new URL('recorder.mjs', import.meta.url))],
}

describe.each(REVISIONS)('a server program at %s', (revision) => {
  test('is written nothing but messages, one a line, a cancellation among them [R062] [R067] [S4-3-4] [S4-2-1] [S1-1.2-1]', async () => {
    await using client = await connect(RECORDER, { revision, answers: { roots: [] } })
    await client.ping()
    const stop = new AbortController()
    const held = failure(client.call('hold', { text: 'two\nlines \u2028' }, { signal: stop.signal }))
    await next(client, 'stderr')
    stop.abort()
    await held
    await client.notify('notifications/cancelled', { requestId: 12_345 })
    const written = String(await client.call('lines'))
    expect(written.endsWith('\n')).toBe(true)
    const messages = written
      .slice(0, -1)
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(messages.length).toBeGreaterThan(4)
    for (const message of messages)
      expect(message).toMatchObject({ jsonrpc: '2.0', method: expect.any(String) })
    const { id } =
      messages.find(({ params }) => (params as JsonObject | undefined)?.['name'] === 'hold') ?? {}
    const cancelled = messages.filter(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.map(({ params }) => (params as JsonObject)['requestId'])).toEqual([id, 12_345])
    const opening = revision === '2026-07-28' ? 'server/discover' : 'initialize'
    expect(messages[0]?.['method']).toBe(opening)
  })

  test('may write to stderr, which the client passes on and does not treat as a failure [R065]', async () => {
    await using client = await connect(RECORDER, { revision })
    const stop = new AbortController()
    const told = next(client, 'stderr')
    const held = failure(client.call('hold', {}, { signal: stop.signal }))
    expect(await told).toContain('holding')
    stop.abort()
    expect(await held).toMatchObject({ kind: 'cancelled' })
    expect(client.state).toBe('ready')
  })
})

/** The recorder under a name of its own, so that nothing is known of it yet. */
function fresh(...flags: readonly string[]): CommandTarget {
  return { ...RECORDER, args: [...(RECORDER.args ?? []), `${process.pid}-${performance.now()}`, ...flags] }
}

test('a program that knows only older revisions is found out, and not asked for the newest again', async () => {
  const target = fresh('old')
  for (const opening of ['server/discover', 'initialize']) {
    await using client = await connect(target)
    expect((await client.server()).revision).toBe('2025-11-25')
    const [first] = String(await client.call('lines')).split('\n')
    expect(JSON.parse(first as string)).toMatchObject({ method: opening })
  }
})

test('a revision that was insisted on once is not taken for all that a program knows', async () => {
  const target = fresh()
  await using pinned = await connect(target, { revision: '2025-06-18' })
  expect((await pinned.server()).revision).toBe('2025-06-18')
  await using free = await connect(target)
  expect((await free.server()).revision).toBe('2026-07-28')
})
