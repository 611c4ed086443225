import { expect, test } from 'vitest'
import { createServer, McpError, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { open, type Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'

const UPDATED = 'notifications/resources/updated'

/** Other spellings of some URIs, and the one that middleware and handlers see. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  'docs://files/secret/a.md': [
    'docs://files/%73ecret/a.md',
    'DOCS://files/secret/a.md',
    'docs://files/./secret/a.md',
    'docs://files/secret/%2E/a.md',
    'docs://files/secret/%61%2emd',
    'docs://f%69les/secret/a.md',
  ],
  'docs://files/secret%2Fa.md': ['docs://files/secret%2fa.md'],
  'https://example.com/': [
    'HTTPS://EXAMPLE.com/',
    'https://example.com:443/',
    'https://example.com./',
    'https://ex%61mple.com/.',
    'https://example.com:/',
  ],
  'file:///etc/a.md': ['file://localhost/etc/a.md', 'FILE:///etc/%61.md'],
}

/** Spellings that may reach a file or a host by which a resource is known, though they are other URIs. */
const ALIKE = [
  'docs://files/public/../secret',
  'docs://files/public/%2e%2e/secret',
  'docs://files/x/..%2Fsecret',
  'docs://FILES/secret',
  'docs://files/%73ecret',
  'docs://files/./secret',
  'docs://files//secret',
  'docs://files/secret/',
  'docs://files/secret/.',
  'docs://files./secret',
  'docs://files/%2Fsecret',
  'docs://files/.%5Csecret',
  'Docs://files/secret',
  'docs://files/secret#',
  'docs://files/secret?x=1',
  'docs://files/secret%23x',
  'docs://files/secret%3Fx',
  'docs://x@files/secret',
  'docs://x%40files/secret',
  'docs://files:80/secret',
  'docs://files%3A80/secret',
]

async function readAt(client: Client, uri: string): Promise<JsonObject> {
  return (await client.post(client.requestText('spelt', 'resources/read', { uri }))) as JsonObject
}

function withTemplates(app: App): App {
  return app
    .resource('docs://{+path}', {}, (_, { params }) => `template ${String(params['uri'])}`)
    .resource('https://{+path}', {}, (_, { params }) => `template ${String(params['uri'])}`)
    .resource('file://{+path}', {}, (_, { params }) => `template ${String(params['uri'])}`)
}

const seen: unknown[] = []
const app = withTemplates(createServer({ name: 'spelt', version: '1', log: () => undefined })).use(
  'resources/read',
  (context, next) => {
    seen.push(context.params['uri'])
    return next()
  },
)

scenario(
  'M.uri-spelling middleware, handlers and results have the same spelling of a URI, whichever was sent',
  app,
  async (client) => {
    for (const [uri, others] of Object.entries(SAME))
      for (const sent of [uri, ...others]) {
        seen.length = 0
        expect([sent, await readAt(client, sent)]).toMatchObject([
          sent,
          { result: { contents: [{ uri, text: `template ${uri}` }] } },
        ])
        expect(seen).toEqual([uri])
      }
  },
)

const HIDING: Readonly<Record<string, (app: App) => App>> = {
  visible: (app) => app.resource('docs://files/secret', { visible: () => false }, () => 'CANARY'),
  scopes: (app) => app.resource('docs://files/secret', { scopes: ['secrets'] }, () => 'CANARY'),
  disable: (app) => {
    app.resource('docs://files/secret', {}, () => 'CANARY')
    app.disable('resource', 'docs://files/secret')
    return app
  },
  middleware: (app) =>
    app
      .resource('docs://files/secret', {}, () => 'CANARY')
      .use('resources/read', ({ params }, next) => {
        if (params['uri'] !== 'docs://files/secret') return next()
        throw new McpError('unknown_resource', 'resource does not exist')
      }),
}

test.each(Object.entries(HIDING))(
  'M.uri-spelling no spelling of a URI leads past %s, also not to a template',
  async (_, hide) => {
    const hiding = withTemplates(hide(createServer({ name: 'hides', version: '1', log: () => undefined })))
    const client = await open(hiding, { transport: 'memory', revision: '2025-11-25' })
    for (const uri of ['docs://files/secret', ...ALIKE]) {
      const reply = JSON.stringify(await readAt(client, uri))
      expect([uri, reply]).toMatchObject([uri, expect.not.stringContaining('CANARY')])
    }
    expect(await readAt(client, 'docs://files/other')).toMatchObject({ result: {} })
  },
)

test.each(Object.entries(HIDING).filter(([way]) => way !== 'middleware'))(
  'M.uri-spelling nobody reads or watches any spelling of what %s restricts',
  async (_, hide) => {
    const hiding = withTemplates(hide(createServer({ name: 'hides', version: '1', log: () => undefined })))
    const client = await open(hiding, { transport: 'memory', revision: '2025-11-25' })
    for (const uri of ['docs://files/secret', ...ALIKE])
      for (const method of ['resources/read', 'resources/subscribe']) {
        const reply = await client.post(client.requestText('spelt', method, { uri }))
        expect([method, uri, reply]).toMatchObject([method, uri, { error: {} }])
      }
  },
)

test('M.uri-spelling a resource is served under other spellings, by its own handler and with its own URI', async () => {
  const app = withTemplates(
    createServer({ name: 'more', version: '1', log: () => undefined })
      .resource('HTTPS://Example.com:443', {}, (_, { params }) => `own ${String(params['uri'])}`)
      .resource('docs://a%2fb', {}, () => 'own')
      .resource('docs://Alpha', {}, () => 'upper')
      .resource('docs://alpha', {}, () => 'lower'),
  )
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  for (const uri of ['https://example.com/', 'HTTPS://Example.com:443', 'https://EXAMPLE.com'])
    expect(await readAt(client, uri)).toMatchObject({
      result: { contents: [{ uri: 'HTTPS://Example.com:443', text: 'own HTTPS://Example.com:443' }] },
    })
  const texts: Readonly<Record<string, string>> = {
    'docs://a%2fb': 'own',
    'docs://a%2Fb': 'own',
    'docs://Alpha': 'upper',
    'docs://alpha': 'lower',
    'docs://ALPHA': 'template docs://ALPHA',
    'docs://%41lpha': 'upper',
  }
  for (const [uri, text] of Object.entries(texts))
    expect([uri, await readAt(client, uri)]).toMatchObject([uri, { result: { contents: [{ text }] } }])
})

test('M.uri-spelling a template serves all spellings of its URIs, whichever it has itself', async () => {
  const app = createServer({ name: 'templates', version: '1', log: () => undefined })
    .resource('DOCS://files/./{name}', {}, ({ name }) => `docs ${name}`)
    .resource('https://Example.com:443{?q}', {}, ({ q }) => `query ${q}`)
    .resource('https://Example.com{/path*}', {}, ({ path }) => `path ${path.join()}`)
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const texts: Readonly<Record<string, string>> = {
    'DOCS://files/./a': 'docs a',
    'docs://files/a': 'docs a',
    'https://Example.com:443?q=1': 'query 1',
    'https://example.com?q=1': 'query 1',
    'https://example.com:443/a/b': 'path a,b',
  }
  for (const [uri, text] of Object.entries(texts))
    expect([uri, await readAt(client, uri)]).toMatchObject([uri, { result: { contents: [{ text }] } }])
})

test('M.uri-spelling whoever subscribes with another spelling hears of changes, and can unsubscribe with a third', async () => {
  const app = createServer({ name: 'watched', version: '1', log: () => undefined }).resource(
    'docs://{+path}',
    {},
    () => 'text',
  )
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  await client.get('resources/subscribe', { uri: 'docs://files/%61.md' })
  app.updated('DOCS://files/./a.md')
  expect(await client.hear(UPDATED)).toMatchObject([{ uri: 'docs://files/a.md' }])
  await client.get('resources/unsubscribe', { uri: 'docs://files/a%2Emd' })
  app.updated('docs://files/a.md')
  await client.get('resources/subscribe', { uri: 'docs://files/b.md' })
  app.updated('docs://files/b.md')
  expect(await client.hear(UPDATED, 2)).toMatchObject([
    { uri: 'docs://files/a.md' },
    { uri: 'docs://files/b.md' },
  ])
})
