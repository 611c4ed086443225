import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const app = createServer({ name: 'talkative', version: '1', log: () => undefined })
  .tool('count', {}, (_, { progress }) => {
    progress(1, 2)
    return 'counted'
  })
  .tool('look', {}, async (_, { roots }) => (await roots()).length)

/** What the server sent, message by message. */
function sentBy(client: Client): readonly JsonObject[] {
  const entries = client.transcript.filter(({ from }) => from === 'server')
  return entries.map(({ text }) => JSON.parse(text) as JsonObject)
}

/** What a message is by the rules of JSON-RPC 2.0; undefined when it breaks them. */
function kindOf(message: JsonObject): string | undefined {
  const { jsonrpc, id, method, error } = message
  const hasId = typeof id === 'string' || Number.isInteger(id)
  if (jsonrpc !== '2.0') return undefined
  if (typeof method === 'string' && !('result' in message) && !('error' in message))
    return hasId ? 'request' : 'id' in message ? undefined : 'notification'
  if (!hasId || 'method' in message || 'result' in message === 'error' in message) return undefined
  if ('result' in message) return 'result'
  const { code, message: text } = error as JsonObject
  return Number.isInteger(code) && typeof text === 'string' ? 'error' : undefined
}

async function talk(client: Client): Promise<void> {
  client.answer('roots/list', () => ({ roots: [{ uri: 'file:///here' }] }))
  await client.call('count', {}, { meta: { progressToken: 't' } })
  for (let round = 0; round < 5; round++) await client.call('look')
  await refusal(client.call('missing'))
  await refusal(client.request('no/such/method'))
}

scenario(
  'all that a server sends is JSON-RPC 2.0, on whatever transport [S3-1-1] [S4-2-1]',
  app,
  async (client) => {
    await talk(client)
    const kinds = sentBy(client).map(kindOf)
    expect(kinds).not.toContain(undefined)
    const asks = client.hasSession ? ['request'] : []
    expect(new Set(kinds)).toEqual(new Set(['result', 'error', 'notification', ...asks]))
  },
  { capabilities: { roots: {} } },
)

scenario(
  'requests of a server have ids that are never used twice in a session [S4-2-2]',
  app,
  async (client) => {
    await talk(client)
    const ids = sentBy(client).flatMap((message) => (kindOf(message) === 'request' ? [message['id']] : []))
    expect(ids).toHaveLength(5)
    expect(new Set(ids).size).toBe(5)
  },
  { capabilities: { roots: {} }, until: '2025-11-25' },
)
