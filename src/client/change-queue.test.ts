import { expect, test } from 'vitest'
import { ChangeQueue } from './change-queue.ts'
import type { Change } from './watched.ts'

const TOOLS: Change = { kind: 'tools' }
const NOTE: Change = { kind: 'resource', uri: 'a://b' }

test('repeated changes are delivered once if they have not been read yet', async () => {
  const queue = new ChangeQueue()
  for (const change of [TOOLS, NOTE, TOOLS, NOTE]) queue.push(change)
  queue.end()
  const changes: Change[] = []
  for await (const change of queue.read()) changes.push(change)
  expect(changes).toEqual([TOOLS, NOTE])
})

test('a reader waits for the next change or the end', async () => {
  const queue = new ChangeQueue()
  const reader = queue.read()
  const first = reader.next()
  queue.push(NOTE)
  expect(await first).toEqual({ value: NOTE, done: false })
  const last = reader.next()
  queue.end()
  expect(await last).toEqual({ value: undefined, done: true })
  expect(queue.signal.aborted).toBe(true)
})
