import { expect } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal, WireError } from '../harness/wire-error.ts'

const choices = {
  plain: { type: 'string', enum: ['a', 'b'], default: 'b' },
  titled: {
    type: 'string',
    oneOf: [
      { const: 'x', title: 'X' },
      { const: 'y', title: 'Y' },
    ],
    default: 'x',
  },
  named: { type: 'string', enum: ['p', 'q'], enumNames: ['P', 'Q'] },
  many: {
    type: 'array',
    title: 'Many',
    items: { type: 'string', enum: ['s', 't'] },
    minItems: 1,
    default: ['t'],
  },
  manyTitled: {
    type: 'array',
    items: {
      anyOf: [
        { const: 'u', title: 'U' },
        { const: 'v', title: 'V' },
      ],
    },
    maxItems: 2,
  },
} as const
const fields = {
  name: {
    type: 'string',
    title: 'Name',
    description: 'Your name',
    minLength: 1,
    maxLength: 40,
    default: 'Ada',
  },
  mail: { type: 'string', format: 'email' },
  age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
  score: { type: 'number', default: 0.5 },
  agree: { type: 'boolean', default: true },
  ...choices,
} as const
const form = { type: 'object', properties: fields, required: ['name', 'many'] } as const

const app = createServer({ name: 'asks', version: '1', log: () => undefined })
  .tool('form', {}, async (_, { elicit }) => JSON.stringify(await elicit('Who are you?', form)))
  .tool('zod', {}, async (_, { elicit }) => {
    const { action, content } = await elicit('How many?', z.object({ n: z.number().int().min(1).default(3) }))
    return action === 'accept' ? `${content.n + 1}` : action
  })
  .tool('two', {}, async (_, { elicit }) => {
    const first = await elicit('First?', z.object({ a: z.string() }))
    const second = await elicit(`After ${first.content?.a}?`, z.object({ b: z.string() }))
    return `${first.content?.a} ${second.content?.b}`
  })
  .tool('nested', {}, async (_, { elicit }) =>
    JSON.stringify(
      await elicit('?', { type: 'object', properties: { deep: { type: 'object', properties: {} } } }),
    ),
  )
  .tool('secret', {}, async (_, { elicit }) =>
    JSON.stringify(
      await elicit('?', { type: 'object', properties: { word: { type: 'string', format: 'password' } } }),
    ),
  )
  .tool('url', {}, async (_, { elicitUrl }) => {
    const asked = await elicitUrl('Sign in', 'https://id.example/start?x=1')
    if (asked.action === 'accept') asked.complete()
    return asked.action
  })

const forms = { elicitation: { form: {} } }
const ASK = 'elicitation/create'

function textOf(result: JsonObject): string {
  return (result['content'] as { text: string }[])[0]!.text
}

scenario(
  'a form is asked in the words of the revision, all spellings of a choice and defaults included [R207] [R214] [S4-13-4]',
  app,
  async (client, revision) => {
    const content = {
      name: 'Bo',
      mail: 'bo@x.example',
      age: 4,
      score: 1,
      agree: false,
      plain: 'a',
      titled: 'y',
      named: 'q',
    }
    const newer = { ...content, many: ['s', 't'], manyTitled: ['v'] }
    const older = { ...content, 'many.s': true, 'many.t': true, 'manyTitled.u': false, 'manyTitled.v': true }
    client.answer(ASK, () => ({ action: 'accept', content: revision === '2025-06-18' ? older : newer }))
    expect(JSON.parse(textOf(await client.call('form')))).toEqual({ action: 'accept', content: newer })
    expect(client.questions).toEqual([
      {
        method: ASK,
        params:
          revision === '2025-06-18'
            ? { message: 'Who are you?', requestedSchema: lowered }
            : { mode: 'form', message: 'Who are you?', requestedSchema: form },
      },
    ])
  },
  { since: '2025-06-18', capabilities: forms },
)

const box = (title: string, description: string, preset = false): object => ({
  type: 'boolean',
  title,
  description,
  default: preset,
})
const lowered = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', description: 'Your name', minLength: 1, maxLength: 40 },
    mail: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    score: { type: 'number' },
    agree: { type: 'boolean', default: true },
    plain: { type: 'string', enum: ['a', 'b'] },
    titled: { type: 'string', enum: ['x', 'y'], enumNames: ['X', 'Y'] },
    named: { type: 'string', enum: ['p', 'q'], enumNames: ['P', 'Q'] },
    'many.s': box('Many: s', 'Choose at least 1.'),
    'many.t': box('Many: t', 'Choose at least 1.', true),
    'manyTitled.u': box('manyTitled: U', 'Choose at most 2.'),
    'manyTitled.v': box('manyTitled: V', 'Choose at most 2.'),
  },
  required: ['name'],
}

scenario(
  'declining and cancelling are answers, and an accepted answer is checked and completed [R209]',
  app,
  async (client) => {
    for (const action of ['decline', 'cancel']) {
      client.answer(ASK, () => ({ action }))
      expect(textOf(await client.call('zod'))).toBe(action)
    }
    client.answer(ASK, () => ({ action: 'accept', content: {} }))
    expect(textOf(await client.call('zod'))).toBe('4')
    client.answer(ASK, () => ({ action: 'accept', content: { n: 9 } }))
    expect(textOf(await client.call('zod'))).toBe('10')
  },
  { since: '2025-06-18', capabilities: { elicitation: {} } },
)

scenario(
  'questions may follow one another, each under an id of its own [R003] [S2-15-3] [S3-2.1-1]',
  app,
  async (client) => {
    client.answer(ASK, ({ message }) => ({
      action: 'accept',
      content: message === 'First?' ? { a: 'one' } : { b: `two (${String(message)})` },
    }))
    expect(textOf(await client.call('two'))).toBe('one two (After one?)')
    expect(textOf(await client.call('two'))).toBe('one two (After one?)')
    if (!client.hasSession) return expect(client.rounds).toBe(3)
    const ids = client.transcript
      .filter(({ from, text }) => from === 'server' && text.includes(ASK))
      .map(({ text }) => (JSON.parse(text) as { id: number }).id)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).toBe(4)
  },
  { since: '2025-06-18', capabilities: forms },
)

scenario(
  'an answer that breaks the form is not used [R227]',
  app,
  async (client) => {
    const answers = [
      { action: 'accept', content: { n: 0 } },
      { action: 'accept', content: { n: 'x' } },
    ]
    for (const answer of answers) {
      client.answer(ASK, () => answer)
      const result = await client.call('zod')
      expect(result['isError']).toBe(true)
      expect(textOf(result)).toMatch(/^the client sent an invalid answer to elicitation\/create: n: /)
    }
  },
  { since: '2025-06-18', capabilities: forms },
)

scenario(
  'a client that refuses the question is told to the model [R143]',
  app,
  async (client) => {
    client.answer(ASK, () => {
      throw new WireError({ code: -32000, message: 'not now' })
    })
    expect(await client.call('zod')).toEqual({
      content: [{ type: 'text', text: 'the client refused elicitation/create: not now' }],
      isError: true,
    })
  },
  { since: '2025-06-18', until: '2025-11-25', capabilities: forms },
)

scenario(
  'a client is asked only in the modes it declared; none declared means forms [R209] [R222] [R051] [R039] [S2-9.1-2] [S4-5-8]',
  app,
  async (_client, revision, { join }) => {
    const cases: [JsonObject, string, string][] = [
      [{}, 'zod', 'form'],
      [{ elicitation: { url: {} } }, 'zod', 'form'],
      [{ elicitation: {} }, 'url', 'url'],
      [{ elicitation: { form: {} } }, 'url', 'url'],
    ]
    for (const [capabilities, tool, mode] of cases) {
      const client = await join({ capabilities })
      if (client.hasSession) {
        const { isError, content } = await client.call(tool)
        expect(isError).toBe(true)
        expect((content as { text: string }[])[0]!.text).toMatch(
          new RegExp(`^the client cannot be asked for elicitation.${mode}: `),
        )
      } else {
        const error = await refusal(client.call(tool))
        expect([error.code, error.message]).toEqual([
          -32021,
          `this needs the client capability elicitation.${mode}, which the request did not declare`,
        ])
        expect(error.data).toEqual({ requiredCapabilities: { elicitation: { [mode]: {} } } })
      }
      expect([revision, client.questions]).toEqual([revision, []])
    }
  },
)

scenario(
  'the user is sent to a URL, and the client told when it is done where it has a message for that [R209] [R216]',
  app,
  async (client, revision) => {
    await client.follow({})
    for (const action of ['accept', 'decline', 'cancel']) {
      client.answer(ASK, () => ({ action }))
      expect(textOf(await client.call('url'))).toBe(action)
    }
    const asked = client.questions.map(({ params }) => params)
    const elicitationId =
      revision === '2025-11-25' ? { elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string } : {}
    for (const params of asked) {
      expect(params).toEqual({
        mode: 'url',
        message: 'Sign in',
        url: 'https://id.example/start?x=1',
        ...elicitationId,
      })
    }
    const DONE = 'notifications/elicitation/complete'
    if (revision !== '2025-11-25') return expect(client.heard(DONE)).toEqual([])
    const done = await client.hear(DONE)
    expect(done).toEqual([{ elicitationId: asked[0]!['elicitationId'] }])
  },
  { since: '2025-11-25', capabilities: { elicitation: { url: {} } } },
)

scenario(
  'what no form can ask for is refused before it is sent, and a form has no fields for secrets [R207] [R208] [S4-13-4]',
  app,
  async (client) => {
    const result = await client.call('nested')
    expect([result['isError'], client.questions]).toEqual([true, []])
    client.answer(ASK, () => ({ action: 'cancel' }))
    await client.call('secret')
    const { requestedSchema } = client.questions[0]!.params as { requestedSchema: { properties: object } }
    expect(requestedSchema.properties).toEqual({ word: { type: 'string' } })
  },
  { since: '2025-06-18', capabilities: forms },
)
