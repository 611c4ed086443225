import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

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

test.each(['2026-07-28', '2025-11-25', '2025-06-18'] as const)(
  'at %s, a program learns why its function could not answer, and the server does not',
  async (revision) => {
    const warnings: string[] = []
    const elicit = (): never => {
      throw new Error('no such form')
    }
    await using client = await connect(await serve(), { revision, answers: { elicit } })
    client.on('warning', (text) => warnings.push(text))
    const error = await client.call('ask').catch((thrown: unknown) => thrown as Error)
    // At 2026-07-28 there is no way to tell the server, so the call itself fails.
    if (revision === '2026-07-28') expect(error).toMatchObject({ message: 'no such form' })
    else {
      expect(error).toMatchObject({ message: expect.not.stringContaining('no such form') as unknown })
      expect(warnings).toEqual([expect.stringContaining('was not answered: Error: no such form')])
      const [reference = 'none'] = /reference question \d+/.exec((error as Error).message) ?? []
      expect(warnings[0]).toContain(reference)
    }
  },
)
