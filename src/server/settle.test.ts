import { expect, test } from 'vitest'
import { createServer } from '../index.ts'
import { testClient } from '../testing.ts'

test('a prompt and a resource that ask in rounds are not reported as failed', async () => {
  const logged: unknown[] = []
  const name = { type: 'object', properties: { name: { type: 'string' } } } as const
  const app = createServer({ name: 'asks', version: '1', log: (...entry) => void logged.push(entry) })
    .prompt('greet', {}, async (_, { elicit }) => `Hello ${(await elicit('Name?', name)).content?.name}`)
    .resource('greet://me', {}, async (_, { elicit }) => String((await elicit('Name?', name)).content?.name))
  const ada = { action: 'accept', content: { name: 'Ada' } } as const
  await using client = await testClient(app, { revision: '2026-07-28', answers: { elicit: [ada, ada] } })
  expect((await client.prompt('greet')).messages).toMatchObject([{ content: { text: 'Hello Ada' } }])
  expect((await client.read('greet://me')).contents).toMatchObject([{ text: 'Ada' }])
  expect(logged).toEqual([])
})
