import { expect, test } from 'vitest'
import { toolCompletion } from '../../src/extensions.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { KEYWORDS } from '../../src/schema/keywords.ts'
import { processorMs } from '../harness/processor.ts'
import { all, behave, failure, meet, tool, type Attack } from './peer.ts'

const TEXT = 'x'.repeat(2_000_000)
const LIST: readonly number[] = Array.from({ length: 300_000 }, () => 0)
/** How often the client may do the work of parsing a message. One object member per character takes a hundred times as much. */
const TIMES = 30

/** The CPU time of parsing a message, and of looking at each of its characters, several times. */
async function parsingMs(message: unknown): Promise<number> {
  const text = JSON.stringify(message)
  return processorMs(() => {
    for (let times = 0; times < TIMES; times++) {
      JSON.parse(text)
      for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === 0) throw new Error('never')
    }
  })
}

/** Expects that a client lists and calls a tool of this server at a cost close to that of parsing the largest message. */
async function expectCheap(attack: Attack, most: number): Promise<void> {
  const { client } = await meet('memory', attack)
  const spent = await processorMs(async () => {
    await all(client.tools())
    await client.call('t').catch(() => undefined)
  })
  expect(spent).toBeLessThan(most)
}

test.each([
  ['a text', TEXT],
  ['a list', LIST],
])('%s where a schema has an object or a list costs no more than its length', async (_, value) => {
  const most = await parsingMs(value)
  for (const keyword of KEYWORDS.keys()) {
    const result = { tools: [tool('t', { outputSchema: { type: 'object', [keyword]: value } })] }
    await expectCheap(({ method }, wire) => {
      if (method === 'tools/list') return wire.reply(result)
      return method === 'tools/call' ? wire.reply({ content: [], structuredContent: {} }) : false
    }, most)
  }
})

test.each([
  ['a text', TEXT],
  ['a list', LIST],
])('%s instead of _meta is left out', async (_, meta) => {
  const result = { content: [{ type: 'text', text: 'done' }], _meta: meta }
  const task = { taskId: 'a', status: 'completed', createdAt: '', lastUpdatedAt: '', ttlMs: null, result }
  const { client } = await meet('memory', (asked, wire) => {
    const { method } = asked
    if (method === 'server/discover')
      return wire.reply({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      })
    if (method === 'tools/call') return wire.reply({ ...task, status: 'working', resultType: 'task' })
    return method === 'tasks/get' ? wire.reply(task) : behave('2026-07-28', asked, wire)
  })
  const raw = await client.callRaw('t')
  expect(raw.content).toHaveLength(1)
  expect(raw['_meta']).toBeUndefined()
})

test.each([
  ['texts', TEXT],
  ['lists', LIST],
])('%s in the list of URLs to open are left out', async (_, item) => {
  const url = 'https://example.com/a'
  const data = { elicitations: [item, { url, message: 'm' }, null] }
  const attack: Attack = ({ id, method }, wire) =>
    method === 'tools/call' &&
    wire.send({ jsonrpc: '2.0', id, error: { code: -32042, message: 'open', data } })
  await expectCheap(attack, await parsingMs(data))
  const { client } = await meet('memory', attack)
  const error = (await failure(client.call('t'))) as unknown as { readonly data: JsonObject }
  expect(error.data['elicitations']).toEqual([{ url, message: 'm' }])
})

test.each([
  ['a text', TEXT],
  ['a list', LIST],
  ['values of other types', { values: [1] }],
  ['no values', {}],
])('%s instead of a completion is an error', async (_, completion) => {
  const { client } = await meet('memory', (asked, wire) => {
    if (asked.method === 'server/discover')
      return wire.reply({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { completions: {}, extensions: { 'dev.pierhead/completion': {} } },
      })
    return asked.method === 'completion/complete' ? wire.reply({ resultType: 'complete', completion }) : false
  })
  const completing = toolCompletion.of(client).complete('t', { name: 'a', value: '' })
  expect(await failure(completing)).toMatchObject({ kind: 'bad_answer' })
})
