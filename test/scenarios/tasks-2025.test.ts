import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import { createServer, McpError, ToolError } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import type { Client } from '../harness/client.ts'
import { Door } from '../harness/door.ts'
import { scenario } from '../harness/scenario.ts'

const door = new Door()
const id = z.object({ id: z.string() })

const app = createServer({ name: 'tasks', version: '1', log: () => undefined })
  .tool('plain', {}, () => 'plain')
  .tool('quick', { task: 'optional' }, () => 'quick')
  .tool('slow', { input: id, task: { ttl: '10m' } }, async ({ id: name }, ctx) => {
    ctx.progress(1, 2, 'half')
    await door.pass(name)
    return `slow ${name}`
  })
  .tool('must', { task: 'required' }, () => 'must')
  .tool('fails', { task: 'optional' }, () => {
    throw new ToolError('broken')
  })
  .tool('raises', { task: 'optional' }, () => {
    throw new McpError('bad_params', 'not like that', { data: { why: 'old' } })
  })
  .tool('asks', { task: 'optional' }, async (_, { elicit }) => {
    const { content } = await elicit('Name?', z.object({ name: z.string() }))
    return `Hello, ${content?.name}!`
  })

const plain = createServer({ name: 'plain', version: '1', log: () => undefined }).tool(
  'plain',
  {},
  () => 'plain',
)

const wrapped = createServer({ name: 'wrapped', version: '1', log: () => undefined })
  .tool('must', { task: 'required' }, () => 'must')
  .use('tools/list', async (_, next) => next())

const options = {
  only: ['2025-11-25'],
  capabilities: { elicitation: { form: {} } },
  profiles: false,
} as const
let next = 0

function start(client: Client, name: string, args?: JsonObject, task: JsonObject = {}): Promise<JsonObject> {
  return client.request('tools/call', { name, ...(args && { arguments: args }), task })
}

async function started(
  client: Client,
  name: string,
  args?: JsonObject,
  task?: JsonObject,
): Promise<JsonObject> {
  return (await start(client, name, args, task))['task'] as JsonObject
}

const result = (client: Client, taskId: unknown): Promise<JsonObject> =>
  client.request('tasks/result', { taskId })
const relatedTo = (taskId: unknown): JsonObject => ({ [META.relatedTask]: { taskId } })

scenario(
  'a request with a task is answered at once, and its result fetched later [R240] [R242] [R243]',
  app,
  async (client) => {
    expect(client.opening['capabilities']).toMatchObject({
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    })
    const name = `slow-${next++}`
    const task = await started(client, 'slow', { id: name }, { ttl: 60_000 })
    const { taskId } = task
    expect(task).toMatchObject({ status: 'working', ttl: 60_000, pollInterval: 1000 })
    for (const time of ['createdAt', 'lastUpdatedAt'])
      expect(new Date(task[time] as string).toISOString()).toBe(task[time])
    expect(await client.request('tasks/get', { taskId })).toMatchObject({
      taskId,
      status: 'working',
      ttl: 60_000,
    })
    const waiting = result(client, taskId)
    await client.settle()
    door.open(name)
    expect(await waiting).toEqual({
      content: [{ type: 'text', text: `slow ${name}` }],
      isError: false,
      _meta: relatedTo(taskId),
    })
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ status: 'completed' })
    expect(await client.call('quick')).toEqual({ content: [{ type: 'text', text: 'quick' }], isError: false })
  },
  options,
)

scenario(
  'the result of a task is exactly its outcome, also if that is a failure or an error',
  app,
  async (client) => {
    const failed = await started(client, 'fails')
    expect(await result(client, failed['taskId'])).toMatchObject({
      isError: true,
      content: [{ text: 'broken' }],
    })
    expect(await client.request('tasks/get', { taskId: failed['taskId'] })).toMatchObject({
      status: 'failed',
    })
    const raised = await started(client, 'raises')
    const error = { code: -32602, message: 'not like that', data: { why: 'old' } }
    await expect(result(client, raised['taskId'])).rejects.toMatchObject(error)
    expect(await client.request('tasks/get', { taskId: raised['taskId'] })).toMatchObject({
      status: 'failed',
    })
  },
  options,
)

scenario(
  'a task is cancelled once, and stays so [R244] [R241]',
  app,
  async (client) => {
    const name = `slow-${next++}`
    const { taskId } = await started(client, 'slow', { id: name })
    const waiting = result(client, taskId)
    waiting.catch(() => undefined)
    expect(await client.request('tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' })
    await expect(waiting).rejects.toMatchObject({ code: -32603 })
    await expect(client.request('tasks/cancel', { taskId })).rejects.toMatchObject({ code: -32602 })
    door.open(name)
    await setImmediate()
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' })
    const done = await started(client, 'quick')
    await result(client, done['taskId'])
    const late = client.request('tasks/cancel', { taskId: done['taskId'] })
    await expect(late).rejects.toMatchObject({ code: -32602 })
    expect(await client.request('tasks/get', { taskId: done['taskId'] })).toMatchObject({
      status: 'completed',
    })
  },
  options,
)

scenario(
  'tools say whether they take tasks, and the others reject them [R246]',
  app,
  async (client) => {
    const { tools } = (await client.request('tools/list')) as unknown as { tools: JsonObject[] }
    const support = new Map(tools.map(({ name, execution }) => [name, execution]))
    expect(support.get('plain')).toBeUndefined()
    expect(support.get('quick')).toEqual({ taskSupport: 'optional' })
    expect(support.get('must')).toEqual({ taskSupport: 'required' })
    await expect(client.call('must')).rejects.toMatchObject({ code: -32601 })
    await expect(start(client, 'plain')).rejects.toMatchObject({ code: -32601 })
    const { taskId } = await started(client, 'must')
    expect(await result(client, taskId)).toMatchObject({ content: [{ text: 'must' }] })
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      await expect(client.request(method, { taskId: 'A'.repeat(24) })).rejects.toMatchObject({ code: -32602 })
  },
  options,
)

scenario(
  'tools say whether they take tasks beside middleware for the list',
  wrapped,
  async (client) => {
    const { tools } = (await client.request('tools/list')) as unknown as { tools: JsonObject[] }
    expect(tools.find(({ name }) => name === 'must')).toMatchObject({
      execution: { taskSupport: 'required' },
    })
  },
  options,
)

scenario(
  'a server without tasks ignores the field [R247]',
  plain,
  async (client) => {
    expect(client.opening['capabilities']).not.toHaveProperty('tasks')
    const answer = await client.request('tools/call', { name: 'plain', task: { ttl: 5 } })
    expect(answer).toMatchObject({ content: [{ text: 'plain' }] })
    await expect(client.request('tasks/get', { taskId: 'x' })).rejects.toMatchObject({ code: -32601 })
  },
  options,
)

scenario(
  'the questions of a task come with the request for its result, and again if nobody answered',
  app,
  async (client) => {
    const { taskId } = await started(client, 'asks')
    for (let tries = 0; tries < 2; tries++) {
      const stop = new AbortController()
      client.answer('elicitation/create', () => new Promise(() => undefined))
      client.request('tasks/result', { taskId }, { signal: stop.signal }).catch(() => undefined)
      await client.until(() => client.questions.length === tries + 1)
      expect(await client.request('tasks/get', { taskId })).toMatchObject({ status: 'input_required' })
      stop.abort()
      await client.settle()
    }
    client.answer('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }))
    expect(await result(client, taskId)).toMatchObject({ content: [{ text: 'Hello, Ann!' }] })
    expect(client.questions.at(-1)).toMatchObject({
      method: 'elicitation/create',
      params: { message: 'Name?', _meta: relatedTo(taskId) },
    })
  },
  options,
)

scenario(
  'callers list their own tasks',
  app,
  async (client) => {
    const ids: unknown[] = []
    for (let count = 0; count < 3; count++) ids.push((await started(client, 'quick'))['taskId'])
    const { tasks } = (await client.request('tasks/list')) as unknown as { tasks: JsonObject[] }
    expect(tasks.map(({ taskId }) => taskId).filter((one) => ids.includes(one))).toEqual(ids)
    await expect(client.request('tasks/list', { cursor: 'A'.repeat(24) })).rejects.toMatchObject({
      code: -32602,
    })
  },
  options,
)

scenario(
  'progress goes on after the answer, with the token of the request; the status is announced',
  app,
  async (client) => {
    await client.follow({})
    const name = `slow-${next++}`
    const meta = { [META.progressToken]: 'token' }
    const params = { name: 'slow', arguments: { id: name }, task: {} }
    const { task } = (await client.request('tools/call', params, { meta })) as unknown as { task: JsonObject }
    const [progress] = await client.hear('notifications/progress')
    expect(progress).toMatchObject({
      progressToken: 'token',
      progress: 1,
      message: 'half',
      _meta: relatedTo(task['taskId']),
    })
    door.open(name)
    const [status] = await client.hear('notifications/tasks/status')
    expect(status).toMatchObject({ taskId: task['taskId'], status: 'completed', ttl: 600_000 })
  },
  options,
)
