import { expect, test, vi } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { AttemptState } from './attempt-state.ts'
import { knownAnswer } from './known-answer.ts'

const FORM = { type: 'object', properties: { cinema: { type: 'string' } } }
const QUESTION = { method: 'elicitation/create', params: { message: 'Where?', requestedSchema: FORM } }
const accept = (cinema: string, more: JsonObject = {}): JsonObject => ({
  action: 'accept',
  content: { cinema },
  ...more,
})

/** A task that asks, keeps so many small values, and then waits. */
async function keeping(values: number, limits = {}) {
  const refused: unknown[] = []
  const node = new Node({ limits }).tool('render', async (run) => {
    await run.question('where', QUESTION).catch((error: { message: string }) => refused.push(error.message))
    for (let at = 0; at < values; at++) await run.once(`scene ${at}`, () => `file ${at}`)
    return new Promise(() => undefined)
  })
  const { id } = await node.start('render')
  await settled()
  return { node, id, refused }
}

/** How many characters of JSON are written while a task with a long answer keeps so many small values. */
async function written(values: number): Promise<number> {
  const { node, id } = await keeping(values)
  const stringify = vi.spyOn(JSON, 'stringify')
  await node.tasks.answer(id, 'ann', [['where.1', accept('x'.repeat(100_000))]])
  for (let turn = 0; turn < values; turn++) await settled()
  const texts = stringify.mock.results.map(({ value }) => value as string | undefined)
  stringify.mockRestore()
  expect(AttemptState.of((await node.record(id))!.state).once).toHaveLength(values)
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

test('a long answer is turned into text once, however many values follow', async () => {
  const [few, many] = [await written(5), await written(20)]
  expect(many - few).toBeLessThan(100_000)
})

test('the state of a task has the same text as its parts, and its size is known', () => {
  const state = new AttemptState()
  expect([state.text, state.textBytes]).toEqual(['', 0])
  const name = state.open('where', QUESTION)
  state.open('when', QUESTION)
  state.take([[name, accept('Odéon')]])
  state.keepOnce('rows', { rows: [1, 'ä'] }, '{"rows":[1,"ä"]}')
  state.keepOnce('nothing', undefined)
  const { answers, once, questions, asked } = state
  expect(state.text).toBe(JSON.stringify({ answers, once, questions, asked }))
  expect(state.textBytes).toBe(state.text.length)
  expect(state.text).toBe(state.text)
  state.failures = 2
  state.crashes = 1
  state.refuse('when.2', '{"error":"€"}')
  const { refusals } = state
  const all = { answers, once, questions: [], asked, failures: 2, crashes: 1, refusals }
  expect(state.text).toBe(JSON.stringify(all))
  expect(state.textBytes).toBe(2 * state.text.length)
  expect(AttemptState.of(state.text).text).toBe(state.text)
})

test('a task keeps nothing of an answer but what its question asks for', async () => {
  const { node, id } = await keeping(1)
  const answer = accept('Odeon', { junk: 'much', content: { cinema: 'Odeon', other: 'more' } })
  await node.tasks.answer(id, 'ann', [['where.1', answer]])
  await settled()
  const { state } = (await node.record(id))!
  expect(AttemptState.of(state).answers).toEqual([
    ['where', QUESTION, { action: 'accept', content: { cinema: 'Odeon' } }],
  ])
})

test.each([
  ['elicitation/create', { action: 'decline', content: { cinema: 'x' }, junk: 1 }, { action: 'decline' }],
  ['elicitation/create', { action: 'accept', content: 'text' }, { action: 'accept', content: 'text' }],
  [
    'sampling/createMessage',
    { role: 'assistant', content: [], model: 'm', stopReason: 'endTurn', junk: 1 },
    { role: 'assistant', content: [], model: 'm', stopReason: 'endTurn' },
  ],
  [
    'sampling/createMessage',
    {
      role: 'assistant',
      content: { type: 'text', text: 'hi', annotations: { priority: 1, junk: 1 }, _meta: { a: 1 }, junk: 1 },
    },
    { role: 'assistant', content: { type: 'text', text: 'hi', annotations: { priority: 1 } } },
  ],
  [
    'sampling/createMessage',
    {
      content: [
        { type: 'image', data: 'AA==', mimeType: 'image/png', junk: 1 },
        { type: 'tool_use', id: '1', name: 'add', input: { _meta: 1 }, _meta: { a: 1 } },
        { type: 'tool_result', toolUseId: '1', content: [{ type: 'text', text: 'x', _meta: {} }], junk: 1 },
        { type: 'video', data: 'AA==', _meta: {} },
        'text',
      ],
    },
    {
      content: [
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'tool_use', id: '1', name: 'add', input: { _meta: 1 } },
        { type: 'tool_result', toolUseId: '1', content: [{ type: 'text', text: 'x' }] },
        { type: 'video', data: 'AA==' },
        'text',
      ],
    },
  ],
  [
    'roots/list',
    { roots: [{ uri: 'file:///a', name: 'a', junk: 1 }, 'b'], junk: 1 },
    { roots: [{ uri: 'file:///a', name: 'a' }, 'b'] },
  ],
  ['roots/list', { roots: 'none', junk: 1 }, { roots: 'none' }],
])('the known members of an answer to %s: %j', (method, answer, known) => {
  expect(knownAnswer({ method, params: QUESTION.params }, answer)).toEqual(known)
})

test('a root keeps the small members of its _meta', () => {
  const root = { uri: 'file:///a', _meta: { 'a/b': 1, 'a/c': 'x'.repeat(10_000), 'a/d': [2] } }
  const answer = knownAnswer({ method: 'roots/list', params: {} }, { roots: [root] })
  expect(answer).toEqual({ roots: [{ uri: 'file:///a', _meta: { 'a/b': 1, 'a/d': [2] } }] })
})

test.each(['here', 'elsewhere'])('an answer that is too long is rejected (%s)', async (where) => {
  const { node, id, refused } = await keeping(0, { taskResultBytes: 40_000 })
  const other = where === 'here' ? node : new Node({ store: node.store, limits: { taskResultBytes: 40_000 } })
  const answer = async (): Promise<boolean> =>
    other.tasks.answer(id, 'ann', [['where.1', accept('x'.repeat(2500))]])
  await expect(answer()).rejects.toMatchObject({ kind: 'ask_invalid' })
  await settled()
  // The handler goes on, at whichever node the answer arrived.
  expect(refused).toEqual([expect.stringContaining('more than 2500 bytes')])
  expect((await node.record(id))!.state).not.toContain('xxx')
})

test('a long answer that came before the task is not kept', async () => {
  const { node, id } = await keeping(0, { taskResultBytes: 40_000 })
  const run = node.tasks.runs.get(id)!
  run.keepAnswer('short', QUESTION, accept('x'))
  run.keepAnswer('long', QUESTION, accept('x'.repeat(2500)))
  expect(run.shared.answers.map(([key]) => key)).toEqual(['short'])
})

test('the answers of a task have a limit together, and those of a model are longer than those to a form', async () => {
  const { node, id } = await keeping(0, { taskResultBytes: 40_000 })
  const run = node.tasks.runs.get(id)!
  const sampling = { method: 'sampling/createMessage', params: {} }
  run.keepAnswer('model', sampling, { role: 'assistant', model: 'm', content: 'x'.repeat(7000) })
  run.keepAnswer('second', sampling, { role: 'assistant', model: 'm', content: 'x'.repeat(7000) })
  run.keepAnswer('form', QUESTION, accept('x'.repeat(2000)))
  expect(run.shared.answers.map(([key]) => key)).toEqual(['model', 'form'])
  const last = async (): Promise<boolean> =>
    node.tasks.answer(id, 'ann', [['where.1', accept('x'.repeat(2000))]])
  await expect(last()).rejects.toThrow('with the other answers of its task it has more than 10000 bytes')
})
