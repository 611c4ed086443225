import { expect, test } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { readOutcome } from './outcome.ts'

test('a result that JSON leaves out fails its task', async () => {
  const node = new Node().tool('odd', () => ({ content: [], toJSON: () => undefined }))
  const { id } = await node.start('odd')
  await settled()
  const record = await node.record(id)
  expect(record).toMatchObject({ status: 'failed' })
  expect(readOutcome(record!.outcome)).toMatchObject({ error: { kind: 'internal' } })
})

test.each([
  '',
  '{',
  'null',
  '{}',
  '5',
  '{"result":5}',
  '{"error":5}',
  '{"error":{}}',
  '{"error":{"kind":5}}',
])('the outcome %j is damaged', (text) => {
  expect(readOutcome(text)).toMatchObject({ error: { kind: 'task_damaged' } })
})
