import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer } from 'pierhead'
import { testClient } from 'pierhead/testing'
import tools from '../tools/index.ts'

test('a report is written page by page', async () => {
  const app = createServer({ name: 'test', version: '1.0.0', tools })
  await using client = await testClient(app)
  const messages: (string | undefined)[] = []
  const result = await client.call(
    'report',
    { pages: 2 },
    { onProgress: ({ message }) => messages.push(message) },
  )
  assert.deepEqual(result, { pages: 2, words: 203 })
  assert.deepEqual(messages, ['page 1 of 2', 'page 2 of 2'])
})
