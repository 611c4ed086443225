import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { toolCompletion } from '../../src/extensions.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'
import { joinWith } from './declare.ts'

const ID = 'dev.pierhead/completion'
const DESCRIPTIONS = 'dev.pierhead/descriptions'

const INPUT = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { type: 'string', enum: ['celsius', 'kelvin'] },
    note: { type: 'string' },
    days: { type: 'integer', enum: [1, 2] },
  },
} as const

function createWeather() {
  return createServer({ name: 'weather', version: '1', log: () => undefined })
    .tool('forecast', { input: INPUT }, () => 'sun')
    .tool('secret', { input: INPUT, visible: () => false }, () => 'no')
    .extend(
      toolCompletion({
        forecast: {
          city: (value, { unit }) =>
            ['Bergen', 'Bremen']
              .filter((city) => city.startsWith(value))
              .map((city) =>
                city === 'Bergen' ? { value: city, description: `rain, in ${unit ?? 'any'}` } : city,
              ),
          note: () => Array.from({ length: 150 }, (_, at) => `${at}`),
        },
      }),
    )
}

/** The schema knows no reference to a tool; what answers it must be official all the same. */
function forgiven({ transcript }: Client): void {
  for (const [at, entry] of transcript.entries())
    if (entry.from === 'client' && entry.text.includes('"ref/tool"')) transcript[at] = { ...entry, raw: true }
}

function asked(name: unknown, argument: string, value = ''): Record<string, unknown> {
  return { ref: { type: 'ref/tool', name }, argument: { name: argument, value } }
}

scenario(
  'arguments of tools are completed by the name of the tool, in the official shape [S2-7.1-1] [S2-7.2-1]',
  () => createWeather(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    expect(await client.get('completion/complete', asked('forecast', 'city', 'Bre'))).toEqual({
      completion: { values: ['Bremen'], total: 1, hasMore: false },
    })
    expect(await client.get('completion/complete', asked('forecast', 'unit', 'k'))).toEqual({
      completion: { values: ['kelvin'], total: 1, hasMore: false },
    })
    const long = await client.get('completion/complete', asked('forecast', 'note'))
    expect(long).toMatchObject({ completion: { total: 150, hasMore: true } })
    expect(await client.get('completion/complete', asked('forecast', 'days'))).toMatchObject({
      completion: { values: [] },
    })
    forgiven(client)
  },
)

scenario(
  'what a value means is told in _meta, in the order of the values [S2-7.2-3]',
  () => createWeather(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const known = { context: { arguments: { unit: 'kelvin' } } }
    expect(await client.get('completion/complete', { ...asked('forecast', 'city', 'B'), ...known })).toEqual({
      completion: { values: ['Bergen', 'Bremen'], total: 2, hasMore: false },
      _meta: { [DESCRIPTIONS]: ['rain, in kelvin', null] },
    })
    forgiven(client)
  },
  { profiles: false },
)

scenario(
  'prompts and templates tell what their values mean in the same way [S2-7.2-3]',
  () =>
    createServer({ name: 'x', version: '1' })
      .resource('a://{b}', {}, () => 'x')
      .complete('a://{b}', 'b', () => ({
        values: [{ value: 'one', description: 'the first' }, 'two'],
        total: 9,
      })),
  async (client) => {
    const ref = { type: 'ref/resource', uri: 'a://{b}' }
    expect(await client.get('completion/complete', { ref, argument: { name: 'b', value: '' } })).toEqual({
      completion: { values: ['one', 'two'], total: 9, hasMore: true },
      _meta: { [DESCRIPTIONS]: ['the first', null] },
    })
  },
  { profiles: false },
)

scenario(
  'for a client that did not declare it there is no such reference, and a hidden tool does not exist',
  () => createWeather(),
  async (official, revision, stage) => {
    const error = await refusal(official.request('completion/complete', asked('forecast', 'city')))
    expect([error.code, error.message]).toEqual([
      -32602,
      expect.stringContaining('ref.type must be "ref/prompt"'),
    ])
    const client = await joinWith(stage, revision, ID)
    const wrong: readonly (readonly [unknown, string, string])[] = [
      ['none', 'city', 'there is no tool "none"'],
      ['secret', 'city', 'there is no tool "secret"'],
      ['__proto__', 'city', 'there is no tool "__proto__"'],
      [3, 'city', 'ref.name is not a string'],
      [null, 'city', 'ref.name is not a string'],
      ['forecast', 'toString', 'has no argument "toString"'],
    ]
    for (const [name, argument, message] of wrong) {
      const refused = await refusal(client.request('completion/complete', asked(name, argument)))
      expect([refused.code, refused.message]).toEqual([-32602, expect.stringContaining(message)])
    }
    const odd = { ref: { type: '__proto__' }, argument: { name: 'x', value: '' } }
    expect((await refusal(client.request('completion/complete', odd))).code).toBe(-32602)
  },
)

test('a client completes arguments of tools by name', async () => {
  const client = await connect(createWeather(), { extensions: [toolCompletion] })
  const api = toolCompletion.of(client)
  expect(await api.complete('forecast', { name: 'city', value: 'Be' }, { unit: 'celsius' })).toEqual({
    values: ['Bergen'],
    total: 1,
    hasMore: false,
    descriptions: ['rain, in celsius'],
  })
  expect(await api.complete('forecast', { name: 'unit', value: '' })).toMatchObject({
    values: ['celsius', 'kelvin'],
  })
  await client.close()
})

test('a client does not ask a server that completes no arguments of tools', async () => {
  const asked: string[] = []
  const plain = createServer({ name: 'plain', version: '1', log: () => undefined })
    .tool('forecast', { input: INPUT }, () => 'sun')
    .use(({ method }, next) => {
      asked.push(method)
      return next()
    })
  await using client = await connect(plain, { extensions: [toolCompletion] })
  await expect(
    toolCompletion.of(client).complete('forecast', { name: 'city', value: '' }),
  ).rejects.toMatchObject({ kind: 'not_offered', message: expect.stringContaining(ID) })
  expect(asked).not.toContain('completion/complete')
})

test('a completer that is not a function is rejected', () => {
  expect(() =>
    createServer({ name: 'x', version: '1' }).extend(toolCompletion({ a: { b: 'c' as never } })),
  ).toThrow('the completer of "b" of "a" is not a function')
})
