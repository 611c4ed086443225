import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { mcpError } from '../errors/error.ts'
import { ASK_REFUSED } from '../errors/server.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { hooked } from '../../test/harness/task-hooks.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { Run } from './run.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const FORM = { type: 'object', properties: { text: { type: 'string' } } }
const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: FORM } }
const accepted = (text: string): JsonObject => ({ action: 'accept', content: { text } })
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

test.each([
  ['a large integer', 10n],
  ['a Map', new Map([[1, 2]])],
  ['NaN', { rows: [NaN] }],
  ['a function', () => 1],
])('a value of once that JSON would change fails its attempt, and nothing else: %s', async (_, value) => {
  const node = new Node()
    .tool('bad', async (run) => {
      await run.once('rows', () => value)
      return DONE
    })
    .tool('good', never, { onRestart: 'retry' })
  const [bad, good] = [await node.start('bad'), await node.start('good')]
  await settled()
  expect(await node.record(bad.id)).toMatchObject({
    status: 'failed',
    statusMessage: expect.stringContaining('ctx.once: the value of "rows"') as string,
    state: '',
  })
  await node.tasks.close(0)
  expect(await node.record(good.id)).toMatchObject({ status: 'working', node: '' })
})

test('a value of once is kept as it was, whatever the handler does with it later', async () => {
  const door = new Deferred<void>()
  const node = new Node().tool(
    'work',
    async (run) => {
      const rows = (await run.once('rows', () => ({ count: 1 }))) as Record<string, unknown>
      rows['count'] = 2n
      await door.promise
      return DONE
    },
    { onRestart: 'retry' },
  )
  const { id } = await node.start('work')
  await settled()
  await node.tasks.close(0)
  expect(await node.record(id)).toMatchObject({
    status: 'working',
    node: '',
    state: expect.stringContaining('{"count":1}') as string,
  })
})

test('a task that cannot be given up does not keep the others from it', async () => {
  const node = new Node().tool('safe', never, { onRestart: 'retry' })
  const [bad, good] = [await node.start('safe'), await node.start('safe')]
  const run = node.tasks.runs.get(bad.id) as Run
  Object.defineProperty(run, 'stateText', {
    get() {
      throw new Error('cannot be written')
    },
  })
  await node.tasks.close(0)
  expect(await node.record(good.id)).toMatchObject({ status: 'working', node: '' })
  expect(node.tasks.runs.size).toBe(0)
  expect(run.isOver).toBe(true)
})

test('an answer without room is rejected, and the handler that asked gets the error', async () => {
  const node = new Node({ limits: { taskBytes: 40_000 } }).tool('ask', async (run) => {
    const kind = await run.question('sure', QUESTION).catch((error: { kind: string }) => error.kind)
    return { content: [], kind }
  })
  const { id } = await node.start('ask')
  await settled()
  const answer = async (): Promise<boolean> =>
    node.tasks.answer(id, 'ann', [['sure.1', accepted('x'.repeat(30_000))]])
  await expect(answer()).rejects.toMatchObject({ kind: 'tasks_too_large' })
  await settled()
  expect(await node.record(id)).toMatchObject({
    status: 'completed',
    outcome: expect.stringContaining('tasks_too_large') as string,
  })
})

test.each(['while the next attempt has not asked yet', 'between two attempts'])(
  'a question that the client refuses %s fails when it is asked again',
  async (when) => {
    const begun = new Deferred<void>()
    const asks = new Deferred<void>()
    const node = new Node().tool(
      'ask',
      async (run) => {
        if (run.attempt === 2) {
          begun.resolve()
          await asks.promise
        }
        const answer = run.question('sure', QUESTION)
        if (run.attempt === 1) {
          await settled()
          throw new Error('fails while the question is open')
        }
        return answer.then(
          () => DONE,
          (error: { message: string }) => ({ content: [], refused: error.message }),
        )
      },
      { retries: 1 },
    )
    const { id } = await node.start('ask')
    await settled()
    await settled()
    const refuse = async (): Promise<unknown> =>
      node.tasks.refuse(
        id,
        'ann',
        'sure.1',
        mcpError(ASK_REFUSED, { method: 'elicitation/create', reason: 'nobody is here' }),
      )
    if (when === 'between two attempts') await refuse()
    await node.clock.pass(1000)
    await begun.promise
    if (when !== 'between two attempts') await refuse()
    asks.resolve()
    await settled()
    expect(await node.record(id)).toMatchObject({
      status: 'completed',
      outcome: expect.stringContaining('nobody is here') as string,
    })
  },
)

test('a change of another node is noticed, although one of its own is under way', async () => {
  const store = new MemoryTaskStore()
  const clock = new FakeClock()
  const change = new Deferred<void>()
  // A store whose answers may come later than the notices of what others changed meanwhile.
  const slow = hooked(store, { after: (step) => (step === 'change' ? change.promise : undefined) })
  const here = new Node({ store: slow, clock }).tool('ask', async (run) => ({
    content: [],
    answer: await run.question('sure', QUESTION),
  }))
  const there = new Node({ store, clock })
  const { id } = await here.start('ask')
  await settled()
  expect(await here.status(id)).toBe('input_required')
  await there.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])
  await settled()
  change.resolve()
  await settled()
  expect(await here.record(id)).toMatchObject({
    status: 'completed',
    outcome: expect.stringContaining('"action":"accept"') as string,
  })
})
