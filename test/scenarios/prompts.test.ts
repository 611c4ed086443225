import { expect } from 'vitest'
import { z } from 'zod'
import { audio, createServer, embed, image, link, text } from '../../src/index.ts'
import { open } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const icons = [{ src: 'https://x.example/i.png' }]
const args = z.object({
  who: z.string().meta({ title: 'Who', description: 'Whom to greet' }),
  tone: z.enum(['warm', 'cool']).optional(),
})
const app = createServer({ name: 'prompts', version: '1', log: () => undefined })
  .prompt(
    'greet',
    { title: 'Greet', description: 'Says hello', args, icons, _meta: { 'com.example/k': 1 } },
    ({ who, tone }) =>
      'Dear {who}, in a {tone} tone'.replace('{who}', who).replace('{tone}', tone ?? 'plain'),
  )
  .prompt('picture', {}, () => image('AAAA', 'image/png'))
  .prompt('talk', {}, () => [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: { type: 'text', text: 'Hello' } },
    'And you?',
  ])
  .prompt('whole', { description: 'from the definition' }, () => ({
    description: 'from the handler',
    messages: ['x'],
  }))
  .prompt('wrong', {}, () => [{ role: 'system', content: 'x' }])

const gallery = createServer({ name: 'gallery', version: '1' }).prompt('kinds', {}, () => [
  { role: 'user', content: text('words') },
  { role: 'user', content: image('AAAA', 'image/png') },
  { role: 'user', content: audio('BBBB', 'audio/wav') },
  { role: 'assistant', content: embed('note://one', 'noted') },
  { role: 'assistant', content: link('note://two', { name: 'two' }) },
])

scenario(
  'the list shows each prompt with its arguments [R178] [S2-5.1-1] [S2-5.2-1] [S2-5.2-2] [S3-5.3-1] [S4-9-2] [S4-1-12] [S4-1-10]',
  app,
  async (client, revision) => {
    const who = { name: 'who', description: 'Whom to greet', required: true }
    const tone = { name: 'tone', required: false }
    const base = { name: 'greet', description: 'Says hello', arguments: [who, tone] }
    const newer = {
      ...base,
      title: 'Greet',
      arguments: [{ ...who, title: 'Who' }, tone],
      _meta: { 'com.example/k': 1 },
    }
    const expected = revision < '2025-06-18' ? base : revision < '2025-11-25' ? newer : { ...newer, icons }
    const { prompts } = await client.get('prompts/list')
    expect(prompts).toEqual([
      expected,
      { name: 'picture' },
      { name: 'talk' },
      { name: 'whole', description: 'from the definition' },
      { name: 'wrong' },
    ])
  },
)

scenario(
  'a prompt is expanded with its arguments into messages [R178] [S2-5.3-1] [S2-5.3-4] [S3-5.3-2] [S4-9-3] [S2-5.1-1] [S2-5.3-2]',
  app,
  async (client) => {
    const text = (words: string): object => ({ type: 'text', text: words })
    expect(
      await client.get('prompts/get', { name: 'greet', arguments: { who: 'Ada', tone: 'warm' } }),
    ).toEqual({
      description: 'Says hello',
      messages: [{ role: 'user', content: text('Dear Ada, in a warm tone') }],
    })
    expect(await client.get('prompts/get', { name: 'picture' })).toEqual({
      messages: [{ role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } }],
    })
    expect(await client.get('prompts/get', { name: 'talk', arguments: {} })).toEqual({
      messages: [
        { role: 'user', content: text('Hi') },
        { role: 'assistant', content: text('Hello') },
        { role: 'user', content: text('And you?') },
      ],
    })
    expect(await client.get('prompts/get', { name: 'whole' })).toEqual({
      description: 'from the handler',
      messages: [{ role: 'user', content: text('x') }],
    })
  },
)

scenario(
  'messages hold text, images, audio, resources and references to resources by URI, as far as the revision has them [S2-5.3-3]',
  gallery,
  async (client, revision) => {
    const { messages } = await client.get('prompts/get', { name: 'kinds' })
    const contents = (messages as readonly { readonly content: object }[]).map(({ content }) => content)
    expect(contents[0]).toEqual({ type: 'text', text: 'words' })
    expect(contents[1]).toEqual({ type: 'image', data: 'AAAA', mimeType: 'image/png' })
    expect(contents[2]).toMatchObject(
      revision >= '2025-03-26'
        ? { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' }
        : { type: 'resource', resource: { blob: 'BBBB', mimeType: 'audio/wav' } },
    )
    expect(contents[3]).toMatchObject({ type: 'resource', resource: { uri: 'note://one', text: 'noted' } })
    expect(contents[4]).toMatchObject(
      revision >= '2025-06-18'
        ? { type: 'resource_link', uri: 'note://two', name: 'two' }
        : { type: 'text', text: expect.stringContaining('note://two') },
    )
  },
)

scenario(
  'a server with prompts declares them, lists them and gives each, and one without does neither [S2-9.4-3] [S2-5.1-1]',
  gallery,
  async (client, _, { transport }) => {
    const { capabilities } = client.hasSession ? client.opening : await client.get('server/discover')
    expect(capabilities).toHaveProperty('prompts')
    expect(await client.get('prompts/list')).toMatchObject({ prompts: [{ name: 'kinds' }] })
    expect((await client.get('prompts/get', { name: 'kinds' }))['messages']).toHaveLength(5)
    const bare = createServer({ name: 'bare', version: '1' }).tool('one', {}, () => 1)
    const other = await open(bare, { transport, revision: client.revision })
    const told = other.hasSession ? other.opening : await other.get('server/discover')
    expect(told['capabilities']).not.toHaveProperty('prompts')
    for (const method of ['prompts/list', 'prompts/get'])
      expect((await refusal(other.request(method, { name: 'kinds' }))).code).toBe(-32601)
    await other.close()
  },
)

scenario(
  'an unknown prompt, and an argument that is missing or wrong, are errors that name it [R179] [R012] [S3-9-7] [S3-5.3-2]',
  app,
  async (client) => {
    const error = async (params: object): Promise<unknown> => {
      const { code, message } = await refusal(client.request('prompts/get', { ...params }))
      return [code, message]
    }
    expect(await error({ name: 'greed' })).toEqual([
      -32602,
      'prompt "greed" does not exist; did you mean "greet"?',
    ])
    expect(await error({})).toEqual([
      -32602,
      'invalid params for prompts/get: the name of the prompt is not a string',
    ])
    expect(await error({ name: 'greet' })).toEqual([
      -32602,
      expect.stringMatching(/^arguments of prompt "greet" are invalid: .*who/),
    ])
    expect(await error({ name: 'greet', arguments: { who: 'a', tone: 'loud' } })).toEqual([
      -32602,
      expect.stringContaining('tone'),
    ])
    for (const given of [[], { who: 5 }, { who: null }, 'x']) {
      expect(await error({ name: 'greet', arguments: given })).toEqual([
        -32602,
        'invalid params for prompts/get: arguments must be an object of strings',
      ])
    }
  },
)

scenario('messages of another role are never sent [R178] [S2-5.3-2]', app, async (client) => {
  const error = await refusal(client.request('prompts/get', { name: 'wrong' }))
  expect([error.code, error.message]).toEqual([-32603, expect.stringMatching(/^internal error \(reference /)])
})

scenario(
  'arguments far beyond those that a prompt declares are rejected before they are read',
  app,
  async (client) => {
    const given = (count: number): object => ({
      who: 'Ada',
      ...Object.fromEntries(Array.from({ length: count - 1 }, (_, at) => [`k${at}`, 'x'])),
    })
    const { code, message } = await refusal(
      client.request('prompts/get', { name: 'greet', arguments: given(1001) }),
    )
    expect([code, message]).toEqual([
      -32602,
      'invalid params for prompts/get: arguments has more than 1000 members',
    ])
    expect(await client.get('prompts/get', { name: 'greet', arguments: given(1000) })).toHaveProperty(
      'messages',
    )
  },
)
