import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { failure } from './gather.ts'
import { scripted, type Message } from './scripted.ts'

test('every message of a client says jsonrpc 2.0, and its answers have a result or an error [S2-1.1-1] [S2-1.3-1] [S2-0-5]', async () => {
  const server = scripted('2025-11-25', () => false)
  await using client = await connect(server, { revision: '2025-11-25', answers: { roots: [] } })
  await failure(client.call('none'))
  server.say({ id: 'known', method: 'roots/list' })
  server.say({ id: 'unknown', method: 'no/such' })
  const known = await server.until(({ id }) => id === 'known')
  const unknown = await server.until(({ id }) => id === 'unknown')
  expect(known).toEqual({ jsonrpc: '2.0', id: 'known', result: { roots: [] } })
  expect(unknown).toEqual({
    jsonrpc: '2.0',
    id: 'unknown',
    error: expect.objectContaining({ code: -32601, message: expect.any(String) }),
  })
  const sent = server.sent() as readonly Message[]
  expect(sent.map(({ jsonrpc }) => jsonrpc)).toEqual(sent.map(() => '2.0'))
  expect(sent.slice(0, 3).map(({ id, method }) => [typeof id, method])).toEqual([
    ['number', 'initialize'],
    ['undefined', 'notifications/initialized'],
    ['number', 'tools/call'],
  ])
})
