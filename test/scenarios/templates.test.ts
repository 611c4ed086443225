import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const seen: unknown[] = []
const app = createServer({ name: 'templates', version: '1' })
  .resource(
    'weather://city/{city}/forecast',
    {
      name: 'forecast',
      title: 'Forecast',
      description: 'By city',
      mimeType: 'text/plain',
      _meta: { 'com.example/k': 1 },
    },
    ({ city }) => `sunny in ${city}`,
  )
  .resource('weather://city/kiel/forecast', { name: 'kiel' }, () => 'windy at home')
  .resource('search://items{?q,page}', {}, (variables) => {
    seen.push(variables)
    return JSON.stringify(variables)
  })
  .resource('file:///docs/{+path}', {}, ({ path }) => {
    seen.push(path)
    return path
  })

scenario(
  'templates are listed apart from resources [R170] [S2-3.7-1] [S4-8-5] [S2-3.1-1] [S4-1-12] [S4-1-10]',
  app,
  async (client, revision) => {
    const newer = revision >= '2025-06-18' ? { title: 'Forecast', _meta: { 'com.example/k': 1 } } : {}
    expect(await client.get('resources/templates/list')).toEqual({
      resourceTemplates: [
        {
          uriTemplate: 'weather://city/{city}/forecast',
          name: 'forecast',
          description: 'By city',
          mimeType: 'text/plain',
          ...newer,
        },
        { uriTemplate: 'search://items{?q,page}', name: expect.any(String) },
        { uriTemplate: 'file:///docs/{+path}', name: 'path' },
      ],
    })
    expect(await client.get('resources/list')).toEqual({
      resources: [{ uri: 'weather://city/kiel/forecast', name: 'kiel' }],
    })
  },
)

scenario(
  'a URI that fits a template is read with its variables, without being listed; an exact resource comes first [S2-3.7-2] [S3-7.2-1]',
  app,
  async (client) => {
    const read = async (uri: string): Promise<unknown> =>
      (await client.get('resources/read', { uri }))['contents']
    const uri = 'weather://city/S%C3%A3o%20Paulo/forecast'
    expect(await read(uri)).toEqual([{ uri, mimeType: 'text/plain', text: 'sunny in São Paulo' }])
    expect(await read('weather://city/kiel/forecast')).toEqual([
      { uri: 'weather://city/kiel/forecast', text: 'windy at home' },
    ])
    expect(await read('search://items?q=a%26b&page=2')).toEqual([
      { uri: 'search://items?q=a%26b&page=2', text: '{"q":"a&b","page":"2"}' },
    ])
  },
)

scenario('what fits no template does not exist [R172] [R173]', app, async (client) => {
  for (const uri of ['weather://city//forecast/x', 'weather://city/a/b/forecast', 'weather://city/a']) {
    const { message } = await refusal(client.request('resources/read', { uri }))
    expect(message.replace(/; did you mean "weather:[^"]+"\?$/, '')).toBe(`resource "${uri}" does not exist`)
  }
})

scenario('a path cannot climb out of its root [R177]', app, async (client) => {
  expect(await client.get('resources/read', { uri: 'file:///docs/a/b.md' })).toEqual({
    contents: [{ uri: 'file:///docs/a/b.md', text: 'a/b.md' }],
  })
  seen.length = 0
  for (const path of [
    '../etc/passwd',
    'a/../../etc/passwd',
    '%2e%2e/etc/passwd',
    '..%2fetc',
    'a/%2E%2E/%2e./x',
    '..\\x',
    '..%5cx',
  ]) {
    expect(
      (await refusal(client.request('resources/read', { uri: `file:///docs/${path}` }))).code,
    ).toBeLessThan(0)
  }
  expect(seen).toEqual([])
})
