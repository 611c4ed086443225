import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
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

/** What a message is; undefined when it is none of what JSON-RPC 2.0 knows. */
function kindOf(message: JsonObject): string | undefined {
  const members = ['id', 'method', 'params', 'result', 'error'].filter((name) => name in message).join(' ')
  return new Map([
    ['id method', 'request'],
    ['id method params', 'request'],
    ['method', 'notification'],
    ['method params', 'notification'],
    ['id result', 'result'],
    ['id error', 'error'],
  ]).get(members)
}

scenario(
  'every message says jsonrpc 2.0 and is a request, a notification, a result or an error [S2-0-5] [S2-1.1-1] [S2-1.3-1] [S2-13-S8]',
  app,
  async (client) => {
    client.answer('roots/list', () => ({ roots: [{ uri: 'file:///a' }] }))
    expect(await client.call('ask', {}, { meta: { progressToken: 'p' } })).toMatchObject({
      content: [{ type: 'text', text: '1' }],
    })
    await refusal(client.call('none'))
    await refusal(client.request('no/such'))
    await client.settle()
    const kinds = new Set<string | undefined>()
    for (const { from, text } of client.transcript) {
      if (from !== 'server') continue
      const message = JSON.parse(text) as JsonObject
      expect(message['jsonrpc']).toBe('2.0')
      kinds.add(kindOf(message))
      if (kindOf(message) === 'error')
        expect(message['error']).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
    }
    const asked = client.hasSession ? ['request'] : []
    expect(kinds).toEqual(new Set(['error', 'notification', ...asked, 'result']))
  },
  { capabilities: { roots: {} } },
)
