import { expect, test } from 'vitest'
import { z } from 'zod'
import { connect, type McpError } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'

const asking = createServer({ name: 'x', version: '1', log: () => undefined }).tool(
  'ask',
  { task: 'required' },
  async (_, { elicit }) => {
    const { content } = await elicit('Where?', z.object({ cinema: z.string() }))
    return content?.cinema
  },
)

test('a client that resumed a task and cannot answer its question learns what to do, and the task goes on', async () => {
  const never = { elicit: () => new Promise<never>(() => undefined) }
  await using first = await testClient(asking, { revision: '2026-07-28', answers: never })
  const { id = '' } = await first.start('ask')
  await using second = await connect(asking, { revision: '2026-07-28' })
  const error = await (await second.resume(id)).result().catch((thrown: McpError) => thrown)
  expect(error).toMatchObject({
    message: expect.stringContaining('answers.elicit'),
    hint: expect.stringContaining('resume'),
  })
  const answers = { elicit: () => ({ action: 'accept', content: { cinema: 'Odeon' } }) as const }
  await using third = await connect(asking, { revision: '2026-07-28', answers })
  expect(await (await third.resume(id)).result()).toBe('Odeon')
})

test('the tool of a task of 2025-11-25 learns that the client that waits has no function for the question', async () => {
  const never = { elicit: () => new Promise<never>(() => undefined) }
  const running = await asking.listen({ http: { port: 0 } })
  const url = running.url as string
  await using first = await connect(url, { revision: '2025-11-25', answers: never })
  const { id = '' } = await first.start('ask')
  await using second = await connect(url, { revision: '2025-11-25' })
  await expect((await second.resume(id)).result()).rejects.toThrow('answers.elicit')
  await running.close()
})
