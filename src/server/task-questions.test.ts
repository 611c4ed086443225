import { expect, test } from 'vitest'
import { DIALECTS } from '../protocol/switches.ts'
import { Call } from '../rpc/call.ts'
import { askAsTask } from './task-questions.ts'

test('a call that is cancelled cancels the task in which its client answers a question', async () => {
  const capabilities = { tasks: { requests: { elicitation: { create: {} } } } }
  const dialect = DIALECTS['2025-11-25']
  const peer = { dialect, client: undefined, capabilities, session: undefined }
  const call = new Call(1, 'tools/call', {}, { peer, channel: { emit: () => undefined }, source: {} })
  const task = { taskId: 'theirs', status: 'working', pollInterval: 1 }
  const asked: unknown[] = []
  const answer = askAsTask(
    async (method, { taskId }, asker) => {
      asker.askingSignal.throwIfAborted()
      asked.push([method, taskId])
      if (method === 'elicitation/create') return { task }
      if (method === 'tasks/get') call.abort(new Error('no longer needed'))
      return task
    },
    { method: 'elicitation/create', params: {} },
    {},
    call,
    600_000,
  )
  await expect(answer).rejects.toThrow('no longer needed')
  expect(asked).toEqual([
    ['elicitation/create', undefined],
    ['tasks/get', 'theirs'],
    ['tasks/cancel', 'theirs'],
  ])
})

test('a client that answers a question as a task has as long as the task is kept, or else questionMs', async () => {
  const capabilities = { tasks: { requests: { elicitation: { create: {} } } } }
  const peer = { dialect: DIALECTS['2025-11-25'], client: undefined, capabilities, session: undefined }
  const task = { taskId: 'theirs', status: 'working', pollInterval: 1 }
  for (const [options, questionMs] of [
    [{}, 20],
    [{ ttl: 20 }, 600_000],
  ] as const) {
    const call = new Call(1, 'tools/call', {}, { peer, channel: { emit: () => undefined }, source: {} })
    const asked = new Set<string>()
    const answer = askAsTask(
      async (method) => {
        asked.add(method)
        return method === 'elicitation/create' ? { task } : task
      },
      { method: 'elicitation/create', params: {} },
      options,
      call,
      questionMs,
    )
    await expect(answer).rejects.toMatchObject({ kind: 'ask_refused' })
    expect([...asked]).toEqual(expect.arrayContaining(['elicitation/create', 'tasks/cancel']))
  }
})
