import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import type { Revision } from '../../src/protocol/revisions.ts'

/** Serves a tool that asks. */
async function serve(): Promise<string> {
  const app = createServer({ name: 'asks', version: '1.0.0', log: () => undefined })
  app.tool('ask', {}, async (_, { elicit }) => {
    const { action } = await elicit('Which?', z.object({ codec: z.string() }))
    return action
  })
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0 } })
  onTestFinished(() => running.close())
  return running.url as string
}

/** Calls a tool with a function that cannot answer. Resolves with the error and the warnings. */
async function fail(revision: Revision): Promise<{ readonly error: Error; readonly warnings: string[] }> {
  const warnings: string[] = []
  const elicit = (): never => {
    throw new Error('no such form')
  }
  await using client = await connect(await serve(), { revision, answers: { elicit } })
  client.on('warning', (text) => warnings.push(text))
  const error = await client.call('ask').then(
    () => new Error('it succeeded'),
    (thrown: Error) => thrown,
  )
  return { error, warnings }
}

test('at 2026-07-28, a call whose question cannot be answered fails with the error of the program', async () => {
  expect((await fail('2026-07-28')).error.message).toBe('no such form')
})

test.each(['2025-11-25', '2025-06-18'] as const)(
  'at %s, a warning says why a question was not answered, and the server does not see it',
  async (revision) => {
    const { error, warnings } = await fail(revision)
    expect(error.message).not.toContain('no such form')
    expect(warnings).toEqual([expect.stringContaining('was not answered: Error: no such form')])
    const [reference = 'none'] = /reference question \d+/.exec(error.message) ?? []
    expect(warnings[0]).toContain(reference)
  },
)
