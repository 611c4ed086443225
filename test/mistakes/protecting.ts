import { apiKeys, bearer, digestApiKey, introspection, oauth as realOauth } from '../../src/auth.ts'
import { connect } from '../../src/client.ts'
import type { Mistake, Scene } from './mistake.ts'

function protectedBy(wrote: string, auth: unknown, problem: string | RegExp, fix: string | RegExp): Mistake {
  return { wrote, make: ({ server }) => server({ auth: auth as never }), problem, fix }
}

const MUST = 'createServer: auth must be a method of pierhead/auth'
const ISSUER = 'https://id.example'
const RESOURCE = 'https://mcp.example/mcp'

/** A mistake in the options of `oauth`. */
function authorized(wrote: string, options: object, problem: string | RegExp, fix: string | RegExp): Mistake {
  const all = { issuer: ISSUER, resource: RESOURCE, ...options }
  return { wrote: `oauth({ ${wrote} })`, make: () => realOauth(all as never), problem, fix }
}

/** Asks about tokens at the issuer of these tests. */
function asked(): ReturnType<typeof introspection> {
  return introspection({ issuer: ISSUER, resource: RESOURCE, clientId: 'mcp', clientSecret: 'secret' })
}

/** Stands for a method of the package that a user forgot to call. */
function oauth(): never {
  throw new Error('not called')
}

/** Calls a server with a token; returns the status and the body. */
async function ask(
  { url, server }: Scene,
  auth: unknown,
  authorization: string = 'Bearer abc',
): Promise<string> {
  const app = server({ auth: auth as never }).tool('one', {}, () => 'one')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const headers = {
    authorization,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const reply = await fetch(await url(app as never), { method: 'POST', body, headers })
  return `${reply.status} ${await reply.text()}`
}

/** Mistakes in protecting a server. */
export const protecting: readonly Mistake[] = [
  protectedBy("auth: 'secret'", 'secret', MUST, 'to check a key, write auth: apiKeys({ digests })'),
  protectedBy('auth: oauth', oauth, MUST, 'call it: auth: oauth({ issuer, resource })'),
  protectedBy('auth: (token) => …', () => ({ sub: 'ann' }), MUST, 'call it: auth: bearer(verify)'),
  protectedBy('auth: {}', {}, MUST, 'write auth: bearer(verify)'),
  protectedBy(
    'auth: { issuer, resource }',
    { issuer: 'https://id.example', resource: 'https://mcp.example/mcp' },
    MUST,
    'write auth: oauth({ issuer, resource })',
  ),
  protectedBy('auth: { digests }', { digests: {} }, MUST, 'write auth: apiKeys({ digests })'),
  protectedBy('auth: []', [], MUST, 'the list is empty; for no authentication, write false'),
  protectedBy('auth: [bearer]', [bearer], MUST, 'element 1 is not a method of pierhead/auth'),
  protectedBy(
    'a promise for a method',
    Promise.resolve(bearer(() => undefined)),
    MUST,
    'write auth: await devAuth()',
  ),
  {
    wrote: 'listen({ auth })',
    make: ({ server }) => server().listen({ auth: bearer(() => undefined) } as never),
    problem: '"auth" is an option of http',
    fix: 'write { http: { auth } }',
  },
  {
    wrote: 'listen({ http, ws: { auth } }) on one port',
    make: ({ server }) => server().listen({ http: { port: 0 }, ws: { auth: bearer(() => undefined) } }),
    problem: '"auth" is an option of http',
    fix: 'write it there, or give ws its own port',
  },
  {
    wrote: "apiKeys({ digests: { 'my-key': 'ann' } }) with the key itself",
    make: () => apiKeys({ digests: { 'my-key': 'ann' } }),
    problem: 'the name of entry 1 of digests is not a SHA-256 digest',
    fix: 'write [await digestApiKey(key)]',
  },
  {
    wrote: 'apiKeys({ keys })',
    make: () => apiKeys({ keys: ['secret'] } as never),
    problem: 'there is no option "keys"',
    fix: /did you mean "digests"|the options are resource, scopes, includes, metadata, digests/,
  },
  {
    wrote: 'apiKeys({ digests }) with scopes in one text',
    make: async () =>
      apiKeys({ digests: { [await digestApiKey('x')]: { sub: 'ann', scopes: 'a b' as never } } }),
    problem: 'scopes must be a list',
    fix: "['a', 'b']",
  },
  authorized(
    "scopes: 'notes:read notes:write'",
    { scopes: 'notes:read notes:write' },
    'scopes must be a list',
    "write scopes: ['notes:read', 'notes:write']",
  ),
  authorized(
    "includes: { admin: 'read' }",
    { includes: { admin: 'read' } },
    'includes must be an object with lists of scopes',
    "; write includes: { admin: ['read'] }",
  ),
  authorized(
    "includes: { admin: ['read write'] }",
    { includes: { admin: ['read write'] } },
    'includes must be an object with lists of scopes',
    '; the list of "admin" has something other than a scope',
  ),
  authorized(
    "issuer: new URL('https://id.example/realm')",
    { issuer: new URL('https://id.example/realm') },
    'issuer must be the https URL of an issuer',
    'it is a URL object: write issuer: url.href',
  ),
  authorized(
    "issuer: new URL('https://id.example')",
    { issuer: new URL(ISSUER) },
    'issuer must be the https URL of an issuer',
    'it is a URL object, which adds a final slash: write issuer: "https://id.example"',
  ),
  authorized(
    'resource: new URL(…)',
    { resource: new URL(RESOURCE) },
    'resource must be a string',
    'it is a URL object: write resource: url.href',
  ),
  authorized('clockSkew: 60', { clockSkew: 60 }, 'clockSkew must be', "60 is in milliseconds; write '60s'"),
  protectedBy(
    'auth: [introspection(…), oauth(…)]',
    [asked(), realOauth({ issuer: ISSUER, resource: RESOURCE })],
    'createServer: introspection decides about every token, so the methods after it are never asked',
    'put it last: auth: [oauth(…), introspection(…)]',
  ),
  {
    wrote: 'bearer() without a function',
    make: () => bearer(undefined as never),
    problem: 'bearer: pass a function',
    fix: 'bearer((token) => users.find(token))',
  },
  {
    wrote: "bearer(verify, { resource: '/mcp' })",
    make: () => bearer(() => undefined, { resource: '/mcp' }),
    problem: 'resource is not a URL',
    fix: 'such as https://mcp.example.com/mcp',
  },
  {
    wrote: 'an opaque token for oauth()',
    make: (scene) => ask(scene, realOauth({ issuer: ISSUER, resource: RESOURCE })),
    problem: 'warning: a token was rejected: it is not a JSON Web Token',
    fix: 'add introspection',
  },
  {
    wrote: 'Authorization: Basic …',
    make: (scene) =>
      ask(
        scene,
        bearer(() => undefined),
        'Basic YW5uOnNlY3JldA==',
      ),
    problem: 'the scheme Basic is not accepted',
    fix: 'send Authorization: Bearer',
  },
  {
    wrote: 'Authorization: <key>',
    make: (scene) =>
      ask(
        scene,
        bearer(() => undefined),
        'abc',
      ),
    problem: 'the Authorization header has no scheme',
    fix: 'send Authorization: Bearer',
  },
  {
    wrote: "connect('ws://…') without a token",
    make: async ({ server }) => {
      const app = server({ auth: bearer(() => undefined) })
      const { addresses } = await app.listen({ ws: { port: 0 }, onUncaught: 'exit' })
      await connect(addresses.ws as string)
    },
    problem: 'it answered with HTTP status 401',
    fix: "connect(url, { auth: browser() }) with import { browser } from 'pierhead/auth/client'",
  },
  {
    wrote: 'listen({ http, tcp }) with auth',
    make: async ({ server }) => {
      const app = server({ auth: bearer(() => undefined) })
      await app.listen({ http: { port: 0 }, tcp: { port: 0 }, onUncaught: 'exit' })
      await app.listen({ tcp: { port: 0 }, onUncaught: 'exit' })
    },
    problem: 'warning: auth does not apply to tcp',
    fix: 'tls: { key, cert, ca }',
  },
  {
    wrote: 'verify that returns true',
    make: (scene) =>
      ask(
        scene,
        bearer(() => true as never),
      ),
    problem: /error: a token could not be verified.*bearer failed/,
    fix: 'must return { sub, scopes, expiresAt }',
  },
  {
    wrote: "app.revoke('ann')",
    make: ({ server }) => server().revoke('ann' as never),
    problem: 'revoke: expected an object',
    fix: 'sub, issuer',
  },
  {
    wrote: 'app.revoke({ subject })',
    make: ({ server }) => server().revoke({ subject: 'ann' } as never),
    problem: 'there is no option "subject"',
    fix: /did you mean "sub"|the options are sub/,
  },
]
