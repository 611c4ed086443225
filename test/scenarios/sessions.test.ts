import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const KEYED = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] } as const
const VALUED = {
  type: 'object',
  properties: { key: { type: 'string' }, value: {} },
  required: ['key', 'value'],
} as const

const app = createServer({
  name: 'sessions',
  version: '1',
  limits: { sessionBytes: 2000 },
  log: () => undefined,
})
  .tool('set', { input: VALUED }, async ({ key, value }, { session }) => {
    await session?.set(key, value)
    return session === undefined ? 'none' : 'kept'
  })
  .tool(
    'get',
    { input: KEYED },
    async ({ key }, { session }) => JSON.stringify(await session?.get(key)) ?? '-',
  )
  .tool('delete', { input: KEYED }, async ({ key }, { session }) => String(await session?.delete(key)))
  .tool('id', {}, (_input, { session }) => session?.id ?? 'none')
  .tool('replace', {}, async (_input, { session }) => {
    const value = { list: [1] }
    await session?.set('own', value)
    value.list.push(2)
    const first = await session?.get<typeof value>('own')
    first?.list.push(3)
    return JSON.stringify(await session?.get('own')) ?? '-'
  })
  .resource('session://{key}', {}, async ({ key }, { session }) => String(await session?.get(key)))
  .prompt('recall', {}, async (_args, { session }) => String(await session?.get('who')))

function textOf(result: unknown): string {
  return (result as { content: [{ text: string }] }).content[0].text
}

scenario(
  'a value that a handler keeps in the session is there for later requests of the same client only',
  app,
  async (client, _revision, { join }) => {
    const other = await join()
    const has = client.hasSession
    const value = { name: 'Ada', seen: [1, null, true, 'é'] }
    expect(textOf(await client.call('set', { key: 'who', value }))).toBe(has ? 'kept' : 'none')
    expect(textOf(await client.call('get', { key: 'who' }))).toBe(has ? JSON.stringify(value) : '-')
    for (const key of ['who', '__proto__', 'constructor'])
      expect(textOf(await other.call('get', { key }))).toBe('-')
    expect(textOf(await client.call('set', { key: 'who', value: 'Bo' }))).toBe(has ? 'kept' : 'none')
    const read = await client.get('resources/read', { uri: 'session://who' })
    expect(read['contents']).toMatchObject([{ text: has ? 'Bo' : 'undefined' }])
    const prompted = await client.get('prompts/get', { name: 'recall' })
    expect(prompted['messages']).toMatchObject([{ content: { text: has ? 'Bo' : 'undefined' } }])
    expect(textOf(await client.call('delete', { key: 'who' }))).toBe(has ? 'true' : 'undefined')
    expect(textOf(await client.call('delete', { key: 'who' }))).toBe(has ? 'false' : 'undefined')
    expect(textOf(await client.call('get', { key: 'who' }))).toBe('-')
  },
)

scenario(
  'the id of a session stays the same, and no other session has it',
  app,
  async (client, _, { join }) => {
    const other = await join()
    const id = textOf(await client.call('id'))
    expect(textOf(await client.call('id'))).toBe(id)
    if (!client.hasSession) return expect(id).toBe('none')
    expect(id).toMatch(/^[\w-]{24,}$/)
    expect(textOf(await other.call('id'))).not.toBe(id)
  },
)

scenario('values are copies: later changes of an object do not reach the session', app, async (client) => {
  expect(textOf(await client.call('replace'))).toBe(client.hasSession ? '{"list":[1]}' : '-')
})

scenario(
  'values beyond the limit of a session are an error, and the session keeps what it had',
  app,
  async (client) => {
    await client.call('set', { key: 'small', value: 'x' })
    const error = await refusal(client.call('set', { key: 'large', value: 'x'.repeat(2000) }))
    expect([error.code, error.message]).toEqual([
      -32603,
      'the session cannot keep this: its values would take more than 2000 bytes',
    ])
    expect(textOf(await client.call('get', { key: 'small' }))).toBe('"x"')
    expect(textOf(await client.call('get', { key: 'large' }))).toBe('-')
    await client.call('set', { key: 'large', value: 'x'.repeat(1000) })
    expect(textOf(await client.call('get', { key: 'large' }))).toHaveLength(1002)
  },
  { until: '2025-11-25' },
)
