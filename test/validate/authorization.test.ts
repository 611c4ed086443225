import { expect, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { AUTHORIZATION_RULES } from '../../src/validate/server-rules/authorization.ts'
import { JSON_RPC_RULES } from '../../src/validate/server-rules/json-rpc.ts'
import { member, parsed } from '../../src/validate/message.ts'
import { serveEverywhere } from './faulty-door.ts'
import { PUBLIC_ORIGIN } from './faulty-http.ts'
import { without, type Fault, type FaultReply, type FaultRequest } from './fault.ts'
import { createFixture } from './fixture.ts'
import { outcomesOf, prove, type Setting } from './prove.ts'

const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl'
const METADATA = '/.well-known/oauth-protected-resource'

const createProtected = (): ReturnType<typeof createFixture> =>
  createFixture({
    auth: bearer((token) => (token === TOKEN ? { sub: 'user', scopes: [] } : undefined), {
      resource: `${PUBLIC_ORIGIN}/mcp`,
      issuers: ['https://issuer.example'],
    }),
  })
const PROTECTED: Setting = {
  createApp: createProtected,
  headers: { Authorization: `Bearer ${TOKEN}` },
}

/** A server that lets some requests in as if they had the token. */
function letIn(isIn: (request: FaultRequest) => boolean): NonNullable<Fault['request']> {
  return (request) =>
    isIn(request)
      ? {
          ...request,
          // The correct server refuses tokens in a URL, whatever the header says.
          url: new URL(request.url.pathname, request.url),
          headers: { ...request.headers, authorization: `Bearer ${TOKEN}` },
        }
      : request
}

/** A server that answers without a token in its own way. */
function whenRefused(change: (reply: FaultReply) => FaultReply): NonNullable<Fault['http']> {
  return async (_request, next) => {
    const reply = await next()
    return reply.status === 401 ? change(reply) : reply
  }
}

/** A server with other metadata. */
function withMetadata(change: (metadata: object) => object): NonNullable<Fault['http']> {
  return async ({ url }, next) => {
    const reply = await next()
    if (!url.pathname.startsWith(METADATA) || typeof reply.body !== 'string') return reply
    return { ...reply, body: JSON.stringify(change(parsed(reply.body) as object)) }
  }
}

const withoutChallenge = whenRefused((reply) => ({
  ...reply,
  headers: without(reply.headers, 'www-authenticate') as Record<string, string>,
}))
const noMetadata: NonNullable<Fault['http']> = ({ url }, next) =>
  url.pathname.startsWith(METADATA) ? { status: 404, headers: {}, body: null } : next()

const FAULTS: readonly Fault[] = [
  {
    rule: 'R270',
    does: 'answers with 403 without a token',
    http: whenRefused((reply) => ({ ...reply, status: 403 })),
  },
  {
    rule: 'R270',
    does: 'believes every text',
    request: letIn(({ headers }) => headers['authorization'] === 'Bearer validator-not-a-token'),
  },
  {
    rule: 'R270',
    does: 'believes tokens without a signature',
    request: letIn(({ headers }) => /^Bearer [\w-]+\.[\w-]+\.$/.test(headers['authorization'] ?? '')),
  },
  {
    rule: 'R270',
    does: 'does not verify signatures',
    request: letIn(({ headers }) =>
      (headers['authorization'] ?? '').startsWith(`Bearer ${TOKEN.split('.', 2).join('.')}.`),
    ),
  },
  {
    rule: 'R270',
    does: 'believes tokens in the URL',
    request: letIn(({ url }) => url.searchParams.has('access_token')),
  },
  {
    rule: 'R270',
    does: 'breaks when the token is empty',
    http: ({ headers }, next) =>
      headers['authorization'] === 'Bearer'
        ? { status: 500, headers: { 'content-type': 'text/plain' }, body: 'oops' }
        : next(),
  },
  ...['tools/list', 'tools/call', 'resources/read', 'notifications/cancelled'].map((method): Fault => ({
    rule: 'R270',
    does: `checks no token for ${method}`,
    request: letIn(({ message }) => message?.['method'] === method),
  })),
  ...['GET', 'DELETE'].map((method): Fault => ({
    rule: 'R270',
    does: `checks no token for ${method}`,
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25'],
    request: letIn((request) => request.method === method && request.url.pathname === '/mcp'),
  })),
  {
    rule: 'R270',
    does: 'believes every text after the greeting',
    request: letIn(
      ({ headers, message }) =>
        headers['authorization'] === 'Bearer validator-not-a-token' &&
        !/initialize|discover/.test(String(message?.['method'])),
    ),
  },
  {
    rule: 'R270',
    does: 'answers pings and lists with 403 without a token',
    http: async ({ message }, next) => {
      const reply = await next()
      return reply.status === 401 && ['tools/list', 'prompts/list'].includes(String(message?.['method']))
        ? { ...reply, status: 403 }
        : reply
    },
  },
  ...['https://validated.example/other', 'http://localhost:1/mcp', `${PUBLIC_ORIGIN}/mcp/more`, 'mcp'].map(
    (resource): Fault => ({
      rule: 'R272',
      does: `calls itself ${resource}`,
      http: withMetadata((metadata) => ({ ...metadata, resource })),
    }),
  ),
  { rule: 'R272', does: 'has no metadata', http: noMetadata },
  {
    rule: 'R272',
    does: 'names no authorization server',
    http: withMetadata((metadata) => ({ ...metadata, authorization_servers: [] })),
  },
  {
    rule: 'R272',
    does: 'does not say which resource it is',
    http: withMetadata((metadata) => ({ ...metadata, resource: undefined })),
  },
  { rule: 'R273', does: 'sends no challenge', http: withoutChallenge },
  {
    rule: 'R273',
    does: 'does not name its metadata',
    http: whenRefused((reply) => ({
      ...reply,
      headers: { ...reply.headers, 'www-authenticate': 'Bearer realm="validated"' },
    })),
  },
  {
    rule: 'R274',
    does: 'has neither a challenge nor metadata',
    http: (request, next) => noMetadata(request, () => Promise.resolve(withoutChallenge(request, next))),
  },
  {
    rule: 'R279',
    does: 'looks only at the issuer',
    request: letIn(({ headers }) => {
      const [, claims = ''] = (headers['authorization'] ?? '').split('.')
      const { iss } = (parsed(Buffer.from(claims, 'base64url').toString()) ?? {}) as { iss?: string }
      return iss === 'https://issuer.example'
    }),
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'R270',
    does: 'calls an empty token malformed',
    http: ({ headers }, next) =>
      headers['authorization'] === 'Bearer' ? { status: 400, headers: {}, body: null } : next(),
  },
  {
    rule: 'R272',
    does: 'is a part of its resource',
    http: withMetadata((metadata) => ({ ...metadata, resource: PUBLIC_ORIGIN })),
  },
  { rule: 'R272', does: 'does not say where its metadata are', http: withoutChallenge },
  { rule: 'R274', does: 'has metadata without a challenge', http: withoutChallenge },
  { rule: 'R274', does: 'names metadata that are elsewhere', http: noMetadata },
]

prove('Authorization', AUTHORIZATION_RULES, FAULTS, VARIANTS, PROTECTED)

test('a server without authorization has nothing to do with these rules', async () => {
  const served = await serveEverywhere(createFixture())
  try {
    const outcomes = await outcomesOf(served, AUTHORIZATION_RULES, {
      revision: '2025-11-25',
      transport: 'http',
    })
    expect(new Set(outcomes.map(({ is }) => is))).toEqual(new Set(['absent']))
  } finally {
    await served.close()
  }
})

test('a server with keys of its own needs no metadata', async () => {
  const key = 'a-key-of-the-server'
  const served = await serveEverywhere(
    createFixture({
      auth: bearer((token) => (token === key ? { sub: 'user', scopes: [] } : undefined), {
        resource: `${PUBLIC_ORIGIN}/mcp`,
        issuers: ['https://issuer.example'],
      }),
    }),
  )
  const withKeys: Fault = {
    rule: 'R272',
    does: 'has keys',
    http: (request, next) => noMetadata(request, () => Promise.resolve(withoutChallenge(request, next))),
  }
  try {
    for (const revision of ['2025-06-18', '2025-11-25'] as const) {
      const outcomes = await outcomesOf(served, AUTHORIZATION_RULES, {
        revision,
        transport: 'http',
        fault: withKeys,
        headers: { authorization: `Bearer ${key}` },
      })
      expect(outcomes.map(({ id, is }) => `${id} ${is}`)).toEqual([
        'R270 passed',
        'R272 absent',
        revision === '2025-06-18' ? 'R273 absent' : 'R274 absent',
        'R279 passed',
      ])
    }
  } finally {
    await served.close()
  }
})

test('the token is sent to the server only, and never in a URL', async () => {
  const served = await serveEverywhere(createProtected())
  const seen: FaultRequest[] = []
  const watch: Fault = {
    rule: 'R272',
    does: 'names metadata at another server',
    request: (request) => {
      seen.push(request)
      return request
    },
    http: whenRefused((reply) => ({
      ...reply,
      headers: { ...reply.headers, 'www-authenticate': 'Bearer resource_metadata="http://127.0.0.2:9/x"' },
    })),
  }
  try {
    const outcomes = await outcomesOf(served, AUTHORIZATION_RULES, {
      revision: '2025-11-25',
      transport: 'http',
      fault: watch,
      headers: PROTECTED.headers,
    })
    expect(outcomes.filter(({ is }) => is === 'failed')).toEqual([])
    expect(seen.some(({ url }) => url.href.includes(TOKEN))).toBe(false)
    const reads = seen.filter(({ url }) => url.pathname.startsWith(METADATA))
    expect(reads.length).toBeGreaterThan(0)
    expect(reads.every(({ headers }) => headers['authorization'] === undefined)).toBe(true)
    expect(JSON.stringify(outcomes.map((outcome) => member(outcome, 'entries')))).not.toContain(TOKEN)
  } finally {
    await served.close()
  }
})

test('refusals in the form of OAuth and metadata are not messages', async () => {
  const served = await serveEverywhere(createProtected())
  const inOwnForm: Fault = {
    rule: 'R001',
    does: 'refuses as OAuth does',
    http: whenRefused((reply) => ({
      ...reply,
      headers: { ...reply.headers, 'content-type': 'application/json' },
      body: '{"error":"invalid_token","error_description":"Missing Authorization header"}',
    })),
  }
  const rules = [...AUTHORIZATION_RULES, ...JSON_RPC_RULES.filter(({ id }) => ['R001', 'R006'].includes(id))]
  try {
    const outcomes = await outcomesOf(served, rules, {
      revision: '2025-11-25',
      transport: 'http',
      fault: inOwnForm,
      headers: PROTECTED.headers,
    })
    expect(outcomes.length).toBeGreaterThan(4)
    expect(new Set(outcomes.map(({ is }) => is))).toEqual(new Set(['passed']))
  } finally {
    await served.close()
  }
})
