import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CallToolResultSchema,
  CreateMessageResultSchema,
  ElicitRequestSchema,
  ElicitResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import {
  createApplicationInputHandler,
  createTaskSessionFromClient,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client'
import { bindTaskReceiver } from '@modelcontextprotocol/ext-tasks/receiver'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { connect, type Answers } from '../../src/client.ts'
import { createServer, ToolError } from '../../src/index.ts'
import { TASKS_EXTENSION } from '../../src/protocol/meta.ts'

const ABOUT = { name: 'films', version: '1.0.0' }
const SAID = { role: 'assistant' as const, content: { type: 'text' as const, text: 'yes' }, model: 'm' }

/** A server of the official SDK v1 whose tools are tasks. */
function officialServer(): McpServer {
  const server = new McpServer(ABOUT, {
    capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    taskStore: new InMemoryTaskStore(),
    taskMessageQueue: new InMemoryTaskMessageQueue(),
  })
  const inputSchema = { mode: z.string() }
  server.experimental.tasks.registerToolTask(
    'render',
    { inputSchema, execution: { taskSupport: 'required' } },
    {
      async createTask({ mode }, { taskStore, taskRequestedTtl }) {
        const task = await taskStore.createTask({ ttl: taskRequestedTtl ?? 60_000, pollInterval: 100 })
        const related = { relatedTask: { taskId: task.taskId } }
        const work = async (): Promise<string> => {
          if (mode === 'ask') {
            const params = { message: 'Sure?', requestedSchema: { type: 'object' as const, properties: {} } }
            const request = {
              method: 'elicitation/create' as const,
              params: { mode: 'form' as const, ...params },
            }
            const { action } = await server.server.request(request, ElicitResultSchema, related)
            return action
          }
          if (mode === 'sample') {
            const params = { messages: [], maxTokens: 1 }
            const stream = server.server.experimental.tasks.requestStream(
              { method: 'sampling/createMessage', params },
              CreateMessageResultSchema,
              { task: { ttl: 60_000 } },
            )
            for await (const message of stream) {
              if (message.type === 'error') throw message.error
              if (message.type === 'result') return message.result.model
            }
          }
          return mode
        }
        const finish = async (): Promise<void> => {
          if (mode === 'hang') return
          const text = await work().catch((error: unknown) => `failed: ${String(error)}`)
          const result = { content: [{ type: 'text' as const, text }], isError: mode === 'fail' }
          await taskStore.storeTaskResult(task.taskId, mode === 'fail' ? 'failed' : 'completed', result)
        }
        setTimeout(() => void finish(), 0)
        return { task }
      },
      getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
      getTaskResult: async (_, { taskId, taskStore }) =>
        CallToolResultSchema.parse(await taskStore.getTaskResult(taskId)),
    },
  )
  return server
}

/** Serves one session over HTTP. */
async function serve(): Promise<string> {
  const server = officialServer()
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() })
  await server.connect(transport as never)
  const http = createHttp((request, response) => void transport.handleRequest(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await server.close()
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

const answers: Answers = { elicit: () => ({ action: 'decline' }), sample: () => SAID }

test('our client calls the tasks of official v1, answers their questions and resumes them', async () => {
  await using client = await connect(await serve(), { revision: '2025-11-25', answers })
  expect(await client.call('render', { mode: 'plain' })).toBe('plain')
  expect(await client.call('render', { mode: 'ask' })).toBe('decline')
  await expect(client.call('render', { mode: 'fail' })).rejects.toThrow(ToolError)
  const task = await client.start('render', { mode: 'plain' }, { ttl: '1h' })
  expect(await task.status()).toMatchObject({ ttlMs: 3_600_000 })
  const same = await client.resume(task.id as string)
  expect(await same.result()).toBe('plain')
  const hanging = await client.start('render', { mode: 'hang' })
  await hanging.cancel()
  await expect(hanging.result()).rejects.toMatchObject({ kind: 'task_cancelled' })
})

test('our client answers a question of official v1 as a task', async () => {
  await using client = await connect(await serve(), { revision: '2025-11-25', answers })
  expect(await client.call('render', { mode: 'sample' })).toBe('m')
})

/** Our server, over HTTP. */
async function ours(): Promise<string> {
  const app = createServer({ ...ABOUT, log: () => undefined })
    .tool(
      'render',
      { input: z.object({ name: z.string() }), task: { mode: 'required', poll: '100ms' } },
      ({ name }) => name,
    )
    .tool('asks', { task: { mode: 'required', poll: '100ms' } }, async (_, { elicit }) => {
      const { action } = await elicit('Sure?', z.object({ sure: z.boolean() }))
      return action
    })
    .tool(
      'samples',
      {},
      async (_, { sample }) =>
        (await sample({ messages: [{ role: 'user', content: 'Hi' }] }, { task: {} })).model,
    )
    .tool('fails', { task: { mode: 'required', poll: '100ms' } }, () => {
      throw new ToolError('broken')
    })
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  return running.url as string
}

test('the client of official v1 calls our tasks, and answers their questions', async () => {
  const client = new ClientV1(ABOUT, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }))
  await client.connect(new HttpV1(new URL(await ours())) as never)
  onTestFinished(() => client.close())
  await client.listTools()
  const run = async (name: string, input: Record<string, unknown> = {}): Promise<unknown[]> => {
    const seen: unknown[] = []
    const stream = client.experimental.tasks.callToolStream({ name, arguments: input }, CallToolResultSchema)
    for await (const message of stream)
      seen.push(message.type === 'result' ? message.result.content : message.type)
    return seen
  }
  const rendered = await run('render', { name: 'a film' })
  expect(rendered[0]).toBe('taskCreated')
  expect(rendered.at(-1)).toEqual([{ type: 'text', text: 'a film' }])
  expect((await run('asks')).at(-1)).toEqual([{ type: 'text', text: 'decline' }])
  const { tasks } = await client.experimental.tasks.listTasks()
  expect(tasks).toHaveLength(2)
})

test('ext-tasks calls our tasks at 2025-11-25', async () => {
  const client = new ClientV2(ABOUT, { supportedProtocolVersions: ['2025-11-25'] })
  await client.connect(new HttpV2(new URL(await ours())))
  const session = createTaskSessionFromClient(client, { endpointId: 'films' })
  onTestFinished(async () => {
    await session.close()
    await client.close()
  })
  const execution = await session.callTool('render', { name: 'a film' })
  const { outcome } = await execution.settle()
  expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: 'a film' }] })
})

test('the receiver of ext-tasks answers questions of our server as tasks', async () => {
  const client = new ClientV2(ABOUT, {
    capabilities: { sampling: {}, elicitation: { form: {} } },
    supportedProtocolVersions: ['2025-11-25'],
  })
  const receiver = bindTaskReceiver(client, {
    methods: { 'sampling/createMessage': true, 'elicitation/create': true },
    pollIntervalMs: 100,
    sampling: async () => SAID,
    elicitation: async () => ({ action: 'decline' }),
  })
  client.registerCapabilities({ tasks: receiver.capabilities } as never)
  await client.connect(new HttpV2(new URL(await ours())))
  onTestFinished(async () => {
    receiver.close()
    await client.close()
  })
  const { content } = await client.callTool({ name: 'samples', arguments: {} })
  expect(content).toEqual([{ type: 'text', text: 'm' }])
})

test('ext-tasks calls our tasks at 2026-07-28, and answers their questions', async () => {
  const url = await ours()
  const capabilities = { elicitation: { form: {} } }
  const pinned = { mode: { pin: '2026-07-28' as const } }
  const client = new ClientV2(ABOUT, { capabilities, versionNegotiation: pinned })
  await client.connect(new HttpV2(new URL(url)))
  const seen: unknown[] = []
  let last = 0
  const session = createTaskSessionFromClient(client, {
    endpointId: 'films',
    rawDispatch: async (request) => {
      const { method, params } = request as { method: string; params: Record<string, string> }
      seen.push(method)
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          'mcp-name': params['name'] ?? params['taskId'] ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: `raw-${++last}`, ...(request as object) }),
      })
      const { result, error } = (await response.json()) as { result?: never; error?: never }
      return error === undefined ? { kind: 'result', result: result as never } : { kind: 'error', error }
    },
    v2RequestFraming: {
      protocolVersion: '2026-07-28',
      clientInfo: ABOUT,
      clientCapabilities: { ...capabilities, extensions: { [TASKS_EXTENSION]: {} } },
    },
    onInputRequest: createApplicationInputHandler({
      elicitation: async () => ({ action: 'decline' }),
      sampling: async () => SAID,
      roots: async () => ({ roots: [] }),
    }),
  })
  onTestFinished(async () => {
    await session.close()
    await client.close()
  })
  const settle = async (name: string, input: Record<string, string> = {}): Promise<unknown> => {
    const execution = await session.callTool(name, input)
    return resultFromTaskOutcome((await execution.settle()).outcome)
  }
  expect(await settle('render', { name: 'a film' })).toMatchObject({ content: [{ text: 'a film' }] })
  expect(await settle('asks')).toMatchObject({ content: [{ text: 'decline' }] })
  expect(await settle('fails')).toMatchObject({ content: [{ text: 'broken' }], isError: true })
  expect(seen).toContain('tasks/update')
})
