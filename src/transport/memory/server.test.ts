import { expect, test } from 'vitest'
import { createServer, serviceOf } from '../../app/app.ts'

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'memory', version: '1' } },
})

test('a message beyond the limit is rejected, and the connection stays usable', () => {
  const replies: string[] = []
  const app = createServer({ name: 'memory', version: '1', limits: { memoryBytes: 300 } })
  const end = app.connect({ receive: (text) => void replies.push(text) })
  end.send(' '.repeat(301))
  end.send(INITIALIZE)
  expect(replies.map((text) => JSON.parse(text))).toMatchObject([
    { error: { code: -32600, data: { refusal: { code: 1068 } } } },
    { id: 1, result: {} },
  ])
})

test('after closing nothing is received, running requests are cancelled, and sending fails', async () => {
  const replies: string[] = []
  let stopped = false
  const app = createServer({ name: 'memory', version: '1' }).tool('wait', {}, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    stopped = true
    return 'late'
  })
  const end = app.connect({ receive: (text) => void replies.push(text) })
  end.send(INITIALIZE)
  end.send('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}')
  end.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect([stopped, replies.length, serviceOf(app).changes.listeners]).toEqual([true, 1, 0])
  expect(() => end.send(INITIALIZE)).toThrow(/closed/)
})
