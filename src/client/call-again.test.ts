import { expect, test } from 'vitest'
import { BAD_ANSWER } from '../errors/client.ts'
import { mcpError } from '../errors/error.ts'
import { isOutdated } from './call-again.ts'

const CONVERSATION = {
  connection: {
    state: 'ready',
    agreement: async () => ({ capabilities: { tasks: { requests: { tools: { call: {} } } } } }),
  },
  known: new Map([['work', {}]]),
} as unknown as Parameters<typeof isOutdated>[0]

test('a call that may have run is not repeated as a task', async () => {
  let refreshed = 0
  const refresh = async (): Promise<void> => void refreshed++
  const failed = mcpError(BAD_ANSWER, { method: 'tools/call', reason: 'x' } as never)
  expect(await isOutdated(CONVERSATION, 'work', failed, refresh)).toBe(false)
  expect(refreshed).toBe(0)
})
