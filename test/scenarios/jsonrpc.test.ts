import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Client } from '../harness/client.ts'
import { kindOf } from '../harness/message-kind.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const app = createServer({ name: 'speaks', version: '1', log: () => undefined }).tool(
  'ask',
  {},
  async (_, { progress, roots }) => {
    progress(1, 1)
    return (await roots()).length
  },
)

/** Has a server send every kind of message that its revision has; gives back what it sent. */
async function talk(client: Client): Promise<readonly JsonObject[]> {
  client.answer('roots/list', () => ({ roots: [{ uri: 'file:///a' }] }))
  for (let round = 0; round < 5; round++)
    expect(await client.call('ask', {}, { meta: { progressToken: `p${round}` } })).toMatchObject({
      content: [{ type: 'text', text: '1' }],
    })
  await refusal(client.call('none'))
  await refusal(client.request('no/such'))
  await client.settle()
  const sent = client.transcript.filter(({ from }) => from === 'server')
  return sent.map(({ text }) => JSON.parse(text) as JsonObject)
}

scenario(
  'every message of a server says jsonrpc 2.0 and is a request, a notification, a result or an error [S2-0-5] [S2-1.1-1] [S2-1.3-1] [S2-13-S8] [S3-1-1] [S4-2-1]',
  app,
  async (client) => {
    const kinds = new Set((await talk(client)).map(kindOf))
    const asked = client.hasSession ? ['request'] : []
    expect(kinds).toEqual(new Set(['error', 'notification', ...asked, 'result']))
  },
  { capabilities: { roots: {} } },
)

scenario(
  'requests of a server have ids that are never used twice in a session [S4-2-2]',
  app,
  async (client) => {
    const ids = (await talk(client)).flatMap((message) =>
      kindOf(message) === 'request' ? [message['id']] : [],
    )
    expect(ids).toHaveLength(5)
    expect(new Set(ids).size).toBe(5)
  },
  { capabilities: { roots: {} }, until: '2025-11-25' },
)
