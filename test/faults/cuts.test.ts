import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Revision, Running } from 'pierhead'
import { connect, type Client, type ConnectOptions, type Progress } from '../../src/client.ts'
import { createCountingApp, STEPS } from './app.ts'
import { Cutter, type Cut } from './cutter.ts'

const STREAMED = Array.from({ length: STEPS }, (_, index) => index + 1)
let keys = 0

describe('a connection that is cut while a call streams', () => {
  const counting = createCountingApp()
  let running: Running
  beforeAll(async () => {
    running = await counting.app.listen({ http: { port: 0 } })
  })
  afterAll(() => running.close())

  const within = async (
    options: ConnectOptions,
    run: (client: Client, cutter: Cutter) => Promise<void>,
  ): Promise<void> => {
    await using cutter = await Cutter.before(running.url as string)
    await using client = await connect(cutter.url, options)
    for await (const _ of client.tools()) continue
    await run(client, cutter)
  }

  /** Calls through a cut; says how it ended, what progress was told, and how often the tool ran. */
  const callCut = async (
    revision: Revision,
    cuts: readonly Cut[],
    idempotent: boolean,
  ): Promise<{ ended: unknown; told: number[]; runs: number; cut: number }> => {
    const key = `k${++keys}`
    const told: number[] = []
    const onProgress = ({ progress = 0 }: Progress): void => void told.push(progress)
    let ended: unknown
    let cut = 0
    await within({ revision }, async (client, cutter) => {
      cutter.next(...cuts)
      ended = await client
        .call('stream', { key }, { onProgress, idempotent, timeout: 8000 })
        .catch((error: unknown) => (error as { kind: string }).kind)
      cut = cutter.cut
      cutter.spare()
      // Whatever happened, the client goes on.
      expect(await client.call('once', { key: `after ${key}` })).toBe(`once after ${key}`)
    })
    const answer = `stream ${key}`
    return { ended: ended === answer ? 'answered' : ended, told, runs: counting.runs(key), cut }
  }

  const places = Array.from({ length: STEPS + 3 }, (_, index) => index)

  test('is resumed at 2025-11-25 after every event, and the call runs once [R095] [S2-13-C11] [F9]', async () => {
    const all = await Promise.all(places.map((events) => callCut('2025-11-25', [{ events }], false)))
    const [first, ...others] = all
    expect(first).toMatchObject({ ended: 'stream_lost', runs: 1, cut: 1 })
    for (const [index, one] of others.entries())
      expect(one, `cut after ${index + 1} events`).toMatchObject({
        ended: 'answered',
        told: STREAMED,
        runs: 1,
      })
    expect(others.filter(({ cut }) => cut === 1).length).toBeGreaterThan(STEPS)
  })

  test('is resumed again when the resumed stream is cut too [R095]', async () => {
    const twice = await Promise.all(
      places
        .slice(1)
        .map((events) => callCut('2025-11-25', [{ events }, { events: 1 }, { events: 0 }], false)),
    )
    for (const one of twice) expect(one).toMatchObject({ ended: 'answered', told: STREAMED, runs: 1 })
  })

  test.each(['2025-03-26', '2025-06-18'] as const)(
    'leaves no call of %s hanging, told twice or run twice',
    async (revision) => {
      const all = await Promise.all(places.map((events) => callCut(revision, [{ events }], false)))
      for (const { ended, told, runs } of all) {
        expect(ended).toBeOneOf(['answered', 'stream_lost'])
        expect(told).toEqual(STREAMED.slice(0, told.length))
        expect(runs).toBe(1)
      }
    },
  )

  test('fails a call of 2026-07-28 that may not be repeated [R128]', async () => {
    const all = await Promise.all(places.map((events) => callCut('2026-07-28', [{ events }], false)))
    for (const { ended, told, runs, cut } of all) {
      expect(told).toEqual(STREAMED.slice(0, told.length))
      expect(runs).toBe(1)
      expect(ended).toBeOneOf(
        cut === 0 || told.length === STEPS ? ['answered', 'stream_lost'] : ['stream_lost'],
      )
    }
    expect(all.filter(({ ended }) => ended === 'stream_lost').length).toBeGreaterThanOrEqual(STEPS)
  })

  test('repeats a call of 2026-07-28 under a new id where that is safe, once [R128]', async () => {
    const all = await Promise.all(places.map((events) => callCut('2026-07-28', [{ events }], true)))
    for (const { ended, runs, cut, told } of all) {
      expect(ended).toBe('answered')
      expect(runs).toBeOneOf(cut === 1 && told.length < STEPS ? [2] : [1, 2])
    }
    const again = await callCut('2026-07-28', [{ events: 1 }, { events: 1 }], true)
    expect(again).toMatchObject({ ended: 'stream_lost', runs: 2, cut: 2 })
  })

  test.each([
    ['2025-11-25', 61],
    ['2026-07-28', 7],
  ] as const)(
    'hangs no call of %s wherever the bytes end, even within a character or a line',
    async (revision, stride) => {
      const offsets = Array.from({ length: Math.ceil(1200 / stride) }, (_, index) => index * stride)
      const all = await Promise.all(offsets.map((bytes) => callCut(revision, [{ bytes }], false)))
      for (const { ended, told, runs } of all) {
        expect(ended).toBeOneOf(['answered', 'stream_lost'])
        expect(told).toEqual(STREAMED.slice(0, told.length))
        expect(runs).toBe(1)
      }
    },
  )
})
