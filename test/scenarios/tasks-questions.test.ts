import { expect } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

const app = createServer({ name: 'asks', version: '1', log: () => undefined })
  .tool('approve', {}, async (_, { elicit }) => {
    const { action, content } = await elicit('Approve?', z.object({ ok: z.boolean() }), {
      task: { ttl: '1m' },
    })
    return `${action} ${content?.ok}`
  })
  .tool('judge', {}, async (_, { sample }) => {
    const { model } = await sample({ messages: [{ role: 'user', content: 'hi' }] }, { task: {} })
    return model
  })

const requests = { elicitation: { create: {} }, sampling: { createMessage: {} } }
const capabilities = { elicitation: { form: {} }, sampling: {}, tasks: { requests } }
const TASK = {
  taskId: 'of-the-client',
  createdAt: new Date(0).toISOString(),
  lastUpdatedAt: new Date(0).toISOString(),
  ttl: 60_000,
  pollInterval: 1,
}

scenario(
  'a question is asked as a task if the client can do that, and its result is fetched',
  app,
  async (client) => {
    let polls = 0
    client.answer('elicitation/create', () => ({ task: { ...TASK, status: 'working' } }))
    client.answer('tasks/get', () => ({ ...TASK, status: ++polls < 3 ? 'working' : 'completed' }))
    client.answer('tasks/result', () => ({ action: 'accept', content: { ok: true } }))
    expect(await client.call('approve')).toMatchObject({ content: [{ text: 'accept true' }] })
    expect(client.questions.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'tasks/get',
      'tasks/get',
      'tasks/get',
      'tasks/result',
    ])
    expect(client.questions[0]).toMatchObject({ params: { task: { ttl: 60_000 } } })
    // A client may answer at once all the same.
    client.answer('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'hello' },
      model: 'm',
    }))
    expect(await client.call('judge')).toMatchObject({ content: [{ text: 'm' }] })
    expect(client.questions.at(-1)).toMatchObject({ params: { task: {} } })
  },
  { only: ['2025-11-25'], capabilities, profiles: false },
)

scenario(
  'other clients get an ordinary question',
  app,
  async (client) => {
    client.answer('elicitation/create', () => ({ action: 'accept', content: { ok: true } }))
    expect(await client.call('approve')).toMatchObject({ content: [{ text: 'accept true' }] })
    expect(client.questions[0]?.params).not.toHaveProperty('task')
  },
  { since: '2025-06-18', capabilities: { elicitation: { form: {} } } },
)
