import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import { createServer, McpError, ToolError } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import type { Client } from '../harness/client.ts'
import { Door } from '../harness/door.ts'
import { scenario } from '../harness/scenario.ts'

const door = new Door()
const stopped: string[] = []
const id = z.object({ id: z.string() })

const app = createServer({ name: 'tasks', version: '1', log: () => undefined })
  .tool('plain', {}, () => 'plain')
  .tool('quick', { task: { after: '1h' } }, () => 'quick')
  .tool('slow', { input: id, task: { after: 0 } }, async ({ id: name }, ctx) => {
    ctx.progress(1, 2, 'half')
    ctx.log.info('half')
    await door.pass(name)
    ctx.progress(2, 2, 'all')
    ctx.log.info('all')
    return `slow ${name}`
  })
  .tool('must', { task: 'required' }, () => 'must')
  .tool('fails', { task: 'required' }, () => {
    throw new ToolError('broken', { why: 'old' })
  })
  .tool('raises', { task: 'required' }, () => {
    throw new McpError('bad_params', 'not like that')
  })
  .tool('hangs', { input: id, task: 'required' }, async ({ id: name }, { signal }) => {
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        stopped.push(name)
        reject(signal.reason as Error)
      })
    })
  })
  .tool('asks', { task: 'required' }, async (_, { elicit }) => {
    const [first, second] = await Promise.all([
      elicit('First?', z.object({ a: z.string() })),
      elicit('Second?', z.object({ b: z.string() }), { key: 'second' }),
    ])
    const third = await elicit('Third?', z.object({ c: z.string() }))
    return `${first.content?.a} ${second.content?.b} ${third.content?.c}`
  })

const capabilities = { extensions: { [TASKS_EXTENSION]: {} }, elicitation: { form: {} } }
const options = { only: ['2026-07-28'], capabilities } as const
const NONE = { capabilities: {} }
let next = 0

async function started(client: Client, name: string, args?: JsonObject): Promise<JsonObject> {
  const task = await client.request('tools/call', { name, ...(args && { arguments: args }) })
  expect(task).toMatchObject({ resultType: 'task', taskId: expect.stringMatching(/^[\w-]{24}$/) as string })
  return task
}

/** Asks for a task until it has a status. */
async function polled(client: Client, taskId: unknown, status: string): Promise<JsonObject> {
  for (;;) {
    const task = await client.request('tasks/get', { taskId })
    expect(task['resultType']).toBe('complete')
    if (task['status'] === status) return task
    await setImmediate()
  }
}

scenario(
  'a call that takes long becomes a task, whose result can be fetched [R250] [R251]',
  app,
  async (client) => {
    expect(await client.call('quick')).toEqual({ content: [{ type: 'text', text: 'quick' }], isError: false })
    const name = `slow-${next++}`
    const { taskId, ...task } = await started(client, 'slow', { id: name })
    expect(task).toMatchObject({ status: 'working', ttlMs: 3_600_000, pollIntervalMs: 1000 })
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' })
    door.open(name)
    const done = await polled(client, taskId, 'completed')
    expect(done).toMatchObject({ statusMessage: 'all', result: { content: [{ text: `slow ${name}` }] } })
    // A client that did not declare the extension on its request gets the result.
    const direct = client.call('slow', { id: `${name}-direct` }, NONE)
    door.open(`${name}-direct`)
    expect(await direct).toMatchObject({ content: [{ text: `slow ${name}-direct` }] })
  },
  options,
)

scenario(
  'a tool that requires a task is one at once, and only for clients that declared it [R257] [R252]',
  app,
  async (client) => {
    const { taskId } = await started(client, 'must')
    await polled(client, taskId, 'completed')
    const required = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } }
    const needs = { code: -32021, data: required }
    for (const [method, params] of [
      ['tools/call', { name: 'must' }],
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses: {} }],
      ['tasks/cancel', { taskId }],
      ['subscriptions/listen', { notifications: { taskIds: [taskId] } }],
    ] as const)
      await expect(client.request(method, params, NONE)).rejects.toMatchObject(needs)
  },
  options,
)

scenario(
  'a failure of the tool completes its task, and an error of the protocol fails it [R253] [R254]',
  app,
  async (client) => {
    const failed = await started(client, 'fails')
    expect(await polled(client, failed['taskId'], 'completed')).toMatchObject({
      result: { isError: true, content: [{ text: 'broken' }, { text: '{"why":"old"}' }] },
    })
    const raised = await started(client, 'raises')
    expect(await polled(client, raised['taskId'], 'failed')).toMatchObject({
      statusMessage: 'not like that',
      error: { code: -32602, message: 'not like that' },
    })
  },
  options,
)

scenario(
  'questions have unique keys, and unknown answers are ignored [R255] [R256]',
  app,
  async (client) => {
    const { taskId } = await started(client, 'asks')
    const first = await polled(client, taskId, 'input_required')
    const asked = first['inputRequests'] as Record<string, { params: { message: string } }>
    const keyOf = (message: string): string =>
      Object.entries(asked).find(([, question]) => question.params.message === message)![0]
    expect(Object.keys(asked)).toHaveLength(2)
    const answer = (content: JsonObject): JsonObject => ({ action: 'accept', content })
    const update = (inputResponses: JsonObject): Promise<JsonObject> =>
      client.get('tasks/update', { taskId, inputResponses })
    expect(await update({ unknown: answer({}), [keyOf('First?')]: answer({ a: 'x' }) })).toEqual({})
    const left = await polled(client, taskId, 'input_required')
    expect(Object.keys(left['inputRequests'] as object)).toEqual([keyOf('Second?')])
    await update({ [keyOf('Second?')]: answer({ b: 'y' }), [keyOf('First?')]: answer({ a: 'late' }) })
    const third = await polled(client, taskId, 'input_required')
    const [key] = Object.keys(third['inputRequests'] as object) as [string]
    expect(Object.keys(asked)).not.toContain(key)
    await update({ [key]: answer({ c: 'z' }) })
    expect(await polled(client, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'x y z' }] },
    })
  },
  options,
)

scenario(
  'a task is cancelled with an empty result, any number of times',
  app,
  async (client) => {
    const name = `hangs-${next++}`
    const { taskId } = await started(client, 'hangs', { id: name })
    await setImmediate()
    for (let times = 0; times < 2; times++) expect(await client.get('tasks/cancel', { taskId })).toEqual({})
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' })
    const done = await started(client, 'must')
    await polled(client, done['taskId'], 'completed')
    expect(await client.get('tasks/cancel', { taskId: done['taskId'] })).toEqual({})
    expect(await polled(client, done['taskId'], 'completed')).toMatchObject({ status: 'completed' })
  },
  options,
)

scenario(
  'what the revision does not have is unknown, and the param of the older one is ignored [R258]',
  app,
  async (client) => {
    for (const method of ['tasks/result', 'tasks/list'])
      await expect(client.request(method, { taskId: 'x' })).rejects.toMatchObject({ code: -32601 })
    const result = await client.request('tools/call', { name: 'plain', task: { ttl: 1 } })
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'plain' }] })
    for (const [method, more] of [
      ['tasks/get', {}],
      ['tasks/cancel', {}],
      ['tasks/update', { inputResponses: {} }],
    ] as const) {
      const unknown = client.request(method, { taskId: 'AAAAAAAAAAAAAAAAAAAAAAAA', ...more })
      await expect(unknown).rejects.toMatchObject({ code: -32602 })
    }
  },
  options,
)

scenario(
  'listeners hear of the tasks that they name, and of no progress [R260]',
  app,
  async (client) => {
    const name = `slow-${next++}`
    const meta = { [META.progressToken]: 't', [META.logLevel]: 'debug' }
    const call = client.request('tools/call', { name: 'slow', arguments: { id: name } }, { meta })
    const { taskId } = await call
    const before = client.notices.length
    const stop = new AbortController()
    const listening = client.nextId()
    const notifications = { taskIds: [taskId, 'AAAAAAAAAAAAAAAAAAAAAAAA'] }
    client
      .request('subscriptions/listen', { notifications }, { id: listening, signal: stop.signal })
      .catch(() => undefined)
    await client.until(() => client.acknowledged(listening) !== undefined)
    expect(client.acknowledged(listening)).toMatchObject({ notifications: { taskIds: [taskId] } })
    door.open(name)
    const ended = (): JsonObject | undefined =>
      client.heard('notifications/tasks').find(({ status }) => status === 'completed')
    await client.until(() => ended() !== undefined)
    expect(ended()).toMatchObject({
      taskId,
      status: 'completed',
      result: { content: [{ text: `slow ${name}` }] },
      _meta: { [META.subscriptionId]: listening },
    })
    const others = client.notices.slice(before).filter(({ method }) => /progress|message/.test(method))
    expect(others).toEqual([])
    stop.abort()
  },
  options,
)

scenario(
  'the server declares the extension where extensions are declared',
  app,
  async (client, revision) => {
    if (revision === '2026-07-28') {
      const { capabilities: offered } = await client.request('server/discover')
      expect(offered).toMatchObject({ extensions: { [TASKS_EXTENSION]: {} } })
      expect(offered).not.toHaveProperty('tasks')
    } else if (revision !== '2025-11-25') {
      expect(client.opening['capabilities']).not.toHaveProperty('tasks')
      await expect(client.request('tasks/get', { taskId: 'x' })).rejects.toMatchObject({ code: -32601 })
    }
    const { tools } = await client.request('tools/list')
    const support = (tools as JsonObject[]).map(({ execution }) => execution)
    if (revision === '2025-11-25') expect(support).toContainEqual({ taskSupport: 'required' })
    else expect(support.every((one) => one === undefined)).toBe(true)
  },
  { capabilities },
)
