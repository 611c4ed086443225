import { describe, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { SOURCE } from '../corpus/official.ts'
import { takeUnchecked } from '../corpus/tally.ts'
import type { Client } from './client.ts'
import { assertScenario } from './scenario.ts'
import { complaints, type Entry } from './transcript.ts'

const client = (message: object): Entry => ({
  from: 'client',
  text: JSON.stringify({ jsonrpc: '2.0', ...message }),
  raw: false,
})
const server = (message: object): Entry => ({ ...client(message), from: 'server' })
const list = client({ id: 1, method: 'tools/list' })
const refused = server({ id: 1, error: { code: -32602, message: 'x' } })

/** With the official schemas, where they are there, and without them in any case. */
const sources = [...new Set([SOURCE, 'none'])].map((source) => ({
  source,
  title: source === 'none' ? 'without the official schemas' : 'with the official schemas',
}))

describe.each(sources)('messages that break the schema of their revision are found $title', ({ source }) => {
  test('results, by the method that they answer', () => {
    expect(complaints([list, server({ id: 1, result: { tools: [] } })], '2025-11-25', source)).toEqual([])
    const wrong = [
      [{ id: 1, result: { tools: [{ name: 5 }] } }, /ListToolsResult: /],
      [{ id: 1, result: {} }, /ListToolsResult: .*tools/],
      [{ id: 2, result: {} }, /it answers nothing that was asked/],
      [{ id: 1, error: { code: 'x', message: 'y' } }, /JSONRPCErrorResponse: .*code/],
    ] as const
    for (const [message, reason] of wrong)
      expect(complaints([list, server(message)], '2025-11-25', source)).toEqual([
        expect.stringMatching(reason),
      ])
  })

  test('requests, once they are answered, unless they were wrong on purpose', () => {
    const asked = client({ id: 1, method: 'tools/call', params: { name: 5 } })
    const answered = server({ id: 1, result: { content: [] } })
    expect(complaints([asked, answered], '2025-11-25', source)).toEqual([
      expect.stringMatching(/the request that it answers: CallToolRequest: .*name/),
    ])
    expect(complaints([{ ...asked, raw: true }, answered], '2025-11-25', source)).toEqual([])
    expect(complaints([asked, refused], '2025-11-25', source)).toEqual([])
  })

  test('requests that nobody answered', () => {
    const asked = client({ id: 1, method: 'tools/call', params: { name: 5 } })
    expect(complaints([asked], '2025-11-25', source)).toEqual([
      expect.stringMatching(/CallToolRequest: .*name/),
    ])
    expect(complaints([{ ...asked, raw: true }], '2025-11-25', source)).toEqual([])
    expect(complaints([list], '2025-11-25', source)).toEqual([])
  })

  test('notifications and questions', () => {
    const updated = server({ method: 'notifications/resources/updated', params: {} })
    expect(complaints([updated], '2025-11-25', source)).toEqual([
      expect.stringMatching(/ResourceUpdatedNotification: .*uri/),
    ])
    const question = server({ id: 1, method: 'elicitation/create', params: {} })
    expect(complaints([question], '2025-11-25', source)).toEqual([expect.stringMatching(/ElicitRequest: /)])
    expect(complaints([server({ id: 1, method: 'roots/list' })], '2025-11-25', source)).toEqual([])
  })

  test('what the newest revision does not have: requests of servers, and codes that it keeps for itself', () => {
    expect(complaints([server({ id: 1, method: 'roots/list' })], '2026-07-28', source)).toEqual([
      expect.stringMatching(/a server sends no requests/),
    ])
    for (const code of [-32002, -32042, -32099, -32001, -32000]) {
      const error = server({ id: 1, error: { code, message: 'x' } })
      expect(complaints([list, error], '2026-07-28', source)).toEqual([
        expect.stringMatching(`the code ${code} is reserved`),
      ])
    }
  })

  test('a message of a method that the revision does not have', () => {
    const found = complaints([server({ method: 'notifications/elsewhere' })], '2025-03-26', source)
    expect(found).toEqual([expect.stringMatching(/message for notifications\/elsewhere/)])
    expect(takeUnchecked()).toHaveLength(source === 'none' ? 1 : 0)
  })
})

describe('a scenario', () => {
  const app = createServer({ name: 'x', version: '1' })
  const play = (run: (client: Client) => Promise<unknown>): Promise<void> =>
    assertScenario(app, async (client) => void (await run(client)), 'memory', '2025-11-25', {})

  test('passes when every message fits the schema', async () => {
    await expect(play((client) => client.request('ping'))).resolves.toBeUndefined()
  })

  test('fails when a message breaks the schema, although the scenario itself is content', async () => {
    const broken = play(async (client) => {
      client.transcript.push(server({ method: 'notifications/resources/updated', params: {} }))
    })
    await expect(broken).rejects.toThrow('the schema of 2025-11-25 is broken')
  })

  test('fails when there is no message to check', async () => {
    const silent = play(async (client) => {
      client.transcript.length = 0
    })
    await expect(silent).rejects.toThrow('no message was sent or received')
  })
})
