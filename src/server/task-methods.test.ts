import { expect, test } from 'vitest'
import { Node } from '../../test/harness/task-engine.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { detailed } from './task-methods.ts'

const MINUTE = 60_000
const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }

/** A task that asks, the error that it gets, and a client that looks at it every 10 seconds, for so many minutes. */
async function asking() {
  const node = new Node({ limits: { questionMs: 10 * MINUTE } })
  let refused: unknown
  node.tool('asks', async (run) => {
    await run.question('sure', QUESTION).catch((error: unknown) => (refused = error))
    return { content: [] }
  })
  const { id } = await node.start('asks', { ttlMs: 1000 * MINUTE })
  await settled()
  const peer = { dialect: DIALECTS['2026-07-28'] }
  const look = async (minutes: number): Promise<void> => {
    for (let turn = 0; turn < minutes * 6; turn++) {
      await detailed(node.tasks, (await node.store.head(id))!, peer)
      await node.clock.pass(10_000)
    }
  }
  return { node, id, look, refusal: () => refused }
}

test('a question that a client looks at without an answer is given up in time, as one on a stream is', async () => {
  const { node, id, look, refusal } = await asking()
  await look(10)
  expect(refusal()).toBeUndefined()
  await look(1)
  expect(refusal()).toMatchObject({ kind: 'ask_refused', message: expect.stringContaining('600000 ms') })
  expect(await node.status(id)).toBe('completed')
})

test('a question waits while no client looks at it', async () => {
  const { node, id, look, refusal } = await asking()
  await look(8)
  await node.clock.pass(100 * MINUTE)
  await look(8)
  expect(refusal()).toBeUndefined()
  expect(await node.status(id)).toBe('input_required')
})
