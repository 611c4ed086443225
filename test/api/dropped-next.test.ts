import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createServer, text, type App } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import { settled } from '../harness/task-clock.ts'

const known = { content: [text('known')], isError: false }
const ADDED: Readonly<Record<string, (app: App) => unknown>> = {
  middleware: (app) => app.use('tools/call', (_, next) => (void next(), void next(), known)),
  interceptors: (app) => app.intercept('tools/call', (_, next) => (void next(), void next(), known)),
}

test.each(Object.entries(ADDED))('%s may answer without the result of next()', async (_, add) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const app = createServer({ name: 'cached', version: '1', log: () => undefined })
  add(app)
  app.tool('a', { input: z.object({ n: z.number() }) }, ({ n }) => String(n))
  await using client = await testClient(app, { revision: '2025-06-18' })
  expect(await client.call('a', { n: 'x' } as never)).toBe('known')
  await settled()
  expect(unhandled).toEqual([])
})
