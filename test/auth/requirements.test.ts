import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiKeys, createApiKey, digestApiKey, oauth } from '../../src/auth.ts'
import { connect } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { BOTH, call, headed, initialize } from '../http/messages.ts'
import { send, type Received } from '../http/wire.ts'
import { as } from './server.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const RESOURCE = 'https://mcp.example/mcp'
const WITH_AUTH = REVISIONS.filter((revision) => revision >= '2025-03-26')
let issuer: SmallIssuer
let runs = 0

beforeAll(async () => {
  issuer = await startSmallIssuer(RESOURCE)
})
afterAll(() => issuer.close())

/** A protected server, and the URL of another that it calls. */
function protectedServer(upstream = ''): App {
  const auth = oauth({ issuer: issuer.url, resource: RESOURCE, scopes: ['use'] })
  return createServer({ name: 'protected', version: '1.0.0', auth, log: () => undefined })
    .tool('who', {}, (_, ctx) => {
      runs++
      return `${ctx.auth?.sub} ${String(ctx.auth?.['issuer'])}`
    })
    .tool('write', { scopes: ['write'] }, () => {
      runs++
      return 'written'
    })
    .tool('forward', {}, async () => {
      await using client = await connect(upstream, { recovery: false })
      return await client.call('seen', {})
    }) as unknown as App
}

async function listen(app: App): Promise<number> {
  const { url } = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  return Number(new URL(url as string).port)
}

/** Calls a tool at a revision, with a session where the revision has one. */
async function callTool(
  port: number,
  revision: string,
  name: string,
  credentials: Readonly<Record<string, string>>,
  path = '/mcp',
): Promise<Received> {
  if (revision === '2026-07-28') {
    const { body, headers } = headed('tools/call', { name, arguments: {} })
    return send(port, { path, body, headers: { ...headers, ...credentials } })
  }
  const good = await issuer.sign({ scope: 'use' })
  const opened = await send(port, { body: initialize(revision), headers: { ...BOTH, ...as(good) } })
  const session = {
    'mcp-session-id': opened.headers['mcp-session-id'] as string,
    'mcp-protocol-version': revision,
  }
  return send(port, { path, body: call(name), headers: { ...BOTH, ...session, ...credentials } })
}

const hour = Math.floor(Date.now() / 1000) - 3600

describe.each(WITH_AUTH)('at %s', (revision) => {
  test('no, bad and expired tokens get 401, a missing scope 403, a malformed request 400, and nothing runs [R270]', async () => {
    const port = await listen(protectedServer())
    const ask = (name: string, headers: Readonly<Record<string, string>>): Promise<Received> =>
      callTool(port, revision, name, headers)
    const good = await issuer.sign({ scope: 'use' })
    runs = 0
    const replies = [
      await ask('who', {}),
      await ask('who', as('garbage')),
      await ask('who', as(await issuer.sign({ scope: 'use', exp: hour }))),
      await ask('write', as(good)),
      await ask('who', as(await issuer.sign({ scope: 'other' }))),
      await ask('who', { authorization: 'Bearer' }),
      await ask('who', { authorization: `Bearer ${good} ${good}` }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 403, 403, 400, 400])
    expect(runs).toBe(0)
    const challenges = replies.map(({ headers }) => String(headers['www-authenticate']))
    expect(challenges.every((challenge) => challenge.startsWith('Bearer '))).toBe(true)
    expect((await ask('who', as(good))).status).toBe(200)
  })

  test('A.passthrough a token for another audience, of another issuer or for no audience is rejected, and none is passed on [R279] [S4-6-10] [S4-7-5]', async () => {
    const seen: string[] = []
    const upstream = createHttp((request, response) => {
      seen.push(JSON.stringify([request.url, request.headers]))
      response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void upstream.close())
    await once(upstream, 'listening')
    const { port: next } = upstream.address() as AddressInfo
    const port = await listen(protectedServer(`http://127.0.0.1:${next}/mcp`))
    runs = 0
    for (const claims of [
      { aud: 'https://other.example' },
      { aud: undefined },
      { aud: `${RESOURCE}/` },
      { iss: 'https://id.example' },
    ])
      expect(
        (await callTool(port, revision, 'who', as(await issuer.sign({ scope: 'use', ...claims })))).status,
      ).toBe(401)
    expect(runs).toBe(0)
    const token = await issuer.sign({ scope: 'use', aud: ['https://other.example', RESOURCE] })
    await callTool(port, revision, 'forward', as(token))
    expect(seen.length).toBeGreaterThan(0)
    const parts = token.split('.').map((part) => part.slice(0, 40))
    for (const part of parts) expect(seen.join()).not.toContain(part)
  })

  test('a 401 leads to the metadata, which names the issuers [R272] [R273] [R274] [S4-6-5] [S4-6-6] [S4-1-3]', async () => {
    const port = await listen(protectedServer())
    const { status, headers } = await callTool(port, revision, 'who', {})
    expect(status).toBe(401)
    const challenge = String(headers['www-authenticate'])
    const { pathname, origin } = new URL(/resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '')
    expect(origin).toBe(new URL(RESOURCE).origin)
    for (const path of [
      pathname,
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-protected-resource',
    ])
      expect((await send(port, { method: 'GET', path })).json).toMatchObject({
        resource: RESOURCE,
        authorization_servers: [issuer.url],
        scopes_supported: ['use'],
        bearer_methods_supported: ['header'],
      })
  })

  test('every request is verified before dispatch, and handlers see the verified identity [S3-8-1] [S4-7-10] [S1-6.1-2]', async () => {
    const port = await listen(protectedServer())
    const good = await issuer.sign({ sub: 'ada', scope: 'use' })
    expect((await callTool(port, revision, 'who', as(good))).text).toContain(`ada ${issuer.url}`)
    runs = 0
    const messages =
      revision === '2026-07-28'
        ? ['server/discover', 'tools/list', 'ping', 'no/such', 'subscriptions/listen']
        : ['initialize', 'tools/list', 'ping', 'no/such', 'notifications/initialized']
    for (const method of messages) {
      const { body, headers } = headed(method)
      expect([method, (await send(port, { body, headers })).status]).toEqual([method, 401])
    }
    for (const method of ['GET', 'DELETE', 'PUT'])
      expect((await send(port, { method, headers: BOTH })).status).toBe(401)
    expect(runs).toBe(0)
  })

  test('the permission is checked before a tool runs [S3-8-2]', async () => {
    const port = await listen(protectedServer())
    runs = 0
    const reply = await callTool(port, revision, 'write', as(await issuer.sign({ scope: 'use' })))
    expect([reply.status, runs]).toEqual([403, 0])
    expect(String(reply.headers['www-authenticate'])).toContain('scope="use write"')
    const allowed = await callTool(port, revision, 'write', as(await issuer.sign({ scope: 'use write' })))
    expect([allowed.status, runs]).toEqual([200, 1])
  })
})

test('the refusals of authentication, 1011 to 1016, are each carried by an answer [S2-8.3-4]', async () => {
  const port = await listen(protectedServer())
  const refusalOf = ({ status, json }: Received): readonly unknown[] => {
    const { refusal } = (json['error'] as { data: { refusal: { code: number; name: string } } }).data
    return [status, refusal.code, refusal.name]
  }
  const refusal = async (name: string, headers: Readonly<Record<string, string>>): Promise<unknown> =>
    refusalOf(await callTool(port, '2026-07-28', name, headers))
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((sub) => issuer.sign({ sub, scope: 'use' })))
  const opened = await send(port, { body: initialize(), headers: { ...BOTH, ...as(ann as string) } })
  const session = { 'mcp-session-id': opened.headers['mcp-session-id'] as string }
  const inSession = async (token = '', more = {}): Promise<unknown> =>
    refusalOf(
      await send(port, { body: call('who'), headers: { ...BOTH, ...session, ...as(token), ...more } }),
    )
  expect([
    await refusal('who', { authorization: `DPoP ${await issuer.sign({ cnf: { jkt: 'a'.repeat(43) } })}` }),
    await refusal('who', as(await issuer.sign({ exp: hour }))),
    await refusal('who', as('garbage')),
    await refusal('write', as(await issuer.sign({ scope: 'use' }))),
    await refusal('who', {}),
    await inSession(bob),
    await inSession(ann, { 'mcp-session-id': 'over' }),
  ]).toEqual([
    [401, 1011, 'AUTH_FAILED'],
    [401, 1012, 'AUTH_EXPIRED'],
    [401, 1013, 'AUTH_INVALID_CREDENTIALS'],
    [403, 1014, 'AUTHZ_FORBIDDEN'],
    [401, 1015, 'AUTH_MISSING'],
    [404, 1016, 'SESSION_INVALID'],
    [404, 1016, 'SESSION_INVALID'],
  ])
})

test('A.query a token in the URL is rejected, also next to one in the header', async () => {
  const port = await listen(protectedServer())
  const good = await issuer.sign({ scope: 'use' })
  for (const credentials of [{}, as(good)]) {
    const reply = await callTool(port, '2026-07-28', 'who', credentials, `/mcp?access_token=${good}`)
    expect(reply.status).toBe(400)
  }
})

test('a server without auth serves everyone, and each method protects one', async () => {
  const key = createApiKey()
  const auth = apiKeys({ digests: { [await digestApiKey(key)]: 'ann' } })
  const open = createServer({ name: 'x', version: '1', log: () => undefined }).tool('who', {}, () => 'anyone')
  const closed = createServer({ name: 'x', version: '1', auth, log: () => undefined }).tool(
    'who',
    {},
    (_, ctx) => `${ctx.auth?.sub}`,
  )
  const { body, headers } = headed('tools/call', { name: 'who' })
  expect((await send(await listen(open as App), { body, headers })).text).toContain('anyone')
  const port = await listen(closed as App)
  expect((await send(port, { body, headers })).status).toBe(401)
  expect((await send(port, { body, headers: { ...headers, ...as(key) } })).text).toContain('ann')
})
