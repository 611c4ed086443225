import { expect } from 'vitest'
import { z } from 'zod'
import { createServer, text } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { STRUCTURED } from '../../src/protocol/meta.ts'
import { scenario } from '../harness/scenario.ts'

const reports: string[] = []
const app = createServer({
  name: 'structured',
  version: '1',
  log: (_level, message) => void reports.push(message),
})
  .tool('object', { output: z.object({ high: z.number(), wind: z.string().optional() }) }, () => ({
    high: 21,
  }))
  .tool('list', { output: z.array(z.number()) }, () => [1, 2])
  .tool('text', { output: z.string() }, () => 'calm')
  .tool('nothing', { output: z.null() }, () => null)
  .tool('either', { output: z.union([z.object({ a: z.number() }), z.number()]) }, () => 5)
  .tool('own', { output: z.object({ a: z.number() }) }, () => ({
    content: [text('own words')],
    structuredContent: { a: 1 },
  }))
  .tool(
    'broken',
    { output: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } },
    () => ({ b: 'secret' }) as never,
  )
  .tool(
    'broken-own',
    { output: z.object({ a: z.number() }) },
    () => ({ content: [], structuredContent: { a: 'x' } }) as never,
  )
  .tool('failed', { output: z.object({ a: z.number() }) }, () => ({ content: [text('no')], isError: true }))
  .tool('plain', {}, () => ({ content: [], structuredContent: { only: true } }))

const HIGH = { high: 21 }
const OWN = { a: 1 }

/** A result with structured content, in the form of each revision. */
function expected(revision: string, words: string[], value: unknown, wrapped: unknown): JsonObject {
  const content = words.map((one) => ({ type: 'text', text: one }))
  const structuredContent = revision === '2026-07-28' ? value : wrapped
  if (revision < '2025-06-18')
    return words[0] === JSON.stringify(value)
      ? { content, isError: false, _meta: { [STRUCTURED]: 'text' } }
      : { content, isError: false }
  return structuredContent === value
    ? { content, structuredContent, isError: false }
    : { content, structuredContent, isError: false, _meta: { [STRUCTURED]: 'result' } }
}

scenario(
  'structured content is sent and repeated as text; older clients get objects or only the text [R147] [R148] [R149] [S0-4.7] [S4-1-2] [S4-10-5] [S4-10-6] [S0-6.1]',
  app,
  async (client, revision) => {
    const cases: [string, string[], unknown, unknown][] = [
      ['object', ['{"high":21}'], HIGH, HIGH],
      ['list', ['[1,2]'], [1, 2], { result: [1, 2] }],
      ['text', ['"calm"'], 'calm', { result: 'calm' }],
      ['nothing', ['null'], null, { result: null }],
      ['either', ['5'], 5, { result: 5 }],
      ['own', ['own words'], OWN, OWN],
    ]
    for (const [name, words, value, wrapped] of cases) {
      expect(await client.call(name)).toEqual(expected(revision, words, value, wrapped))
    }
  },
)

scenario(
  'the output schema is shown as written, and as an object schema where the revision wants one [R148]',
  app,
  async (client, revision) => {
    const { tools } = await client.get('tools/list')
    const shown = new Map(
      (tools as { name: string; outputSchema?: JsonObject }[]).map((tool) => [tool.name, tool.outputSchema]),
    )
    if (revision < '2025-06-18')
      return expect([...shown.values()].every((schema) => schema === undefined)).toBe(true)
    expect(shown.get('object')).toMatchObject({
      type: 'object',
      properties: { high: { type: 'number' } },
      required: ['high'],
    })
    const list = { type: 'array', items: { type: 'number' } }
    const wrapped = { type: 'object', properties: { result: list }, required: ['result'] }
    expect(shown.get('list')).toMatchObject(revision === '2026-07-28' ? list : wrapped)
    if (revision !== '2026-07-28') {
      expect([...shown.values()].every((schema) => schema === undefined || schema['type'] === 'object')).toBe(
        true,
      )
    }
  },
)

scenario(
  'output that breaks its schema is a masked failure, told to the operator [R147] [S4-10-6] [R188]',
  app,
  async (client) => {
    for (const name of ['broken', 'broken-own']) {
      reports.length = 0
      const result = await client.call(name)
      const words = (result['content'] as { text: string }[])[0]!.text
      expect(result['isError']).toBe(true)
      expect(words).toMatch(
        new RegExp(
          `^tool "${name}" returned a value that does not match its output schema \\(reference [0-9a-f-]{36}\\)$`,
        ),
      )
      expect(result['structuredContent']).toBeUndefined()
      expect(reports).toEqual([
        expect.stringContaining(`tool "${name}" returned a value that does not match its output schema: `),
      ])
    }
    expect(client.transcript.some((entry) => entry.text.includes('"secret"'))).toBe(false)
  },
)

scenario('a failure need not fit the output schema [R143] [R147]', app, async (client) => {
  expect(await client.call('failed')).toEqual({ content: [{ type: 'text', text: 'no' }], isError: true })
})

scenario(
  'structured content that is all there is becomes text where the revision has none [S0-6.1] [S4-10-5]',
  app,
  async (client, revision) => {
    expect(await client.call('plain')).toEqual(
      revision < '2025-06-18'
        ? {
            content: [{ type: 'text', text: '{"only":true}' }],
            isError: false,
            _meta: { [STRUCTURED]: 'text' },
          }
        : { content: [], structuredContent: { only: true }, isError: false },
    )
  },
)

const dated = (type: string): JsonObject => ({
  type: 'object',
  properties: { at: { type } },
  required: ['at'],
})
const EPOCH = '1970-01-01T00:00:00.000Z'
const changing = createServer({ name: 'changing', version: '1', log: () => undefined })
  .tool('text', { output: dated('string') }, () => ({ at: new Date(0) }))
  .tool('object', { output: dated('object') }, () => ({ at: new Date(0) }))
  .tool('whole', { output: { type: 'object' } }, () => new Date(0) as never)
  .tool('absent', { output: dated('string') }, () => ({ at: undefined }))
  .tool('function', { output: { type: 'object', required: ['at'] } }, () => ({ at: () => EPOCH }) as never)
  .tool('infinite', { output: dated('number') }, () => ({ at: Number.POSITIVE_INFINITY }))
  .tool('hole', { output: { type: 'array', items: { type: 'number' } } }, () => [1, Number.NaN])
  .tool('own', { output: dated('string') }, () => ({
    content: [],
    structuredContent: { at: new URL('http://a.example/') },
  }))
  .tool('unchecked', {}, () => ({ content: [], structuredContent: { toJSON: () => ({ a: 1 }) } }))

scenario(
  'values that JSON writes in another form are checked, lowered and sent in that form',
  changing,
  async (client, revision) => {
    const structured = (value: JsonObject): object =>
      revision < '2025-06-18' ? {} : { structuredContent: value }
    expect(await client.call('text')).toMatchObject({ isError: false, ...structured({ at: EPOCH }) })
    expect(await client.call('own')).toMatchObject({
      isError: false,
      ...structured({ at: 'http://a.example/' }),
    })
    expect(await client.call('unchecked')).toMatchObject({ isError: false, ...structured({ a: 1 }) })
    for (const name of ['object', 'whole', 'absent', 'function', 'infinite', 'hole'])
      expect(await client.call(name)).toMatchObject({ isError: true })
  },
)
