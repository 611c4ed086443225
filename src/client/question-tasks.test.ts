import { expect, test } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { NEWEST } from './forms.ts'
import { QuestionRoom } from './question-room.ts'
import { QuestionTasks } from './question-tasks.ts'

const METHOD = 'sampling/createMessage'
const { signal } = new AbortController()

function ask(tasks: QuestionTasks, method: string, params: JsonObject): Promise<JsonObject> {
  return tasks.reply(method, params, signal, { forms: NEWEST })
}

async function begin(tasks: QuestionTasks, ttl: number = 0): Promise<JsonObject> {
  const { task } = await ask(tasks, METHOD, { messages: [], task: { ttl } })
  return task as JsonObject
}

test('no ttl lets a server have more tasks than a client keeps', async () => {
  let running = 0
  const never = (): Promise<JsonObject> => {
    running++
    return new Promise(() => undefined)
  }
  const tasks = new QuestionTasks(never, new QuestionRoom())
  let last: JsonObject = {}
  for (let count = 0; count < 128; count++) expect((last = await begin(tasks))['ttl']).toBe(60_000)
  await expect(begin(tasks)).rejects.toMatchObject({ kind: 'overloaded' })
  // One that has ended makes room, but its question counts until it is answered.
  let error: unknown
  for (let turn = 0; turn < 2000 && error === undefined; turn++) {
    await ask(tasks, 'tasks/cancel', { taskId: last['taskId'] as string })
    await begin(tasks).then(
      (task) => (last = task),
      (thrown: unknown) => (error = thrown),
    )
  }
  expect(error).toMatchObject({ kind: 'overloaded' })
  expect(running).toBe(1024)
  tasks.clear()
  expect(await ask(tasks, 'tasks/list', {})).toEqual({ tasks: [] })
})

test('answers are kept up to a size, and leave their room when the task is forgotten', async () => {
  const room = new QuestionRoom()
  const tasks = new QuestionTasks(() => Promise.resolve({ text: 'x'.repeat(10_000_000) }), room)
  const outcomes: unknown[] = []
  for (let count = 0; count < 10; count++) {
    const { taskId } = await begin(tasks, Infinity)
    await ask(tasks, 'tasks/result', { taskId }).catch(() => undefined)
    outcomes.push((await ask(tasks, 'tasks/get', { taskId }))['status'])
  }
  const kept = outcomes.filter((status) => status === 'completed').length
  expect(kept).toBeGreaterThan(0)
  expect(outcomes.slice(kept)).toEqual(Array.from({ length: 10 - kept }, () => 'failed'))
  tasks.clear()
  expect(room.take(67_108_864)).toBe(true)
})

test('a server cannot have long lists made all the time', async () => {
  const tasks = new QuestionTasks(async () => ({}), new QuestionRoom())
  await begin(tasks)
  for (let count = 0; count < 300; count++) await ask(tasks, 'tasks/list', {})
  await expect(ask(tasks, 'tasks/list', {})).rejects.toMatchObject({ kind: 'asked_too_often' })
  tasks.clear()
})
