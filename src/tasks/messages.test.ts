import { expect, test } from 'vitest'
import { McpError } from '../errors/error.ts'
import { heldHeap } from '../../test/harness/memory.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'

test('of a long progress message, only what the record keeps stays in memory', async () => {
  const chars = 1_000_000
  const node = new Node().tool('work', (run) => {
    run.progress(`${run.head!.id} ${'x'.repeat(chars)}`)
    return { content: [] }
  })
  await node.start('work')
  await settled()
  const before = heldHeap()
  const count = 20
  for (let at = 0; at < count; at++) await node.start('work')
  await settled()
  const heads = await node.store.list({ limit: count + 1 })
  expect(heads.map(({ statusMessage }) => statusMessage.length)).toEqual(heads.map(() => 1024))
  expect(heldHeap() - before).toBeLessThan((count * chars) / 4)
})

test.each([0, 1])(
  'the message of a task that failed is short in lists, and whole in its outcome (%i retries)',
  async (retries) => {
    const message = `no film called ${'x'.repeat(5000)}`
    const thrown =
      retries === 0 ? new McpError('custom', message, { code: 5000 }) : new McpError('tool_failed', message)
    const node = new Node().tool('work', () => Promise.reject(thrown), { retries })
    const { id } = await node.start('work')
    await settled()
    const record = (await node.record(id))!
    expect(record.statusMessage).toBe(message.slice(0, 1024))
    expect(record.outcome.includes(message)).toBe(retries === 0)
  },
)
