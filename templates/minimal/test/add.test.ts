import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'pierhead/testing'
import app from '../server.ts'

test('add', async () => {
  await using client = await testClient(app)
  assert.deepEqual(await client.call('add', { a: 1, b: 2 }), { sum: 3 })
})
