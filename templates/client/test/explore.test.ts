import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { explore } from '../explore.ts'

test('explore lists the tools of a server', async () => {
  const app = createServer({ name: 'sums', version: '1.0.0' })
  app.tool('add', { description: 'Adds.' }, () => '3')
  await using client = await connect(app)
  assert.deepEqual(await explore(client), ['sums speaks 2026-07-28', 'add: Adds.'])
})
