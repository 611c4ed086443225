import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PostgresLink } from './postgres-link.ts'
import { PostgresTaskWatchers } from './tasks-postgres-watch.ts'

test('a connection that breaks while it begins to listen is followed by one other', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let opened = 0
  let released = 0
  const broken = new Error('Connection terminated unexpectedly')
  const link = {
    lifetime: { isOver: false, check: () => undefined },
    settings: { schema: 'x' },
    query: async () => [],
    connect: async () => Object.assign(new EventEmitter(), { nth: ++opened }),
    release: () => void released++,
    session: (client: EventEmitter & { readonly nth: number }) => ({
      query: async () => [],
      async exec() {
        if (client.nth > 1) return
        client.emit('error', broken)
        throw broken
      },
    }),
  }
  const watchers = new PostgresTaskWatchers(link as unknown as PostgresLink)
  onTestFinished(() => watchers.close())
  await watchers.start()
  await vi.advanceTimersByTimeAsync(2000)
  expect({ opened, released }).toEqual({ opened: 2, released: 1 })
})
