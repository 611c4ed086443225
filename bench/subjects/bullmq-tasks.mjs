import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

/** BullMQ alone: a call adds a job, a worker in the same process works on it, and its result is kept with it. */
export async function connect(receive, place) {
  const [url, prefix] = place.split('#')
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const options = { connection, prefix: `{${prefix}}` }
  const queue = new Queue('add', options)
  const work = async ({ data }) => ({
    content: [{ type: 'text', text: String(data.arguments.a + data.arguments.b) }],
  })
  const worker = new Worker('add', work, { ...options, concurrency: 64 })
  const results = new Map()
  const waiting = new Map()
  worker.on('completed', ({ id }, result) => {
    waiting.get(id)?.(result)
    if (!waiting.delete(id)) results.set(id, result)
  })
  await worker.waitUntilReady()
  return {
    async send(text) {
      const { id, method, params } = JSON.parse(text)
      const answer = (result) => receive(JSON.stringify({ jsonrpc: '2.0', id, result }))
      if (method === 'initialize') return answer({ protocolVersion: '2025-11-25', capabilities: {} })
      if (method === 'tools/call') {
        const { id: taskId } = await queue.add('add', params)
        return answer({ task: { taskId, status: 'working' } })
      }
      if (method !== 'tasks/result') return
      const result = results.get(params.taskId)
      if (result === undefined) return waiting.set(params.taskId, answer)
      results.delete(params.taskId)
      answer(result)
    },
    async close() {
      await worker.close()
      await queue.close()
      connection.disconnect()
    },
  }
}
