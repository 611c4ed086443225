import { expect, onTestFinished, test } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Deferred } from '../base/deferred.ts'
import type { RedisLink } from './redis-link.ts'
import type { RedisNews } from './redis-news.ts'
import { RedisTaskWatchers } from './tasks-redis-watch.ts'

/** Watchers over two connections, one for news and one for commands, which the test answers. */
async function watching(read: (nth: number) => Promise<readonly string[]>) {
  let reads = 0
  let onNews: (message?: string) => void = () => undefined
  const link = { timeoutMs: 1000, lifetime: { check: () => undefined }, call: () => read(++reads) }
  const news = {
    watch(_: string, listener: (message?: string) => void) {
      onNews = listener
      listener()
      return () => undefined
    },
  }
  const watchers = new RedisTaskWatchers(
    link as unknown as RedisLink,
    news as unknown as RedisNews,
    'x:news',
    'me',
  )
  onTestFinished(() => watchers.close())
  const heard: string[] = []
  watchers.add((id) => void heard.push(id))
  await watchers.start()
  return { watchers, heard, missed: () => onNews(), reads: () => reads }
}

test('tasks that may have changed are announced, although commands fail for a while after the news are back', async () => {
  const { heard, missed, reads } = await watching(async (nth) => {
    if (nth === 2 || nth === 3) throw new Error('the server is away')
    return ['task-1', '1']
  })
  await settled()
  expect(heard.splice(0)).toEqual(['task-1'])
  missed()
  await expect.poll(() => heard).toEqual(['task-1'])
  expect(reads()).toBe(4)
})

test('tasks that change while all are announced are announced again', async () => {
  const answers = [new Deferred<readonly string[]>(), new Deferred<readonly string[]>()]
  const { heard, missed, reads } = await watching((nth) => (answers[nth - 1] as (typeof answers)[0]).promise)
  // The first answer is older than this.
  missed()
  answers[0]?.resolve([])
  await settled()
  answers[1]?.resolve(['task-2', '2'])
  await settled()
  expect([heard, reads()]).toEqual([['task-2'], 2])
})

test('nothing is tried any more after the end', async () => {
  const { watchers, reads } = await watching(async () => {
    throw new Error('the server is away')
  })
  await settled()
  watchers.close()
  await settled()
  expect(reads()).toBe(1)
})
