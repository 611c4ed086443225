import { expect } from 'vitest'
import { all } from './gather.ts'
import { scenario } from './scenario.ts'

scenario('lists are followed to their last page [R182] [S4-14-10]', async (client) => {
  const tools = (await all(client.tools())).map(({ name }) => name)
  expect(tools.length).toBeGreaterThan(15)
  expect(new Set(tools).size).toBe(tools.length)
  expect(tools).toEqual(expect.arrayContaining(['echo', 'add', 'grow']))
  const resources = (await all(client.resources())).map(({ uri }) => uri)
  expect(resources).toEqual(expect.arrayContaining(['note://one', 'bytes://logo']))
  const templates = (await all(client.templates())).map(({ uriTemplate }) => uriTemplate)
  expect(templates).toEqual(['city://{name}'])
  const prompts = await all(client.prompts())
  expect(prompts.find(({ name }) => name === 'greet')?.arguments).toMatchObject([
    { name: 'name', required: true },
    { name: 'mood' },
  ])
})

scenario('lists are read into arrays in every version of Node', async (client) => {
  const tools = await client.tools().toArray()
  expect(tools).toEqual(await all(client.tools()))
  expect(tools.length).toBeGreaterThan(15)
  expect(await client.resources().toArray()).toEqual(await all(client.resources()))
  expect((await client.templates().toArray()).map(({ uriTemplate }) => uriTemplate)).toEqual([
    'city://{name}',
  ])
  expect(await client.prompts().toArray()).toEqual(await all(client.prompts()))
  const begun = client.tools()
  await begun.next()
  expect(await begun.toArray()).toEqual(tools.slice(1))
})

scenario('a loop over a list may end early', async (client) => {
  const names: string[] = []
  for await (const { name } of client.tools()) {
    names.push(name)
    break
  }
  expect(names).toEqual(['echo'])
})

scenario(
  'schemas and hints reach the reader as the server wrote them [R155]',
  async (client, { revision }) => {
    const echo = (await all(client.tools())).find(({ name }) => name === 'echo')
    expect(echo?.inputSchema).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    })
    expect(echo?.annotations).toEqual(revision >= '2025-03-26' ? { readOnlyHint: true } : undefined)
  },
)

scenario('resources are read as text, bytes and by template', async (client) => {
  const [note] = (await client.read('note://one')).contents
  expect(note).toMatchObject({
    uri: 'note://one',
    mimeType: 'text/plain',
    text: expect.stringMatching(/^read \d+$/),
  })
  const [logo] = (await client.read('bytes://logo')).contents
  expect(logo).toMatchObject({ blob: 'AQID', mimeType: 'image/png' })
  expect((await client.read('city://Rome')).contents).toMatchObject([{ text: 'city Rome' }])
})

scenario('prompts are filled in', async (client) => {
  const { messages } = await client.prompt('greet', { name: 'Zoe' })
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Greet Zoe' } }])
})

scenario('arguments of prompts and variables of templates are completed', async (client, { revision }) => {
  const variable = await client.complete('city://{name}', { name: 'name', value: 'Par' })
  expect(variable.values).toEqual(['Paris', 'Parma'])
  const argument = await client.complete('greet', { name: 'mood', value: 'kind' }, { name: 'Zoe' })
  expect(argument.values).toEqual([revision >= '2025-06-18' ? 'kindly for Zoe' : 'kindly for nobody'])
})
