import { expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { connect, connectAll, ToolError, type TaskHandle } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import { failureOf } from '../harness/failure.ts'

const doors = new Map<string, () => void>()
const stopped = new Set<string>()

/** Waits until a test opens the door. */
function pass(name: string): Promise<void> {
  return new Promise((resolve) => doors.set(name, resolve))
}

async function open(name: string): Promise<void> {
  while (!doors.has(name)) await new Promise((resolve) => setImmediate(resolve))
  doors.get(name)?.()
  doors.delete(name)
}

const named = z.object({ name: z.string() })
const app = createServer({ name: 'films', version: '1', log: () => undefined })
  .tool(
    'render',
    { input: named, output: z.object({ film: z.string() }), task: { mode: 'required', poll: '100ms' } },
    async ({ name }, ctx) => {
      ctx.progress(1, 2, 'drawing')
      await pass(name)
      ctx.progress(2, 2, 'cut')
      return { film: name }
    },
  )
  .tool('slow', { input: named, task: { after: 0, poll: '100ms' } }, async ({ name }) => {
    await pass(name)
    return name
  })
  .tool('asks', { task: { mode: 'required', poll: '100ms' } }, async (_, { elicit }) => {
    const answer = await elicit('Sure?', z.object({ sure: z.boolean() }))
    return JSON.stringify(answer)
  })
  .tool('samples', {}, async (_, { sample }) => {
    const { model } = await sample({ messages: [{ role: 'user', content: 'Hi' }] }, { task: { ttl: '1m' } })
    return model
  })
  .tool('fails', { task: { mode: 'required', poll: '100ms' } }, () => {
    throw new ToolError('broken')
  })
  .tool('breaks', { task: { mode: 'required', poll: '100ms' } }, () => {
    throw new Error('a secret')
  })
  .tool(
    'hangs',
    { input: named, task: { mode: 'required', poll: '100ms' } },
    async ({ name }, { signal }) => {
      doors.get(`${name} begun`)?.()
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      stopped.add(name)
      doors.get(name)?.()
    },
  )

const REVISIONS = ['2025-11-25', '2026-07-28'] as const
const answers = {
  elicit: () => ({ action: 'accept' as const, content: { sure: true } }),
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'm' }),
}

test.each(REVISIONS)('a call waits through a task at %s', async (revision) => {
  await using client = await testClient(app, { revision, answers })
  const film = client.call('render', { name: 'a' })
  await open('a')
  expect(await film).toEqual({ film: 'a' })
  expect(await client.call('asks')).toContain('true')
  expect(await client.call('samples')).toBe('m')
  await expect(client.call('fails')).rejects.toThrow(new ToolError('broken'))
  const unexpected = await client.call('breaks').catch((error: unknown) => error)
  expect(unexpected).toBeInstanceOf(ToolError)
  expect(String(unexpected)).toMatch(/tool "breaks" failed \(reference /)
})

test.each(REVISIONS)('a handle works at %s, and its types are those of the tool', async (revision) => {
  await using client = await testClient(app, { revision })
  const task = await client.start('render', { name: 'b' })
  expectTypeOf(task).toEqualTypeOf<TaskHandle<{ film: string }>>()
  expect((await task.status()).status).toBe('working')
  const seen: unknown[] = []
  const reading = (async () => {
    for await (const { message } of task.progress()) seen.push(message)
  })()
  await open('b')
  expect((await task.result()).film).toBe('b')
  await reading
  expect(seen.at(-1)).toBe('cut')
  expect((await task.status()).status).toBe('completed')
})

test.each(REVISIONS)('a call that is given up cancels its task at %s', async (revision) => {
  await using client = await testClient(app, { revision })
  const stop = new AbortController()
  const name = `given up ${revision}`
  const begun = pass(`${name} begun`)
  const result = failureOf(client.call('hangs', { name }, { signal: stop.signal }))
  const cancelled = pass(name)
  await begun
  stop.abort()
  expect((await result).kind).toBe('cancelled')
  await cancelled
  expect(stopped.has(name)).toBe(true)
})

test.each(REVISIONS)('another client resumes a task over HTTP at %s', async (revision) => {
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const url = running.url as string
  let id: string | undefined
  {
    await using first = await connect<typeof app>(url, { revision })
    id = (await first.start('render', { name: 'c' })).id
  }
  await using second = await connect<typeof app>(url, { revision })
  const task = await second.resume<{ film: string }>(id as string)
  const result = task.result()
  await open('c')
  expect(await result).toEqual({ film: 'c' })
  await using group = await connectAll({ 'my films': { url }, other: { url } }, { revision })
  const grouped = await group.start('my-films__render', { name: 'd' })
  expect(grouped.id).toMatch(/^my-films__./)
  const same = await group.resume(grouped.id as string)
  await open('d')
  expect(await same.result()).toEqual({ film: 'd' })
  expect(await failureOf(group.resume('nobody__x'))).toMatchObject({ kind: 'bad_option' })
  expect(await failureOf(group.resume(`other__${'x'.repeat(30)}`))).toMatchObject({ kind: 'unknown_task' })
})

test.each(REVISIONS)('a lost connection does not lose the task at %s', async (revision) => {
  await using client = await testClient(app, { revision })
  const task = await client.start('slow', { name: 'e' })
  expect(task.id).toBeDefined()
  const result = task.result()
  client.faults.drop()
  await open('e')
  expect(await result).toBe('e')
})
