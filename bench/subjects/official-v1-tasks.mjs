import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { TextTransport } from './text-transport.mjs'

/** Connects a client in the same process to a server with the experimental tasks of official v1, in memory. */
export async function connect(receive) {
  const taskStore = new InMemoryTaskStore()
  const capabilities = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
  const server = new McpServer(
    { name: 'bench', version: '1.0.0' },
    { capabilities, taskStore, taskMessageQueue: new InMemoryTaskMessageQueue() },
  )
  server.experimental.tasks.registerToolTask(
    'add',
    { inputSchema: { a: z.number(), b: z.number() }, execution: { taskSupport: 'required' } },
    {
      async createTask({ a, b }, { taskStore: store, taskRequestedTtl }) {
        const task = await store.createTask({ ttl: taskRequestedTtl })
        const content = [{ type: 'text', text: String(a + b) }]
        await store.storeTaskResult(task.taskId, 'completed', { content })
        return { task }
      },
      getTask: (_, { taskStore: store, taskId }) => store.getTask(taskId),
      getTaskResult: (_, { taskStore: store, taskId }) => store.getTaskResult(taskId),
    },
  )
  const transport = new TextTransport(receive)
  await server.connect(transport)
  return {
    send: (text) => transport.give(text),
    async close() {
      taskStore.cleanup()
      await server.close()
    },
  }
}
