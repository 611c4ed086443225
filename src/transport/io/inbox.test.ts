import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Inbox } from './inbox.ts'

let now = 0

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})

afterEach(() => vi.restoreAllMocks())

/** An inbox of requests, and what happens to it. */
function open(onTake: (item: number) => void = () => undefined): {
  readonly inbox: Inbox<number>
  readonly taken: number[]
  readonly log: string[]
  resumed(): Promise<void>
} {
  const taken: number[] = []
  const log: string[] = []
  let onResume = (): void => undefined
  const inbox = new Inbox<number>({
    take(item) {
      taken.push(item)
      onTake(item)
    },
    asked: () => taken.length,
    pause: () => void log.push(`paused after ${taken.length}`),
    resume() {
      log.push(`resumed after ${taken.length}`)
      onResume()
    },
  })
  return { inbox, taken, log, resumed: () => new Promise((resolve) => (onResume = resolve)) }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test('messages are taken at once, in order, until there are many requests in one turn', async () => {
  const { inbox, taken, log, resumed } = open()
  for (const item of range(300)) inbox.push(item)
  expect(taken).toEqual(range(128))
  await resumed()
  expect(taken).toEqual(range(300))
  expect(log).toEqual(['paused after 128', 'resumed after 300'])
})

test('others have a turn after 20 milliseconds', async () => {
  const { inbox, taken, resumed } = open(() => void (now += 6))
  for (const item of range(10)) inbox.push(item)
  expect(taken).toEqual(range(4))
  await resumed()
  expect(taken).toEqual(range(10))
})

test('work other than messages counts too', async () => {
  const { inbox, taken, resumed } = open()
  now += 100
  for (const _ of range(30)) {
    now += 0.9
    inbox.rest()
  }
  inbox.push(0)
  expect(taken).toEqual([])
  await resumed()
  expect(taken).toEqual([0])
})

test('messages that arrive while others are taken stay in order', async () => {
  const { inbox, taken, resumed } = open((item) => {
    if (item === 200) inbox.push(300)
  })
  for (const item of range(300)) inbox.push(item)
  await resumed()
  expect(taken).toEqual(range(301))
})

test('when nothing more comes, everything that waits is taken at once', async () => {
  const { inbox, taken, resumed } = open()
  for (const item of range(300)) inbox.push(item)
  inbox.flush()
  expect(taken).toEqual(range(300))
  await resumed()
  expect(taken).toHaveLength(300)
})

test('what is discarded is not taken, and reading goes on', async () => {
  const { inbox, taken, resumed } = open()
  for (const item of range(300)) inbox.push(item)
  inbox.clear()
  await resumed()
  expect(taken).toHaveLength(128)
})
