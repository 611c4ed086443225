import { describe, expect, test } from 'vitest'
import { createServer, McpError, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { open, type Client } from '../harness/client.ts'
import { processorMs } from '../harness/processor.ts'
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

/** URIs that a handler may take for `docs://files/secret` if it builds a URL, or a path, from what it got. */
const MISTAKABLE = [
  'docs://files/sec%09ret',
  'docs://files/secret%0A',
  'docs://files/%0Dsecret',
  'docs://files/secret%20',
  'docs://files/%20secret',
  'docs://files/%2573ecret',
  'docs://files/%2573ecret?%25',
  'docs://FILES%2Fsecret',
  'docs://fi%E2%80%8Bles/secret',
  'docs://fi%C2%ADles/secret',
  'docs://%EF%BD%86iles/secret',
  'docs:///files/secret',
  'docs:///Files/secret',
]

test.each(Object.entries(HIDING).filter(([way]) => way !== 'middleware'))(
  'M.uri-spelling no text that a URL takes for a URI leads past %s',
  async (_, hide) => {
    const hiding = withTemplates(hide(createServer({ name: 'hides', version: '1', log: () => undefined })))
    const client = await open(hiding, { transport: 'memory', revision: '2025-11-25' })
    for (const uri of MISTAKABLE)
      for (const method of ['resources/read', 'resources/subscribe']) {
        const reply = await client.post(client.requestText('spelt', method, { uri }))
        expect([method, uri, reply]).toMatchObject([method, uri, { error: {} }])
      }
  },
)

test('M.uri-spelling a host that a URL takes for another leads to no template', async () => {
  const app = createServer({ name: 'hosts', version: '1', log: () => undefined })
  for (const uri of [
    'https://ex.com/x',
    'https://ex.com/a?id=1',
    'https://ex.com:8443/b',
    'http://127.0.0.1/x',
    'https://münchen.example/x',
    'file:///etc/x',
  ])
    app.resource(uri, { visible: () => false }, () => 'CANARY')
  app
    .resource('https://{+rest}', {}, () => 'CANARY')
    .resource('http://{+rest}', {}, () => 'CANARY')
    .resource('{+all}', {}, () => 'CANARY')
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  for (const uri of [
    'https://ex%E3%80%82com/x',
    'https://%EF%BD%85x.com/x',
    'https://ex%E2%80%8B.com/x',
    'https://ex%252Ecom/x',
    'https://e%09x.com/x',
    'https:ex.com/x',
    'https:/EX.com/x',
    'https:%5C%5Cex.com/x',
    'https://ex.com:0443/x',
    'https://@ex.com/a?id=1',
    'https://u@ex.com:1/a?id=1',
    'https://u@ex.com:8443/b',
    'https://ex.com:8443/b?x',
    'ht%09tps://ex.com/x',
    '%20https://ex.com/x',
    'http://0x7f.1/x',
    'http://2130706433/x',
    'https://xn--mnchen-3ya.example/x',
    'https://M%C3%9CNCHEN.example/x',
    'file://LOCALHOST%2Fetc/x',
  ])
    expect([uri, await readAt(client, uri)]).toMatchObject([uri, { error: {} }])
  expect(await readAt(client, 'https://ex.com/y')).toMatchObject({ result: {} })
})

/** How a template may be closed to a caller, beside one that is open to all. */
const CLOSING: Readonly<Record<string, (app: App, uri: string) => unknown>> = {
  visible: (app, uri) => app.resource(uri, { visible: () => false }, () => 'CANARY'),
  scopes: (app, uri) => app.resource(uri, { scopes: ['secrets'] }, () => 'CANARY'),
  disable: (app, uri) => app.resource(uri, {}, () => 'CANARY').disable('resource', uri),
  'a plug-in': (app, uri) => app.resource(uri, {}, () => 'CANARY').use({ visible: ({ key }) => key !== uri }),
}

/** A template beside an open one, and URIs that belong to it. */
const CLOSED: readonly (readonly [string, readonly string[]])[] = [
  [
    'docs://private/{+path}',
    [
      'docs://private/pay.txt',
      'docs://private%2Fpay.txt',
      'docs://./private/pay.txt',
      'docs:///private/pay.txt',
      'docs://PRIVATE/pay.txt',
      'docs://private//pay.txt',
      'docs://%2570rivate/pay.txt',
      'docs://private%5Cpay.txt',
      'docs://u@private/pay.txt',
      'docs://private:80/pay.txt',
      `docs:///private/${'%21'.repeat(2000)}`,
    ],
  ],
  [
    'docs://private/{id}',
    [
      'docs://private/1',
      'docs://private%2F1',
      'docs://private/1?x=1',
      'docs://private/1#x',
      'docs:///private/1',
    ],
  ],
  // A handler cannot tell these from `a%2Fb`, which the template matches.
  ['docs://private/{id}', ['docs://private/a/b', 'docs://private%2Fa%2Fb', 'docs:///private/a%2Fb']],
  [
    'docs://private{/id}',
    ['docs://private/a%2Fb', 'docs://private/a/b', 'docs://private', 'docs:///private/a'],
  ],
  ['docs://private{/path*}', ['docs://private/a/b', 'docs:///private/a/b', 'docs://private%2Fa']],
  ['docs://private/{id}{?q}', ['docs:///private/1?q=2', 'docs:///private/1', 'docs://private%2F1?other=1']],
  [
    'docs://find?kind=secret{&q}',
    ['docs://find?kind=secret&q=1', 'docs:///find?kind=secret&q=1', 'docs://u@find:80?kind=secret'],
  ],
  ['docs://{user}/private', ['docs://ann/private', 'docs:///ann/private', 'docs://ann%2Fprivate']],
  // Steps with nothing in them, which may be variables.
  [
    'docs://{user}/private',
    [
      'docs:///private',
      'docs:////private',
      'docs://%2F/private',
      'docs://%20/private',
      'docs://%5C%5C/private?x',
      'docs:///private/',
      'docs://@/private',
      'docs://u@:80/private',
      'docs://%E2%80%8B/private',
    ],
  ],
  [
    'docs://private/{id}/{+path}',
    ['docs://private//a', 'docs://private/%20/a/b', 'docs://private/%2F/a', 'docs://private//'],
  ],
]

describe.each(Object.entries(CLOSING))('a template that %s closes', (_, close) => {
  test.each(CLOSED)('M.template-closed %s: no other template serves its URIs', async (template, uris) => {
    const app = createServer({ name: 'closed', version: '1', log: () => undefined })
    close(app, template)
    app.resource('docs://{+path}', {}, () => 'CANARY')
    app.resource('{+all}', {}, () => 'CANARY')
    const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
    for (const uri of uris)
      for (const method of ['resources/read', 'resources/subscribe']) {
        const reply = await client.post(client.requestText('spelt', method, { uri }))
        expect([method, uri, reply]).toMatchObject([method, uri, { error: {} }])
      }
    for (const uri of ['docs://other/pay.txt', 'docs://find?kind=open', 'docs://privately/1'])
      expect([uri, await readAt(client, uri)]).toMatchObject([uri, { result: {} }])
  })

  test('M.template-closed what is more open and comes first, or has other URIs, is served', async () => {
    const app = createServer({ name: 'open', version: '1', log: () => undefined })
      .resource('docs://private/welcome', {}, () => 'fixed')
      .resource('docs://private/open/{+path}', {}, () => 'first')
    close(app, 'docs://private/{+path}')
    close(app, 'docs://users/{id}')
    app
      .resource('docs://users/{id}/avatar', {}, () => 'below')
      .resource('docs://users/{id}/files/{+path}', {}, () => 'below')
      .resource('docs://{+path}', {}, () => 'broad')
    const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
    const texts: Readonly<Record<string, string>> = {
      'docs://private/welcome': 'fixed',
      'docs://private/open/a': 'first',
      'docs://users/1/avatar': 'below',
      'docs://users/1/files/a/b': 'below',
      'docs://elsewhere/a': 'broad',
    }
    for (const [uri, text] of Object.entries(texts))
      expect([uri, await readAt(client, uri)]).toMatchObject([uri, { result: { contents: [{ text }] } }])
  })
})

test.each(['tcp', 'ws'] as const)(
  'M.template-closed no other template serves its URIs over %s',
  async (transport) => {
    const app = createServer({ name: 'closed', version: '1', log: () => undefined })
      .resource('docs://private/{+path}', { visible: () => false }, () => 'CANARY')
      .resource('docs://{+path}', {}, () => 'open')
    const client = await open(app, { transport, revision: '2025-11-25' })
    expect(await readAt(client, 'docs://private/1')).toMatchObject({ error: {} })
    expect(await readAt(client, 'docs://private%2F1')).toMatchObject({ error: {} })
    expect(await readAt(client, 'docs://other/1')).toMatchObject({ result: { contents: [{ text: 'open' }] } })
  },
)

test('M.template-closed callers who may use a template are not kept from the others', async () => {
  const app = createServer({ name: 'admins', version: '1', log: () => undefined })
    .resource('docs://private/{id}', { visible: () => true, scopes: [] }, ({ id }) => `private ${id}`)
    .resource('docs://{+path}', {}, ({ path }) => `broad ${path}`)
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const texts: Readonly<Record<string, string>> = {
    'docs://private/1': 'private 1',
    'docs://private/1/2': 'broad private/1/2',
    'docs:///private/1': 'broad /private/1',
  }
  for (const [uri, text] of Object.entries(texts))
    expect([uri, await readAt(client, uri)]).toMatchObject([uri, { result: { contents: [{ text }] } }])
})

test('M.template-closed many closed templates take no more time than open ones may', async () => {
  const app = createServer({ name: 'many', version: '1', log: () => undefined })
  for (let at = 0; at < 300; at++)
    app.resource(`docs://{+a}${at}/{b}{?q}`, { visible: () => false }, () => 'CANARY')
  app.resource('docs://{+path}', {}, () => 'open')
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  for (const part of ['a/', '0/', '1%2F', '%252F', '%EF%B7%BA', '/']) {
    const uri = `docs://${part.repeat(8000 / part.length)}`
    const text = client.requestText('spelt', 'resources/read', { uri })
    expect(await processorMs(() => client.post(text))).toBeLessThan(1500)
  }
})
