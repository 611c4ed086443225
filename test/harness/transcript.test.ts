import { describe, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { SOURCE } from '../corpus/official.ts'
import { takeUnchecked } from '../corpus/tally.ts'
import type { Client } from './client.ts'
import { assertScenario } from './scenario.ts'
import { schemaErrors, type Entry } from './transcript.ts'

const client = (message: object): Entry => ({
  from: 'client',
  text: JSON.stringify({ jsonrpc: '2.0', ...message }),
  raw: false,
})
const server = (message: object): Entry => ({ ...client(message), from: 'server' })
const list = client({ id: 1, method: 'tools/list' })
const refused = server({ id: 1, error: { code: -32602, message: 'x' } })

/** With the official schemas, if they are available, and always without them. */
const sources = [...new Set([SOURCE, 'none'])].map((source) => ({
  source,
  title: source === 'none' ? 'without the official schemas' : 'with the official schemas',
}))

describe.each(sources)('messages that break the schema of their revision are found $title', ({ source }) => {
  test('results, by the method that they answer', () => {
    expect(schemaErrors([list, server({ id: 1, result: { tools: [] } })], '2025-11-25', source)).toEqual([])
    const wrong = [
      [{ id: 1, result: { tools: [{ name: 5 }] } }, /ListToolsResult: /],
      [{ id: 1, result: {} }, /ListToolsResult: .*tools/],
      [{ id: 2, result: {} }, /it answers no known request/],
      [{ id: 1, error: { code: 'x', message: 'y' } }, /JSONRPCErrorResponse: .*code/],
    ] as const
    for (const [message, reason] of wrong)
      expect(schemaErrors([list, server(message)], '2025-11-25', source)).toEqual([
        expect.stringMatching(reason),
      ])
  })

  test('requests that were answered, unless they are invalid on purpose', () => {
    const asked = client({ id: 1, method: 'tools/call', params: { name: 5 } })
    const answered = server({ id: 1, result: { content: [] } })
    expect(schemaErrors([asked, answered], '2025-11-25', source)).toEqual([
      expect.stringMatching(/its request is invalid: CallToolRequest: .*name/),
    ])
    expect(schemaErrors([{ ...asked, raw: true }, answered], '2025-11-25', source)).toEqual([])
    expect(schemaErrors([asked, refused], '2025-11-25', source)).toEqual([])
  })

  test('requests that were not answered', () => {
    const asked = client({ id: 1, method: 'tools/call', params: { name: 5 } })
    expect(schemaErrors([asked], '2025-11-25', source)).toEqual([
      expect.stringMatching(/CallToolRequest: .*name/),
    ])
    expect(schemaErrors([{ ...asked, raw: true }], '2025-11-25', source)).toEqual([])
    expect(schemaErrors([list], '2025-11-25', source)).toEqual([])
  })

  test('notifications and requests from the server', () => {
    const updated = server({ method: 'notifications/resources/updated', params: {} })
    expect(schemaErrors([updated], '2025-11-25', source)).toEqual([
      expect.stringMatching(/ResourceUpdatedNotification: .*uri/),
    ])
    const question = server({ id: 1, method: 'elicitation/create', params: {} })
    expect(schemaErrors([question], '2025-11-25', source)).toEqual([expect.stringMatching(/ElicitRequest: /)])
    expect(schemaErrors([server({ id: 1, method: 'roots/list' })], '2025-11-25', source)).toEqual([])
  })

  test('requests from servers and reserved error codes, at the newest revision', () => {
    expect(schemaErrors([server({ id: 1, method: 'roots/list' })], '2026-07-28', source)).toEqual([
      expect.stringMatching(/servers do not send requests/),
    ])
    for (const code of [-32002, -32042, -32099, -32001, -32000]) {
      const error = server({ id: 1, error: { code, message: 'x' } })
      expect(schemaErrors([list, error], '2026-07-28', source)).toEqual([
        expect.stringMatching(`the code ${code} is reserved`),
      ])
    }
  })

  test('a message of a method that the revision does not have', () => {
    const found = schemaErrors([server({ method: 'notifications/elsewhere' })], '2025-03-26', source)
    expect(found).toEqual([expect.stringMatching(/message for notifications\/elsewhere/)])
    expect(takeUnchecked()).toHaveLength(source === 'none' ? 1 : 0)
  })
})

describe('a scenario', () => {
  const app = createServer({ name: 'x', version: '1' })
  const runScenario = (run: (client: Client) => Promise<unknown>): Promise<void> =>
    assertScenario(app, async (client) => void (await run(client)), 'memory', '2025-11-25', {})

  test('passes when every message fits the schema', async () => {
    await expect(runScenario((client) => client.request('ping'))).resolves.toBeUndefined()
  })

  test('fails when a message breaks the schema, although the scenario itself passes', async () => {
    const broken = runScenario(async (client) => {
      client.transcript.push(server({ method: 'notifications/resources/updated', params: {} }))
    })
    await expect(broken).rejects.toThrow('messages break the schema of 2025-11-25')
  })

  test('fails when there is no message to check', async () => {
    const silent = runScenario(async (client) => {
      client.transcript.length = 0
    })
    await expect(silent).rejects.toThrow('no message was sent or received')
  })
})
