import { expect, onTestFinished, test, vi } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { mcpError } from '../errors/error.ts'
import { ASK_REFUSED } from '../errors/server.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { detailed } from '../server/task-methods.ts'
import { encodeResult } from '../wire/encode.ts'
import { AttemptState } from './attempt-state.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { TaskHead } from './record.ts'
import type { Run } from './run.ts'
import type { TaskExcerpt } from './store.ts'

const QUESTION = { method: 'elicitation/create', params: { message: 'sure?' } }
const peer = { dialect: DIALECTS['2026-07-28'] }

/** A task that keeps a large value, and asks. */
async function asking(): Promise<{ node: Node; id: string }> {
  const node = new Node({ isInMemory: false }).tool('ask', async (run) => {
    await run.once('large', () => 'x'.repeat(1_000_000))
    await run.question('sure', QUESTION)
    return { content: [] }
  })
  const { id } = await node.start('ask')
  await settled()
  return { node, id }
}

/** The number of texts that a store reads. */
function textsRead(node: Node): () => number {
  const read = vi.spyOn(node.store, 'read')
  return () => read.mock.results.filter(({ value }) => (value as TaskExcerpt).text !== undefined).length
}

const poll = async (node: Node, id: string): Promise<object> =>
  detailed(node.tasks, (await node.store.head(id)) as TaskHead, peer)

test('a poll of a task that runs here, and an answer to it, do not read its state', async () => {
  const { node, id } = await asking()
  const read = textsRead(node)
  for (let count = 0; count < 10; count++)
    expect(await poll(node, id)).toMatchObject({ inputRequests: { 'sure.1': QUESTION } })
  await node.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])
  expect(read()).toBe(0)
  await settled()
  expect(await node.status(id)).toBe('completed')
})

test('polls of a task that another node runs read its state once for each version', async () => {
  const { node, id } = await asking()
  const other = new Node({ store: node.store, clock: node.clock, isInMemory: false })
  const read = textsRead(node)
  for (let count = 0; count < 10; count++)
    expect(await poll(other, id)).toMatchObject({ inputRequests: { 'sure.1': QUESTION } })
  expect(read()).toBe(1)
  const head = (await node.store.head(id)) as TaskHead
  await node.store.change(id, head.version, { statusMessage: 'still waits' })
  await settled()
  const before = read()
  await poll(other, id)
  await poll(other, id)
  expect(read()).toBe(before + 1)
})

test('questions that are remembered take only so much memory', async () => {
  const large = { method: 'elicitation/create', params: { message: 'x'.repeat(6_000_000) } }
  const node = new Node({ isInMemory: false }).tool('ask', async (run) => {
    await run.question('sure', large)
    return { content: [] }
  })
  const other = new Node({ store: node.store, clock: node.clock, isInMemory: false })
  const ids: string[] = []
  for (let count = 0; count < 4; count++)
    ids.push((await node.start('ask', { caller: { owner: '', scope: `${count}` } })).id)
  await settled()
  const read = textsRead(node)
  for (const id of ids) await poll(other, id)
  for (const id of ids.toReversed()) await poll(other, id)
  expect(read()).toBe(6)
})

test('a look at the store from before a question was stored does not close it', async () => {
  let began: Run | undefined
  const node = new Node({ isInMemory: false }).tool('ask', async (run) => {
    began = run as Run
    await run.question('first', QUESTION)
    await run.question('second', QUESTION)
    return { content: [] }
  })
  const { id } = await node.start('ask')
  await settled()
  await node.tasks.answer(id, 'ann', [['first.1', { action: 'accept' }]])
  await settled()
  const head = (await node.store.head(id)) as TaskHead
  const { state } = (await node.record(id))!
  // As the store was before it had the second question, which it shows with the version that this node knows.
  const before = AttemptState.of(state)
  before.close('second.2')
  expect(began!.refresh(head, before.text)).toBe(true)
  await node.tasks.answer(id, 'ann', [['second.2', { action: 'accept' }]])
  await settled()
  expect(await node.status(id)).toBe('completed')
})

/** The characters of states that are parsed during some work. */
async function parsedStates(work: () => Promise<unknown>): Promise<number> {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  parse.mockClear()
  await work()
  const texts = parse.mock.calls.map(([text]) => text)
  return texts.filter((text) => text.includes('"asked":')).reduce((sum, { length }) => sum + length, 0)
}

test('answers to no open question of a task that another node runs do not parse its state again', async () => {
  const { node, id } = await asking()
  const other = new Node({ store: node.store, clock: node.clock, isInMemory: false })
  const none = async (): Promise<void> => {
    expect(await other.tasks.answer(id, 'ann', [])).toBe(true)
    expect(await other.tasks.answer('unknown', 'ann', [])).toBe(false)
    expect(await other.tasks.answer(id, 'bob', [])).toBe(false)
  }
  expect(await parsedStates(none)).toBe(0)
  const unknown = async (): Promise<void> => {
    for (let count = 0; count < 10; count++) {
      expect(await other.tasks.answer(id, 'ann', [['other.7', { action: 'accept' }]])).toBe(true)
      const error = mcpError(ASK_REFUSED, { method: 'elicitation/create', reason: 'no' })
      expect(await other.tasks.refuse(id, 'ann', 'other.7', error)).toBe(true)
    }
  }
  const { length } = (await node.record(id))!.state
  expect(await parsedStates(unknown)).toBe(length)
  expect(await other.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])).toBe(true)
  await settled()
  expect(await node.status(id)).toBe('completed')
  expect(await parsedStates(() => Promise.resolve(other.tasks.answer(id, 'ann', [['sure.1', {}]])))).toBe(0)
})

test('a task that begins again keeps answers to the questions of its last attempt', async () => {
  const { node, id } = await asking()
  const other = new Node({ store: node.store, clock: node.clock, isInMemory: false })
  const { version } = (await node.store.head(id))!
  await node.store.change(id, version, { status: 'working', node: 'another' })
  expect(await other.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])).toBe(true)
  expect(AttemptState.of((await node.record(id))!.state).answers).toHaveLength(1)
})

test.each(['2026-07-28', '2025-11-25'] as const)(
  'polls of a task that runs here do not write its long questions again, at %s',
  async (revision) => {
    const long = { method: 'elicitation/create', params: { message: 'x"\u2028é'.repeat(100_000) } }
    const node = new Node({ isInMemory: false }).tool('ask', async (run) => {
      await Promise.all([run.question('sure "1"', long), run.question('__proto__', QUESTION)])
      return { content: [] }
    })
    const { id } = await node.start('ask')
    await settled()
    const dialect = DIALECTS[revision]
    const head = (await node.store.head(id)) as TaskHead
    const write = vi.spyOn(JSON, 'stringify')
    onTestFinished(() => write.mockRestore())
    const task = (await detailed(node.tasks, head, { dialect })) as JsonObject
    const text = encodeResult('tasks/get', task, dialect, {}) as string
    const written = write.mock.results.reduce((sum, { value }) => sum + (value as string).length, 0)
    write.mockRestore()
    // One long text, 700,000 characters, was written for each poll.
    expect(written).toBeLessThan(10_000)
    const { inputRequests } = JSON.parse(text) as JsonObject
    const asked = Object.fromEntries([
      ['sure "1".1', long],
      ['__proto__.2', QUESTION],
    ])
    expect(inputRequests).toEqual(revision === '2026-07-28' ? asked : undefined)
    expect(task['inputRequests']).toEqual(asked)
    await node.tasks.close(0)
  },
)
