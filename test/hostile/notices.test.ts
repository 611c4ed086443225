import { expect, test } from 'vitest'
import type { Progress } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { EARLIER, failure, meet, text, WAYS, type Attack } from './peer.ts'

/** Sends notifications before it answers a call. */
function noting(notes: readonly (readonly [method: string, params: JsonObject])[]): Attack {
  return ({ method, params: { _meta: meta } }, wire) => {
    if (method !== 'tools/call') return false
    const { progressToken } = meta as JsonObject
    for (const [noted, params] of notes)
      wire.send({ jsonrpc: '2.0', method: noted, params: { progressToken, ...params } })
    wire.reply(text('done'))
    return undefined
  }
}

const WRONG = [{}, [], null, true, 'x', 5] as const

test.each(WAYS)('members of progress have the types that the client promises, over %s', async (way) => {
  const fine = { progress: 1, total: 2, message: 'half' }
  const notes = WRONG.flatMap((wrong) =>
    Object.keys(fine).map((name) => ['notifications/progress', { ...fine, [name]: wrong }] as const),
  )
  const { client } = await meet(way, noting(notes))
  const heard: Progress[] = []
  const onProgress = (progress: Progress): void => {
    heard.push(progress)
    progress.progress?.toFixed(1)
    progress.total?.toFixed(1)
    progress.message?.trim()
  }
  expect(await client.call('echo', {}, { onProgress })).toBe('done')
  expect(heard).toHaveLength(1 + 2 * WRONG.length)
  for (const { total, message } of heard)
    expect([typeof (total ?? 0), typeof (message ?? '')]).toEqual(['number', 'string'])
  // Whatever else is right reaches the caller.
  expect(heard[0]).toMatchObject({ progress: 1, message: 'half' })
  expect('total' in heard[0]!).toBe(false)
})

test.each(WAYS)('members of log messages have the types that the client promises, over %s', async (way) => {
  const fine = { level: 'info', logger: 'main', data: 'news' }
  const notes = WRONG.flatMap((wrong) =>
    ['level', 'logger'].map((name) => ['notifications/message', { ...fine, [name]: wrong }] as const),
  )
  const { client, warnings } = await meet(way, noting(notes))
  let heard = 0
  client.on('log', ({ level, logger }) => {
    level.toUpperCase()
    logger?.trim()
    heard++
  })
  expect(await client.call('echo')).toBe('done')
  expect([heard, warnings]).toEqual([1 + WRONG.length, []])
})

test('of a log message, only the members that it can have are copied', async () => {
  const note = { level: 'info', logger: 'main', data: { a: 1 }, _meta: { b: 2 } }
  const { client } = await meet('memory', noting([['notifications/message', { ...note, other: 1, 7: 1 }]]))
  const heard: unknown[] = []
  client.on('log', (message) => heard.push(message))
  await client.call('echo')
  expect(heard).toEqual([note])
})

test.each(WAYS)('an exception of onProgress rejects its call and cancels it, over %s', async (way) => {
  for (const speaks of [EARLIER, '2026-07-28'] as const) {
    const { client } = await meet(
      way,
      ({ method, params: { _meta: meta } }, wire) => {
        if (method !== 'tools/call') return false
        const { progressToken } = meta as JsonObject
        wire.send({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: 1 },
        })
        return undefined
      },
      { speaks },
    )
    const bug = new TypeError('a bug of the caller')
    const onProgress = (): never => {
      throw bug
    }
    expect(await failure(client.call('echo', {}, { onProgress }))).toBe(bug)
    expect(await failure(client.call('echo', {}, { timeout: 50 }))).toMatchObject({ kind: 'timeout' })
  }
})

test('an exception of a listener is a warning, and other listeners are called', async () => {
  const { client, warnings } = await meet('stdio', noting([['notifications/message', { level: 'info' }]]))
  let heard = 0
  client.on('log', () => {
    throw new TypeError('a bug of the listener')
  })
  client.on('log', () => heard++)
  expect(await client.call('echo')).toBe('done')
  expect([heard, warnings]).toEqual([1, ['a listener for "log" threw TypeError: a bug of the listener']])
})
