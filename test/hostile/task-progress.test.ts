import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { coreServer, coreTask, related } from '../client/task-server.ts'
import { after } from './peer.ts'

test('a reader of the progress of a task that is slow keeps the beginning of each message', async () => {
  let token: unknown
  const server = coreServer({
    'tools/call': ({ params = {} }) => {
      token = (params['_meta'] as JsonObject)['progressToken']
      return { task: coreTask('working', { pollInterval: 30_000 }) }
    },
    'tasks/get': () => coreTask('completed'),
    'tasks/result': (_, peer) => {
      for (let progress = 1; progress <= 3; progress++) {
        const message = String(progress).repeat(1_000_000)
        peer.send({ method: 'notifications/progress', params: { progressToken: token, progress, message } })
      }
      return related({ content: [] })
    },
  })
  const client = await connect(server, { timeout: '30s' })
  after(() => client.close())
  const task = await client.start('render')
  const seen: unknown[] = []
  for await (const progress of task.progress()) seen.push(progress)
  expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, message: String(progress).repeat(16_384) })))
})
