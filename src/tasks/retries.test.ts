import { expect, test } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import type { Result } from '../rpc/dispatch.ts'

async function failed(): Promise<{ node: Node; id: string }> {
  let isBroken = true
  const node = new Node().tool('pay', (): Promise<Result> => {
    if (!isBroken) return new Promise(() => undefined)
    isBroken = false
    throw new Error('broken')
  })
  const { id } = await node.start('pay', { key: '17' })
  await settled()
  expect(await node.status(id)).toBe('failed')
  return { node, id }
}

test('the retry of an operator returns the task that the caller has started with the same key', async () => {
  const { node, id } = await failed()
  const again = await node.start('pay', { key: '17' })
  expect(await node.tasks.retry(id)).toMatchObject({ id: again.id })
})

test('a caller joins the retry of an operator by its key', async () => {
  const { node, id } = await failed()
  const retried = await node.tasks.retry(id)
  expect(retried).toMatchObject({ key: '17' })
  expect(await node.start('pay', { key: '17' })).toMatchObject({ id: (retried as { id: string }).id })
  expect(await node.tasks.retry(id)).toMatchObject({ id: (retried as { id: string }).id })
})
