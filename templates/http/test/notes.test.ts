import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'pierhead/testing'
import app from '../server.ts'

test('whoami knows the caller', async () => {
  await using client = await testClient(app, { auth: { sub: 'ann', scopes: ['notes:read'] } })
  assert.equal(await client.call('whoami', {}), 'You are ann.')
})

test('erase needs its scope', async () => {
  await using client = await testClient(app, { auth: { sub: 'ann', scopes: ['notes:read'] } })
  await assert.rejects(client.call('erase', {}), { kind: 'insufficient_scope' })
})
