import { expect } from 'vitest'
import { createServer, text } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const weather = { name: 'weather', inputSchema: { type: 'object' } }
const use = { type: 'tool_use' as const, id: 'u1', name: 'weather', input: { city: 'Kiel' } }
const used = { type: 'tool_result' as const, toolUseId: 'u1', content: [text('sunny')] }

const app = createServer({ name: 'thinks', version: '1', log: () => undefined })
  .tool('judge', {}, async (_, { sample }) => {
    const { role, content, model, stopReason } = await sample({
      messages: [
        { role: 'user', content: 'Is it good?' },
        { role: 'assistant', content: text('Which part?') },
        { role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
      ],
      maxTokens: 50,
      systemPrompt: 'Be brief',
      temperature: 0.2,
      stopSequences: ['END'],
      modelPreferences: {
        hints: [{ name: 'small' }],
        costPriority: 0.1,
        speedPriority: 1,
        intelligencePriority: 0,
      },
      includeContext: 'thisServer',
      metadata: { trace: 1 },
    })
    return JSON.stringify({ role, content, model, stopReason })
  })
  .tool('brief', {}, async (_, { sample }) =>
    JSON.stringify((await sample({ messages: [{ role: 'user', content: 'Hi' }] })).content),
  )
  .tool('tools', {}, async (_, { sample }) => {
    const messages = [
      { role: 'user' as const, content: 'Weather?' },
      { role: 'assistant' as const, content: [use] },
      { role: 'user' as const, content: [used] },
    ]
    const { content } = await sample({
      messages,
      maxTokens: 10,
      tools: [weather],
      toolChoice: { mode: 'auto' },
    })
    return JSON.stringify(content)
  })
  .tool(
    'wrong',
    { input: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] } },
    ({ at }, { sample }) => sample(WRONG[at] as never),
  )

const asking = { role: 'user', content: 'x' }
const WRONG = [
  { messages: [asking, { role: 'assistant', content: [use] }, asking] },
  { messages: [asking, { role: 'assistant', content: [use] }] },
  {
    messages: [asking, { role: 'assistant', content: [use] }, { role: 'user', content: [used, text('and')] }],
  },
  {
    messages: [
      asking,
      { role: 'assistant', content: [use] },
      { role: 'user', content: [{ ...used, toolUseId: 'u9' }] },
    ],
  },
  {
    messages: [
      asking,
      { role: 'assistant', content: [use, { ...use, id: 'u2' }] },
      { role: 'user', content: [used] },
    ],
  },
  { messages: [asking], maxTokens: 0 },
  { messages: [asking], maxTokens: 1.5 },
  ...['costPriority', 'speedPriority', 'intelligencePriority'].flatMap((name) =>
    [-0.01, 1.01].map((value) => ({ messages: [asking], modelPreferences: { [name]: value } })),
  ),
]

const ASK = 'sampling/createMessage'
const answer = {
  role: 'assistant',
  content: { type: 'text', text: 'Yes' },
  model: 'm-1',
  stopReason: 'endTurn',
}

function textOf(result: JsonObject): string {
  return (result['content'] as { text: string }[])[0]!.text
}

scenario(
  'a tool asks the model of the client before it returns, at every revision [S2-6.1-1] [S2-6.2-1] [S2-6.2-6] [S2-15-3]',
  app,
  async (client) => {
    client.answer(ASK, () => answer)
    expect(JSON.parse(textOf(await client.call('judge')))).toEqual(answer)
    expect(client.questions).toEqual([
      {
        method: ASK,
        params: {
          messages: [
            { role: 'user', content: { type: 'text', text: 'Is it good?' } },
            { role: 'assistant', content: { type: 'text', text: 'Which part?' } },
            { role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
          ],
          maxTokens: 50,
          systemPrompt: 'Be brief',
          temperature: 0.2,
          stopSequences: ['END'],
          modelPreferences: {
            hints: [{ name: 'small' }],
            costPriority: 0.1,
            speedPriority: 1,
            intelligencePriority: 0,
          },
          metadata: { trace: 1 },
        },
      },
    ])
  },
  { capabilities: { sampling: {} }, profiles: false },
)

scenario(
  'context is asked for only from clients that declared it [S2-9.1-2]',
  app,
  async (client) => {
    client.answer(ASK, () => answer)
    await client.call('judge')
    expect(client.questions[0]!.params['includeContext']).toBe('thisServer')
  },
  { since: '2025-11-25', capabilities: { sampling: { context: {} } } },
)

scenario(
  'without a bound on tokens a default is sent [S2-6.2-3]',
  app,
  async (client) => {
    client.answer(ASK, () => answer)
    expect(textOf(await client.call('brief'))).toBe('{"type":"text","text":"Yes"}')
    expect(client.questions[0]!.params).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
      maxTokens: 1024,
    })
  },
  { capabilities: { sampling: {} } },
)

scenario(
  'tools are offered to a model whose client declared that it takes them [R205] [R206]',
  app,
  async (client) => {
    const content = [{ ...use, id: 'u2' }]
    client.answer(ASK, () => ({ ...answer, content, stopReason: 'toolUse' }))
    expect(JSON.parse(textOf(await client.call('tools')))).toEqual(content)
    expect(client.questions[0]!.params).toEqual({
      messages: [
        { role: 'user', content: { type: 'text', text: 'Weather?' } },
        { role: 'assistant', content: [use] },
        { role: 'user', content: [used] },
      ],
      maxTokens: 10,
      tools: [weather],
      toolChoice: { mode: 'auto' },
    })
  },
  { since: '2025-11-25', capabilities: { sampling: { tools: {} } } },
)

scenario(
  'a client that did not declare it is never asked [R205] [R222] [R051] [R038] [R039] [S2-9.3-5] [S4-5-8]',
  app,
  async (_client, _revision, { join }) => {
    const cases: [JsonObject, string, string, object][] = [
      [{}, 'brief', 'sampling', { sampling: {} }],
      [{ sampling: {} }, 'tools', 'sampling.tools', { sampling: { tools: {} } }],
    ]
    for (const [capabilities, tool, capability, requiredCapabilities] of cases) {
      const client = await join({ capabilities })
      if (client.hasSession) {
        const result = await client.call(tool)
        expect(result['isError']).toBe(true)
        expect(textOf(result)).toContain(`the client cannot be asked for ${capability}: `)
      } else {
        const error = await refusal(client.call(tool))
        expect([error.code, error.data]).toEqual([-32021, { requiredCapabilities }])
      }
      expect(client.questions).toEqual([])
    }
  },
)

scenario(
  'what breaks the rules for questions to a model is never sent [R206] [S2-6.2-1]',
  app,
  async (client) => {
    for (const at of WRONG.keys()) {
      expect(await client.call('wrong', { at })).toMatchObject({ isError: true })
      expect(client.questions).toEqual([])
    }
  },
  { capabilities: { sampling: { tools: {} } } },
)

scenario(
  'an answer that is no message is not used [R227]',
  app,
  async (client) => {
    for (const wrong of [
      { role: 'assistant', content: 'bare', model: 'm' },
      { role: 'assistant', content: answer.content },
    ]) {
      if (client.hasSession) {
        client.answer(ASK, () => wrong, 'raw')
        const said = textOf(await client.call('brief'))
        expect(said).toBe(
          'the client sent an invalid answer to sampling/createMessage: role, content and model are required',
        )
      } else {
        const inputResponses = { 'sample-1': wrong }
        const error = await refusal(client.request('tools/call', { name: 'brief', inputResponses }))
        expect(error.code).toBe(-32602)
        expect(error.message).toMatch(/the answer to "sample-1" cannot be read: role, content and model/)
      }
    }
  },
  { capabilities: { sampling: {} } },
)
