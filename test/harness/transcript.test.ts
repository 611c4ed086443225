import { describe, expect, test } from 'vitest'
import { officialOf } from '../corpus/official.ts'
import { complaints, type Entry } from './transcript.ts'

const client = (message: object): Entry => ({
  from: 'client',
  text: JSON.stringify({ jsonrpc: '2.0', ...message }),
  raw: false,
})
const server = (message: object): Entry => ({ ...client(message), from: 'server' })
const list = client({ id: 1, method: 'tools/list' })
/** Without the official schemas nothing can be said against a message. */
const some = officialOf('2025-11-25') === undefined ? 0 : 1

describe('messages that break the schema of their revision are found', () => {
  test('results, by the method that they answer', () => {
    expect(complaints([list, server({ id: 1, result: { tools: [] } })], '2025-11-25')).toEqual([])
    const wrong = [
      { id: 1, result: { tools: [{ name: 5 }] } },
      { id: 1, result: {} },
      { id: 2, result: {} },
      { id: 1, error: { code: 'x', message: 'y' } },
    ]
    for (const message of wrong) expect(complaints([list, server(message)], '2025-11-25')).toHaveLength(some)
  })

  test('requests, once they are answered, unless they were wrong on purpose', () => {
    const asked = client({ id: 1, method: 'tools/call', params: { name: 5 } })
    const answered = server({ id: 1, result: { content: [] } })
    expect(complaints([asked, answered], '2025-11-25')).toHaveLength(some)
    expect(complaints([{ ...asked, raw: true }, answered], '2025-11-25')).toEqual([])
    expect(
      complaints([asked, server({ id: 1, error: { code: -32602, message: 'x' } })], '2025-11-25'),
    ).toEqual([])
  })

  test('notifications and questions', () => {
    expect(
      complaints([server({ method: 'notifications/resources/updated', params: {} })], '2025-11-25'),
    ).toHaveLength(some)
    expect(
      complaints([server({ id: 1, method: 'elicitation/create', params: {} })], '2025-11-25'),
    ).toHaveLength(some)
    expect(complaints([server({ id: 1, method: 'roots/list' })], '2025-11-25')).toEqual([])
  })

  test('what the newest revision does not have: requests of servers, and codes that it keeps for itself', () => {
    expect(complaints([server({ id: 1, method: 'roots/list' })], '2026-07-28')).toHaveLength(some)
    for (const code of [-32002, -32042, -32099, -32001, -32000]) {
      expect(complaints([list, server({ id: 1, error: { code, message: 'x' } })], '2026-07-28')).toHaveLength(
        some,
      )
    }
  })
})
