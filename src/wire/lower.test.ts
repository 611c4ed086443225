import { describe, expect, test } from 'vitest'
import { STRUCTURED } from '../protocol/meta.ts'
import type { Revision } from '../protocol/revisions.ts'
import type {
  CallToolResult,
  ContentBlock,
  CreateMessageRequestParams,
  ElicitRequestParams,
  FormField,
  ResourceLink,
  SamplingMessage,
  Tool,
} from '../protocol/spec/2026-07-28.ts'
import { lowerNotification, lowerRequest, lowerResult, loweringFor } from './lower.ts'

const _meta = { 'example.com/a': 1 }
const icons = [{ src: 'https://example.com/i.png' }]
const inputSchema = { type: 'object' } as const

describe('loweringFor', () => {
  test('the newest revision has nothing to lower', () => {
    expect(loweringFor('2026-07-28')).toEqual({})
  })

  test('a lowering is composed once', () => {
    expect(loweringFor('2024-11-05')).toBe(loweringFor('2024-11-05'))
  })

  test('a shape that no step changes has no function', () => {
    const lowering = loweringFor('2025-11-25')
    for (const shape of [
      'resource',
      'template',
      'prompt',
      'content',
      'progress',
      'elicit',
      'root',
    ] as const) {
      expect(lowering[shape]).toBeUndefined()
    }
  })

  test('only the two newest revisions can send a user to a URL [R209]', () => {
    const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
    expect(revisions.map((revision) => loweringFor(revision).supportsUrl)).toEqual([
      false,
      false,
      false,
      undefined,
      undefined,
    ])
  })
})

describe('2025-11-25', () => {
  const tool = (outputSchema: object): Tool => ({ name: 'a', inputSchema, outputSchema: { ...outputSchema } })
  const output = (schema: object): unknown => loweringFor('2025-11-25').tool?.(tool(schema)).outputSchema

  test('an output schema of an object stays unchanged [R148]', () => {
    const given = tool({ type: 'object', properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: {} } })
    expect(loweringFor('2025-11-25').tool?.(given)).toBe(given)
  })

  test('an output schema about something else describes the member result, and its pointers follow [R148]', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'array',
      items: { anyOf: [{ $ref: '#/$defs/item' }, { $ref: '#' }, { $ref: '#named' }] },
      default: [{ $ref: '#/$defs/item' }],
      $defs: {
        item: { type: 'string' },
        $ref: { $anchor: 'named' },
        own: { $id: 'https://example.com/own', $ref: '#/x' },
      },
    }
    expect(output(schema)).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['result'],
      properties: {
        result: {
          type: 'array',
          items: {
            anyOf: [
              { $ref: '#/properties/result/$defs/item' },
              { $ref: '#/properties/result' },
              { $ref: '#named' },
            ],
          },
          default: [{ $ref: '#/$defs/item' }],
          $defs: {
            item: { type: 'string' },
            $ref: { $anchor: 'named' },
            own: { $id: 'https://example.com/own', $ref: '#/x' },
          },
        },
      },
    })
  })

  test('a schema that admits only objects says so at its root and is not wrapped [R147] [R148]', () => {
    const schema = { anyOf: [{ type: 'object' }, { $ref: '#/$defs/b' }], $defs: { b: { type: ['object'] } } }
    expect(output(schema)).toEqual({ ...schema, type: 'object' })
  })

  test('a schema that admits objects and others describes both forms [R147] [R148]', () => {
    expect(output({ type: ['object', 'null'], properties: { next: { $ref: '#' } } })).toEqual({
      type: 'object',
      anyOf: [
        { properties: { result: { $ref: '#/$defs/value' } }, required: ['result'] },
        { $ref: '#/$defs/value' },
      ],
      $defs: { value: { type: ['object', 'null'], properties: { next: { $ref: '#/$defs/value' } } } },
    })
  })

  test('a pointer that cannot be decoded is taken to admit anything', () => {
    expect(output({ $ref: '#/%zz' })).toMatchObject({ type: 'object', anyOf: expect.any(Array) })
  })

  test('true and false as property schemas are spelt as objects', () => {
    const given: Tool = {
      name: 'a',
      inputSchema: { type: 'object', properties: { a: true, b: false, c: {} } },
    }
    expect(loweringFor('2025-11-25').tool?.(given).inputSchema['properties']).toEqual({
      a: {},
      b: { not: {} },
      c: {},
    })
  })

  test.each([[[1]], ['a'], [0], [null], [false]])(
    'structured content %j becomes a member of an object [R148]',
    (value) => {
      const result: CallToolResult = { content: [], structuredContent: value }
      expect(lowerResult('tools/call', { ...result }, loweringFor('2025-11-25'))).toEqual({
        content: [],
        structuredContent: { result: value },
        _meta: { [STRUCTURED]: 'result' },
      })
    },
  )

  test('structured content that is an object stays unchanged [R148]', () => {
    const result = { content: [], structuredContent: { result: 1 } }
    expect(lowerResult('tools/call', result, loweringFor('2025-11-25'))).toBe(result)
  })

  test('caching hints are dropped from lists and reads', () => {
    const hints = { ttlMs: 5, cacheScope: 'public' }
    for (const [method, name] of [
      ['tools/list', 'tools'],
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates'],
      ['prompts/list', 'prompts'],
      ['resources/read', 'contents'],
    ] as const) {
      expect(lowerResult(method, { [name]: [], ...hints }, loweringFor('2025-11-25'))).toEqual({ [name]: [] })
    }
  })

  test('tools and tool results inside a question to the model are lowered too [R148]', () => {
    const params: CreateMessageRequestParams = {
      maxTokens: 1,
      tools: [tool({ type: 'string' })],
      messages: [
        {
          role: 'user',
          content: [{ type: 'tool_result', toolUseId: 'u', content: [], structuredContent: 3 }],
        },
      ],
    }
    const lowered = loweringFor('2025-11-25').sample?.(params)
    expect(lowered?.tools?.[0]?.outputSchema).toMatchObject({ type: 'object', required: ['result'] })
    expect(lowered?.messages[0]?.content).toEqual([
      { type: 'tool_result', toolUseId: 'u', content: [], structuredContent: { result: 3 } },
    ])
  })
})

describe('2025-06-18', () => {
  const lowering = loweringFor('2025-06-18')
  const form = (
    properties: Readonly<Record<string, FormField>>,
    required?: readonly string[],
  ): ElicitRequestParams => ({
    message: 'Which?',
    requestedSchema: { type: 'object', properties, ...(required === undefined ? {} : { required }) },
  })

  test('icons, execution and the newer members of an implementation are dropped', () => {
    const tool = { name: 'a', inputSchema, icons, execution: { taskSupport: 'optional' } }
    expect(lowering.tool?.(tool)).toEqual({
      name: 'a',
      inputSchema,
    })
    expect(lowering.resource?.({ uri: 'a:b', name: 'a', icons })).toEqual({ uri: 'a:b', name: 'a' })
    expect(lowering.template?.({ uriTemplate: 'a:b', name: 'a', icons })).toEqual({
      uriTemplate: 'a:b',
      name: 'a',
    })
    expect(lowering.prompt?.({ name: 'a', title: 'A', icons })).toEqual({ name: 'a', title: 'A' })
    expect(lowering.content?.({ type: 'resource_link', uri: 'a:b', name: 'a', icons })).toEqual({
      type: 'resource_link',
      uri: 'a:b',
      name: 'a',
    })
    const info = { name: 'a', version: '1', title: 'A' }
    expect(
      lowering.implementation?.({ ...info, description: 'd', websiteUrl: 'https://example.com', icons }),
    ).toEqual(info)
  })

  test('tasks and extensions are not declared, and modes are not named', () => {
    const capabilities = { tools: {}, extensions: {}, tasks: {} }
    expect(lowering.capabilities?.(capabilities)).toEqual({ tools: {} })
    expect(
      lowering.clientCapabilities?.({ sampling: { tools: {} }, elicitation: { form: {}, url: {} } }),
    ).toEqual({
      sampling: {},
      elicitation: {},
    })
    expect(lowering.clientCapabilities?.({ elicitation: { url: {} } })).toEqual({})
    expect(lowering.clientCapabilities?.({ elicitation: {} })).toEqual({ elicitation: {} })
  })

  test('defaults stay only on booleans, and titled options become enum and enumNames [R207]', () => {
    const lowered = lowering.elicit?.({
      mode: 'form',
      ...form({
        a: { type: 'string', default: 'x', minLength: 1 },
        b: { type: 'integer', default: 1 },
        c: { type: 'boolean', default: true },
        d: { type: 'string', oneOf: [{ const: 'p', title: 'Port' }], default: 'p', title: 'Side' },
        e: { type: 'string', enum: ['x'], default: 'x' },
      }),
    } as ElicitRequestParams)
    expect(lowered).toEqual(
      form({
        a: { type: 'string', minLength: 1 },
        b: { type: 'integer' },
        c: { type: 'boolean', default: true },
        d: { type: 'string', enum: ['p'], enumNames: ['Port'], title: 'Side' },
        e: { type: 'string', enum: ['x'] },
      }),
    )
  })

  const choices = form(
    {
      'cranes.north': { type: 'string' },
      cranes: {
        type: 'array',
        title: 'Cranes',
        description: 'Which cranes.',
        items: {
          anyOf: [
            { const: 'north', title: 'North' },
            { const: 'south', title: 'South' },
          ],
        },
        minItems: 1,
        default: ['south'],
      },
    },
    ['cranes', 'cranes.north'],
  )

  test('a multiple choice becomes one boolean for each option [R207]', () => {
    const about = { type: 'boolean', description: 'Which cranes. Choose at least 1.' } as const
    expect(lowering.elicit?.(choices)).toEqual(
      form(
        {
          'cranes.north': { type: 'string' },
          'cranes.north_': { ...about, title: 'Cranes: North', default: false },
          'cranes.south': { ...about, title: 'Cranes: South', default: true },
        },
        ['cranes.north'],
      ),
    )
  })

  test('the answer to a lowered multiple choice becomes a list again', () => {
    const content = { 'cranes.north': 'n', 'cranes.north_': true, 'cranes.south': false }
    expect(lowering.elicitAnswer?.({ action: 'accept', content }, choices)).toEqual({
      action: 'accept',
      content: { 'cranes.north': 'n', cranes: ['north'] },
    })
    expect(lowering.elicitAnswer?.({ action: 'accept', content: {} }, choices)).toEqual({
      action: 'accept',
      content: { cranes: [] },
    })
    const declined = { action: 'decline' } as const
    expect(lowering.elicitAnswer?.(declined, choices)).toBe(declined)
  })

  test('a question without tools has one block in each message', () => {
    const messages: readonly SamplingMessage[] = [
      { role: 'user', content: { type: 'text', text: 'a' } },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'b' },
          { type: 'tool_use', id: 'u', name: 'depth', input: { berth: 4 } },
        ],
      },
      {
        role: 'user',
        content: {
          type: 'tool_result',
          toolUseId: 'u',
          content: [
            { type: 'text', text: '9 m' },
            { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          ],
        },
        _meta,
      },
    ]
    const params = { messages, maxTokens: 1, tools: [{ name: 'depth', inputSchema }], toolChoice: {} }
    expect(lowering.sample?.(params)).toEqual({
      maxTokens: 1,
      messages: [
        { role: 'user', content: { type: 'text', text: 'a' } },
        { role: 'assistant', content: { type: 'text', text: 'b' } },
        { role: 'assistant', content: { type: 'text', text: 'Tool call: depth {"berth":4}' } },
        { role: 'user', content: { type: 'text', text: 'Tool result: 9 m' } },
        { role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
      ],
    })
  })

  test('an answer of several blocks of text becomes one block', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ] as const
    expect(lowering.sampleResult?.({ role: 'assistant', model: 'm', content })).toEqual({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'a\n\nb' },
    })
  })
})

describe('2025-03-26', () => {
  const lowering = loweringFor('2025-03-26')

  test('there is no structured content, and the text that mirrors it stays [R149] [S4-1-2]', () => {
    const content: readonly ContentBlock[] = [{ type: 'text', text: '{"a":1}' }]
    expect(lowering.callResult?.({ content, structuredContent: { a: 1 }, _meta })).toEqual({
      content,
      _meta: { ..._meta, [STRUCTURED]: 'text' },
    })
  })

  test('structured content without any block becomes text [R149] [S4-1-2]', () => {
    expect(lowering.callResult?.({ content: [], structuredContent: { a: 1 } })).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
      _meta: { [STRUCTURED]: 'text' },
    })
    expect(lowering.callResult?.({ content: [], structuredContent: ['a'], _meta })).toEqual({
      content: [{ type: 'text', text: '["a"]' }],
      _meta: { ..._meta, [STRUCTURED]: 'text' },
    })
  })

  test.each<[string, readonly ContentBlock[], unknown]>([
    ['another text', [{ type: 'text', text: 'two' }], [1, 2]],
    ['a text that looks like another kind of value', [{ type: 'text', text: '[1]' }], { a: 1 }],
    [
      'several blocks',
      [
        { type: 'text', text: '5' },
        { type: 'text', text: '5' },
      ],
      5,
    ],
    ['no text', [{ type: 'image', data: '', mimeType: 'image/png' }], 'a'],
  ])('%s does not count as the structured content', (_title, content, structuredContent) => {
    expect(lowering.callResult?.({ content, structuredContent })).toEqual({ content })
  })

  test('a tool keeps its title in its annotations and loses its output schema [S4-1-12]', () => {
    const tool: Tool = { name: 'a', title: 'A', inputSchema, outputSchema: { type: 'object' }, _meta }
    expect(lowering.tool?.(tool)).toEqual({ name: 'a', inputSchema, annotations: { title: 'A' } })
    expect(lowering.tool?.({ ...tool, annotations: { title: 'B', readOnlyHint: true } })).toEqual({
      name: 'a',
      inputSchema,
      annotations: { title: 'B', readOnlyHint: true },
    })
  })

  test('a resource link becomes text that names it [S4-1-7]', () => {
    const link: ResourceLink = {
      type: 'resource_link',
      uri: 'harbour://log',
      name: 'log',
      title: 'Log book',
      description: 'What happened.',
      annotations: { priority: 1, lastModified: '2025-01-01' },
      _meta,
    }
    expect(lowering.content?.(link)).toEqual({
      type: 'text',
      text: 'Log book\nWhat happened.\nharbour://log',
      annotations: { priority: 1 },
    })
    expect(
      lowering.promptMessage?.({ role: 'user', content: { type: 'resource_link', uri: 'a:b', name: 'n' } }),
    ).toEqual({
      role: 'user',
      content: { type: 'text', text: 'n\na:b' },
    })
  })

  test('titles, dates and the metadata of objects are dropped, the metadata of results stays [S4-1-10] [S4-1-12]', () => {
    const annotations = { lastModified: '2025-01-01' }
    expect(lowering.resource?.({ uri: 'a:b', name: 'a', title: 'A', annotations, _meta })).toEqual({
      uri: 'a:b',
      name: 'a',
      annotations: {},
    })
    expect(
      lowering.prompt?.({ name: 'a', title: 'A', arguments: [{ name: 'x', title: 'X' }], _meta }),
    ).toEqual({
      name: 'a',
      arguments: [{ name: 'x' }],
    })
    expect(lowering.implementation?.({ name: 'a', version: '1', title: 'A' })).toEqual({
      name: 'a',
      version: '1',
    })
    expect(lowering.readResult?.({ contents: [{ uri: 'a:b', text: '', _meta }], _meta })).toEqual({
      contents: [{ uri: 'a:b', text: '' }],
      _meta,
    })
    const embedded: ContentBlock = { type: 'resource', resource: { uri: 'a:b', text: '', _meta }, _meta }
    expect(lowering.content?.(embedded)).toEqual({ type: 'resource', resource: { uri: 'a:b', text: '' } })
    expect(lowering.rootsResult?.({ roots: [{ uri: 'file:///a', _meta }] })).toEqual({
      roots: [{ uri: 'file:///a' }],
    })
  })

  test('completion has no context [S4-1-11]', () => {
    const params = {
      ref: { type: 'ref/prompt', name: 'a', title: 'A' },
      argument: { name: 'x', value: '' },
      context: { arguments: { y: '1' } },
    }
    expect(lowerRequest('completion/complete', params, lowering)).toEqual({
      ref: { type: 'ref/prompt', name: 'a' },
      argument: { name: 'x', value: '' },
    })
  })

  test('a client does not declare elicitation [S4-1-6]', () => {
    expect(lowering.clientCapabilities?.({ elicitation: {}, sampling: {} })).toEqual({ sampling: {} })
  })
})

describe('2024-11-05', () => {
  const lowering = loweringFor('2024-11-05')

  test('audio becomes an embedded resource that is named by its place', () => {
    const audio = {
      type: 'audio',
      data: 'AAAA',
      mimeType: 'audio/wav',
      annotations: { priority: 1 },
    } as const
    expect(lowering.callResult?.({ content: [{ type: 'text', text: 'a' }, audio] })).toEqual({
      content: [
        { type: 'text', text: 'a' },
        {
          type: 'resource',
          resource: { uri: 'audio://inline/1', mimeType: 'audio/wav', blob: 'AAAA' },
          annotations: { priority: 1 },
        },
      ],
    })
    expect(
      lowering.promptResult?.({
        messages: [
          { role: 'user', content: audio },
          { role: 'user', content: audio },
        ],
      }),
    ).toMatchObject({
      messages: [
        { content: { resource: { uri: 'audio://inline/0' } } },
        { content: { resource: { uri: 'audio://inline/1' } } },
      ],
    })
    expect(
      lowering.sample?.({ maxTokens: 1, messages: [{ role: 'user', content: audio }] }).messages,
    ).toEqual([{ role: 'user', content: { type: 'text', text: '[audio, audio/wav]' } }])
  })

  test('tools have no annotations, progress has no message and completions are not declared', () => {
    expect(lowering.tool?.({ name: 'a', title: 'A', inputSchema })).toEqual({ name: 'a', inputSchema })
    const progress = { progressToken: 1, progress: 1, message: 'half' }
    expect(lowerNotification('notifications/progress', progress, lowering)).toEqual({
      progressToken: 1,
      progress: 1,
    })
    expect(lowering.capabilities?.({ completions: {}, tools: {} })).toEqual({ tools: {} })
  })

  test('the answer to initialize is lowered in its parts', () => {
    const result = {
      protocolVersion: '2024-11-05',
      capabilities: { completions: {}, extensions: {} },
      serverInfo: { name: 'a', version: '1', title: 'A', icons },
      instructions: 'Go.',
    }
    expect(lowerResult('initialize', result, lowering)).toEqual({
      protocolVersion: '2024-11-05',
      capabilities: {},
      serverInfo: { name: 'a', version: '1' },
      instructions: 'Go.',
    })
  })
})

test.each<Revision>(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
  'at %s what needs no change is the same object',
  (revision) => {
    const lowering = loweringFor(revision)
    const result = { content: [{ type: 'text', text: 'a' }], isError: false, _meta }
    const list = { tools: [{ name: 'a', inputSchema }], nextCursor: 'b' }
    expect(lowerResult('tools/call', result, lowering)).toBe(result)
    expect(lowerResult('tools/list', list, lowering)).toBe(list)
    expect(lowerResult('completion/complete', result, lowering)).toBe(result)
  },
)
