import { expect, onTestFinished, test, vi } from 'vitest'
import { FakeClock } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskRequest } from './record.ts'
import type { Run } from './run.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const QUESTION = { method: 'elicitation/create', params: { message: 'sure?' } }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

function requestOf(chars: number): TaskRequest {
  const nobody = { client: undefined, capabilities: {}, auth: undefined, ip: undefined }
  return { revision: '2026-07-28', params: { name: 'work', text: 'x'.repeat(chars) }, ...nobody }
}

/** Processes that share a store, in which tasks with requests of these lengths wait for another attempt. */
async function waiting(...lengths: readonly number[]) {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const options = { store, clock, isInMemory: false }
  const asks = async (run: Run): Promise<typeof DONE> => {
    await run.once('value', () => 1)
    await run.question('sure', QUESTION)
    return DONE
  }
  const first = new Node(options).tool('work', asks, { onRestart: 'retry' })
  const ids: string[] = []
  for (const chars of lengths) {
    ids.push((await first.start('work', { request: requestOf(chars) })).id)
    await clock.pass(1)
  }
  await first.tasks.close(0)
  const fresh = (): Node => new Node(options)
  return { store, clock, ids, fresh }
}

test('a task that is claimed is parsed once', async () => {
  const { clock, fresh } = await waiting(10, 20, 30)
  const node = fresh().tool('work', never)
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  await node.tasks.start()
  await clock.pass(0)
  expect(node.tasks.runs.size).toBe(3)
  const texts = parse.mock.calls.map(([text]) => text)
  expect(texts.filter((text) => text.includes('"revision":'))).toHaveLength(3)
  expect(texts.filter((text) => text.includes('"asked":'))).toHaveLength(3)
})

test('a task that is claimed without room is parsed once', async () => {
  const { store, clock } = await waiting(10, 100_000)
  const limits = { taskBytes: 50_000 }
  const node = new Node({ store, clock, limits, isInMemory: false }).tool('work', never)
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  await node.tasks.start()
  await clock.pass(0)
  expect(node.tasks.runs.size).toBe(1)
  const texts = parse.mock.calls.map(([text]) => text)
  expect(texts.filter((text) => text.includes('xxx'))).toHaveLength(2)
})

test('others get a turn between long tasks that are claimed together', async () => {
  const { clock, fresh } = await waiting(100_000, 100_000, 100_000, 100_000)
  let turn = 0
  const count = (): unknown => turn++ < 1000 && setImmediate(count)
  const turns: number[] = []
  const node = fresh().tool('work', () => (turns.push(turn), never()))
  count()
  await node.tasks.start()
  await clock.pass(0)
  expect(turns).toHaveLength(4)
  expect(new Set(turns).size).toBe(4)
})

test('after long tasks, fewer are claimed at once', async () => {
  const { store, clock, fresh } = await waiting(...Array.from({ length: 6 }, () => 2_000_000))
  const claim = vi.spyOn(store, 'claim')
  const node = fresh().tool('work', never)
  await node.tasks.start()
  await clock.pass(30_000)
  expect(node.tasks.runs.size).toBe(6)
  const limits = claim.mock.calls.map(([, , limit]) => limit)
  expect(limits.slice(0, 2)).toEqual([8, 2])
})

test('an answer that arrives between the claim of a task and its attempt is not lost', async () => {
  const { clock, ids, fresh } = await waiting(100_000, 100_000)
  const other = fresh()
  let answered: unknown
  const seen: unknown[] = []
  const node = fresh().tool('work', (run) => {
    seen.push(run.answerTo('sure', QUESTION, true))
    const later = ids.find((id) => id !== run.head?.id) as string
    answered ??= other.tasks.answer(later, 'ann', [['sure.1', { action: 'accept' }]])
    return never()
  })
  await node.tasks.start()
  await clock.pass(0)
  expect(await answered).toBe(true)
  expect(seen).toEqual([undefined, { action: 'accept' }])
})
