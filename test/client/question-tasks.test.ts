import { expect, test } from 'vitest'
import { connect, type Answers, type Client } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { scripted, spoken, type Message, type Scripted } from './scripted.ts'

const SAMPLE = { messages: [], maxTokens: 1 }
const SAID = { role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'm' }
const sample: Answers['sample'] = () => SAID

interface Asking {
  readonly client: Client
  readonly server: Scripted
  ask(method: string, params: JsonObject): Promise<Message>
}

/** A server of 2025-11-25 that asks what a test wants. */
async function asking(answers: Answers): Promise<Asking & AsyncDisposable> {
  const server = scripted('2025-11-25', () => false)
  const client = await connect(server, { answers })
  let last = 0
  return {
    client,
    server,
    async ask(method, params) {
      const id = `q${++last}`
      server.say({ id, method, params })
      return server.until((message) => message.id === id && message.method === undefined)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function taskOf({ result }: Message): JsonObject {
  return result?.['task'] as JsonObject
}

test('a client declares that its answers may be tasks, at 2025-11-25 only', async () => {
  await using both = await asking({ sample, elicit: () => ({ action: 'decline' }) })
  const { params = {} } = await both.server.until(({ method }) => method === 'initialize')
  expect((params['capabilities'] as JsonObject)['tasks']).toEqual({
    list: {},
    cancel: {},
    requests: { sampling: { createMessage: {} }, elicitation: { create: {} } },
  })
  await using none = await asking({ roots: [] })
  const other = await none.server.until(({ method }) => method === 'initialize')
  expect(other.params?.['capabilities']).toEqual({ roots: { listChanged: true } })
})

test('a question is answered as a task, which can be read, listed and waited for', async () => {
  let say: (said: JsonObject) => void = () => undefined
  const said = new Promise<JsonObject>((resolve) => (say = resolve))
  await using server = await asking({ sample: () => said })
  const created = taskOf(await server.ask('sampling/createMessage', { ...SAMPLE, task: { ttl: 120_000 } }))
  expect(created).toMatchObject({ status: 'working', ttl: 120_000, pollInterval: 1000 })
  const { taskId } = created
  expect((await server.ask('tasks/get', { taskId, task: {} })).result).toEqual(created)
  expect((await server.ask('tasks/list', {})).result).toEqual({ tasks: [created] })
  const waiting = server.ask('tasks/result', { taskId })
  say(SAID)
  expect((await waiting).result).toEqual({ ...SAID, _meta: { [META.relatedTask]: { taskId } } })
  expect((await server.ask('tasks/get', { taskId })).result).toMatchObject({ status: 'completed' })
  expect((await server.ask('tasks/cancel', { taskId })).error?.['code']).toBe(-32602)
})

test('a question that fails is a task that failed, with the same error', async () => {
  await using server = await asking({
    elicit: () => {
      throw new Error('no screen')
    },
  })
  const form = { message: 'name?', requestedSchema: { type: 'object', properties: {} } }
  const { taskId } = taskOf(await server.ask('elicitation/create', { ...form, task: {} }))
  const { error } = await server.ask('tasks/result', { taskId })
  expect(error?.['code']).toBe(-32603)
  expect(JSON.stringify(error)).not.toContain('no screen')
  expect((await server.ask('tasks/get', { taskId })).result).toMatchObject({ status: 'failed' })
})

test('a task that the server cancels aborts its question, and answers who waits for it', async () => {
  const signals: AbortSignal[] = []
  await using server = await asking({
    sample: (_, signal) => {
      signals.push(signal)
      return new Promise(() => undefined)
    },
  })
  const { taskId } = taskOf(await server.ask('sampling/createMessage', { ...SAMPLE, task: {} }))
  const waiting = server.ask('tasks/result', { taskId })
  const cancelled = await server.ask('tasks/cancel', { taskId })
  expect(cancelled.result).toMatchObject({ taskId, status: 'cancelled' })
  expect((await waiting).error).toMatchObject({ message: 'the task was cancelled' })
  expect(signals[0]?.aborted).toBe(true)
  expect((await server.ask('tasks/cancel', { taskId })).error?.['code']).toBe(-32602)
})

test('unknown tasks and other methods are rejected, and questions that cannot be tasks are answered', async () => {
  await using server = await asking({ sample, roots: [] })
  for (const taskId of ['nope', undefined, 1, {}, '__proto__'])
    expect((await server.ask('tasks/get', { taskId })).error?.['code']).toBe(-32602)
  expect((await server.ask('tasks/update', { taskId: 'x' })).error?.['code']).toBe(-32602)
  expect((await server.ask('roots/list', { task: {} })).result).toEqual({ roots: [] })
  expect((await server.ask('ping', { task: {} })).result).toEqual({})
})

test('the tasks of a connection end with it', async () => {
  let onAsked: (signal: AbortSignal) => void = () => undefined
  const signal = new Promise<AbortSignal>((resolve) => (onAsked = resolve))
  const asked = await asking({
    sample: (_, given) => {
      onAsked(given)
      return new Promise(() => undefined)
    },
  })
  await asked.ask('sampling/createMessage', { ...SAMPLE, task: {} })
  await signal
  await asked.client.close()
  expect((await signal).aborted).toBe(true)
})

test('before 2025-11-25 a question is answered directly', async () => {
  const server = scripted('2025-06-18', ({ method }, peer) => {
    if (method === 'tools/call') peer.reply(spoken('done'))
    return method === 'tools/call'
  })
  await using client = await connect(server, { answers: { sample } })
  server.say({ id: 'q', method: 'sampling/createMessage', params: { ...SAMPLE, task: {} } })
  const reply = await server.until((message) => message.id === 'q' && message.method === undefined)
  expect(reply.result).toMatchObject({ model: 'm' })
  expect(client.state).toBe('ready')
})

test('a client tells the server when the task of a question has ended, unless the server cancelled it', async () => {
  const said: Readonly<Record<number, () => Promise<typeof SAID>>> = {
    1: () => new Promise(() => undefined),
    2: () => Promise.reject(new Error('broken')),
    3: () => Promise.resolve(SAID),
  }
  await using asked = await asking({ sample: (params) => said[params['maxTokens'] as number]!() })
  const begin = async (maxTokens: number): Promise<JsonObject> =>
    taskOf(await asked.ask('sampling/createMessage', { ...SAMPLE, maxTokens, task: {} }))
  const told = async ({ taskId }: JsonObject): Promise<JsonObject | undefined> =>
    (await asked.server.until(({ method, params }) => method === STATUS && params?.['taskId'] === taskId))
      .params
  const cancelled = await begin(1)
  await asked.ask('tasks/cancel', { taskId: cancelled['taskId'] })
  const done = await begin(3)
  expect(await told(done)).toMatchObject({ taskId: done['taskId'], status: 'completed', ttl: done['ttl'] })
  expect(await told(await begin(2))).toMatchObject({ status: 'failed' })
  const statuses = (asked.server.sent() as readonly Message[]).filter(({ method }) => method === STATUS)
  expect(statuses.map(({ params }) => params?.['status'])).toEqual(['completed', 'failed'])
})

const STATUS = 'notifications/tasks/status'
