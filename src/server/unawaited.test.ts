import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, ToolError, type App, type Context } from '../index.ts'
import { testClient } from '../testing.ts'

const FORM = z.object({ ok: z.boolean() })
const YES = { action: 'accept', content: { ok: true } } as const
const SURE = { elicit: Array.from({ length: 20 }, () => YES), roots: [{ uri: 'file:///a' }] }
const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

interface Logged {
  readonly app: App
  readonly log: string[]
}

function logged(): Logged {
  const log: string[] = []
  const app = createServer({
    name: 'asks',
    version: '1',
    log: (level, message) => void log.push(`${level}: ${message}`),
  })
  return { app, log }
}

const elicited = 'was still open: its answer is lost; await it: const answer = await ctx.elicit(…)'

test.each(REVISIONS)('a question without await is logged once for each tool, at %s', async (revision) => {
  const { app, log } = logged()
  const forget = (_: unknown, ctx: Context): string => {
    void ctx.elicit('Sure?', FORM)
    return 'done'
  }
  app.tool('a', {}, forget).tool('b', {}, async (...args) => forget(...args))
  await using client = await testClient(app, { revision, answers: SURE })
  for (const name of ['a', 'a', 'b', 'b']) expect(await client.call(name)).toBe('done')
  expect(log).toEqual([
    `warning: tool "a" returned while its question ctx.elicit ${elicited}`,
    `warning: tool "b" returned while its question ctx.elicit ${elicited}`,
  ])
})

test.each(REVISIONS)('all kinds of questions, prompts and resources are covered, at %s', async (revision) => {
  const { app, log } = logged()
  const sampling = { messages: [{ role: 'user', content: 'Hi' }] } as const
  app
    .tool('url', {}, (_, ctx) => (void ctx.elicitUrl('Pay', 'https://pay.example'), 'done'))
    .tool('sample', {}, (_, ctx) => (void ctx.sample(sampling), 'done'))
    .tool('roots', {}, (_, ctx) => (void ctx.roots(), 'done'))
    .prompt('greet', {}, (_, ctx) => (void ctx.roots(), 'Hi'))
    .resource('notes://1', {}, (_, ctx) => (void ctx.roots(), 'A note'))
  await using client = await testClient(app, { revision, answers: SURE })
  for (const name of ['url', 'sample', 'roots']) await client.call(name)
  await client.prompt('greet')
  await client.read('notes://1')
  expect(log.map((line) => line.replace(/ was still open.*/, ''))).toEqual([
    'warning: tool "url" returned while its question ctx.elicitUrl',
    'warning: tool "sample" returned while its question ctx.sample',
    'warning: tool "roots" returned while its question ctx.roots',
    'warning: prompt "greet" returned while its question ctx.roots',
    'warning: resource "notes://1" returned while its question ctx.roots',
  ])
})

test.each(REVISIONS.slice(1))('questions that are awaited are not logged, at %s', async (revision) => {
  const { app, log } = logged()
  app
    .tool('one', {}, async (_, ctx) => JSON.stringify((await ctx.elicit('Sure?', FORM)).content))
    .tool('both', {}, async (_, { elicit }) => {
      const both = await Promise.all([elicit('First?', FORM), elicit('Second?', FORM)])
      return both.map(({ action }) => action).join()
    })
    .tool('later', {}, async (_, ctx) => {
      const roots = ctx.roots()
      await ctx.elicit('Sure?', FORM)
      return (await roots).length
    })
    .tool('caught', {}, async (_, { elicitUrl }) => {
      await elicitUrl('Pay', 'no URL').catch(() => undefined)
      return 'done'
    })
    .prompt('greet', {}, async (_, ctx) => `Hi ${(await ctx.elicit('Sure?', FORM)).action}`)
  await using client = await testClient(app, { revision, answers: SURE })
  expect(await client.call('one')).toBe('{"ok":true}')
  expect(await client.call('both')).toBe('accept,accept')
  expect(await client.call('later')).toBe('1')
  await client.prompt('greet')
  expect(await client.call('caught')).toBe('done')
  expect(log).toEqual([])
})

test.each(REVISIONS)(
  'a call that fails or is cancelled with an open question is not logged, at %s',
  async (revision) => {
    const { app, log } = logged()
    let start = (): void => undefined
    const started = new Promise<void>((resolve) => (start = resolve))
    app
      .tool('fails', {}, (_, ctx) => {
        void ctx.elicit('Sure?', FORM)
        throw new ToolError('out of paper')
      })
      .tool('cancelled', {}, async (_, ctx) => {
        const gone = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        start()
        await gone
        void ctx.elicit('Sure?', FORM)
        return 'done'
      })
    await using client = await testClient(app, { revision, answers: SURE })
    expect(await client.callRaw('fails')).toMatchObject({ isError: true })
    const cancel = new AbortController()
    const call = client.call('cancelled', {}, { signal: cancel.signal })
    await started
    cancel.abort()
    await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(log).toEqual([])
  },
)
