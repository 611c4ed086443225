import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { post, shake, start } from './server.ts'

const NAMES = [
  'request_id',
  'tool_id',
  'arguments',
  'session',
  'mode',
  'context',
  'list',
  'cursor',
  'mcp_version',
]
const ID = '00000000-0000-4000-8000-000000000001'

test('whatever is posted is answered with an envelope or a descriptor, and the server lives on', async () => {
  const { port } = await start()
  const { session } = await shake(port)
  const likely = fc.constantFrom(
    ID,
    session,
    'echo',
    'sum',
    'sync',
    'tools',
    '2025-11',
    { text: 'x' },
    { count: 1 },
  )
  const envelope = fc.dictionary(
    fc.constantFrom(...NAMES, 'capabilities', 'client_id', '__proto__'),
    fc.oneof(likely, fc.jsonValue()),
  )
  const called = envelope.map((value) => ({ tool_id: 'echo', request_id: ID, ...value }))
  await fc.assert(
    fc.asyncProperty(fc.oneof(envelope, called, fc.jsonValue()), async (value) => {
      const reply = await post(port, JSON.stringify(value))
      expect([reply.status, kindOf(reply.json)]).toSatisfy(isAnswer)
    }),
    { numRuns: 200 },
  )
  await expect(shake(port)).resolves.toMatchObject({ version: '2025-11' })
})

function kindOf({ status, error, session }: JsonObject): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (status === 'error')
    return typeof code === 'number' && typeof message === 'string' ? 'error' : 'nonsense'
  return status ?? (typeof session === 'string' ? 'descriptor' : 'nonsense')
}

function isAnswer([status, kind]: readonly unknown[]): boolean {
  if (status === 200) return kind === 'success' || kind === 'error' || kind === 'descriptor'
  return (status === 400 || status === 404) && kind === 'error'
}
