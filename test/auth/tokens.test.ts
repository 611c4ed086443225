import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { introspection, oauth } from '../../src/auth.ts'
import { BOTH, call, initialize } from '../http/messages.ts'
import { begin, send } from '../http/wire.ts'
import { callerOf, expectRejected, guard } from './guarded.ts'
import { HOSTILE_TOKENS, openWorkshop, seconds, type Workshop } from './hostile-tokens.ts'
import { startIssuer, type Issuer } from './issuer.ts'
import { serve } from './serve.ts'
import { createSigningKey, KEYS, startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
let real: Issuer
let small: SmallIssuer
let workshop: Workshop
let trap: Awaited<ReturnType<typeof serve>>
let caught = 0

beforeAll(async () => {
  trap = await serve((_, response) => {
    caught++
    response.end('{}')
  })
  real = await startIssuer()
  small = await startSmallIssuer(resource)
  workshop = await openWorkshop(small, resource, trap.url)
})
afterAll(() => Promise.all([real.close(), small.close(), trap.close()]))

function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` }
}

describe('tokens that are signed by hand', () => {
  test.each(HOSTILE_TOKENS.map(({ id, what, create }) => [id, what, create] as const))(
    '%s %s: 401, no handler runs, nothing is fetched, and nothing is told about the token',
    async (_, __, create) => {
      const server = await guard(oauth({ issuer: small.url, resource }))
      await expectRejected(server, await create(workshop), 401, 'invalid_token')
      expect(caught).toBe(0)
      expect((await server.call(bearer(await small.sign()))).status).toBe(200)
    },
  )

  test('A.rotation after a rotation of keys, tokens with the new key are accepted', async () => {
    const now = performance.now.bind(performance)
    const server = await guard(oauth({ issuer: small.url, resource }))
    expect((await server.call(bearer(await small.sign()))).status).toBe(200)
    const next = await createSigningKey('next')
    const before = small.keys
    small.keys = [next.jwk]
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
    try {
      expect((await server.call(bearer(await small.sign({}, {}, next)))).status).toBe(200)
      await expectRejected(server, await small.sign(), 401, 'invalid_token')
    } finally {
      clock.mockRestore()
      small.keys = before
    }
  })

  test('A.keys-down an issuer that does not reply causes 503 with Retry-After, and the log says why', async () => {
    const server = await guard(oauth({ issuer: small.url, resource }))
    small.instead.set(KEYS, (_, response) => response.writeHead(500).end())
    try {
      const reply = await expectRejected(server, await small.sign(), 503, undefined)
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
      expect(server.log()).toContain(`${KEYS} replied with status 500`)
    } finally {
      small.instead.clear()
    }
  })

  test('A.kid-flood tokens with a thousand unknown keys get 503 until keys may be fetched again, and cause no more fetches', async () => {
    const server = await guard(oauth({ issuer: small.url, resource }))
    expect((await server.call(bearer(await small.sign()))).status).toBe(200)
    const before = small.requests.length
    const [, payload, signature] = (await small.sign()).split('.')
    for (let at = 0; at < 1000; at += 100) {
      const flood = Array.from({ length: 100 }, (_, index) => {
        const header = JSON.stringify({ alg: 'ES256', kid: `unknown-${at + index}` })
        return server.call(bearer(`${Buffer.from(header).toString('base64url')}.${payload}.${signature}`))
      })
      for (const { status, headers } of await Promise.all(flood)) {
        expect(status).toBe(503)
        expect(Number(headers['retry-after'])).toBeGreaterThan(0)
      }
    }
    expect(small.requests.slice(before)).toEqual([])
  })

  test('A.revoked-caller after a caller is revoked, the tokens from before get 401, and new ones are accepted', async () => {
    const other = await startSmallIssuer(resource)
    try {
      const server = await guard(oauth({ issuer: [small.url, other.url], resource }))
      const iat = seconds(-10)
      const [used, unused, same] = await Promise.all([
        small.sign({ iat }),
        small.sign({ iat }),
        other.sign({ iat }),
      ])
      expect((await server.call(bearer(used))).status).toBe(200)
      void server.app.revoke({ sub: 'ada', issuer: small.url })
      await expectRejected(server, used, 401, 'invalid_token')
      await expectRejected(server, unused, 401, 'invalid_token')
      expect((await server.call(bearer(same))).status).toBe(200)
      // The clock of an issuer may be a minute ahead.
      await expectRejected(server, await small.sign({ iat: seconds(2) }), 401, 'invalid_token')
      const later = Date.now() + 62_000
      vi.spyOn(Date, 'now').mockReturnValue(later)
      const issued = await small.sign({ iat: Math.floor(later / 1000) })
      expect((await server.call(bearer(issued))).status).toBe(200)
    } finally {
      vi.restoreAllMocks()
      await other.close()
    }
  })

  test('A.expiry-stream a stream ends when its token expires', async () => {
    const server = await guard(oauth({ issuer: small.url, resource, clockSkew: 0 }))
    const own = { ...BOTH, ...bearer(await small.sign({ exp: seconds(3) })) }
    const opened = await send(server.port, { body: initialize(), headers: own })
    const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) }
    const stream = await begin(server.port, {
      method: 'GET',
      headers: { ...own, ...session, accept: 'text/event-stream' },
    })
    expect(stream.statusCode).toBe(200)
    await new Promise((resolve) => stream.resume().once('close', resolve))
    const later = await send(server.port, { body: call('who'), headers: { ...own, ...session } })
    expect(later.status).toBe(401)
    expect(later.headers['www-authenticate']).toContain('error="invalid_token"')
  })

  test('A.same-sub the same subject at two issuers is two callers', async () => {
    const other = await startSmallIssuer(resource)
    try {
      const server = await guard(oauth({ issuer: [small.url, other.url], resource }))
      const [one, two] = await Promise.all([small.sign(), other.sign()])
      expect(callerOf(await server.call(bearer(one)))).toMatchObject({ sub: 'ada', issuer: small.url })
      expect(callerOf(await server.call(bearer(two)))).toMatchObject({ sub: 'ada', issuer: other.url })
      const opened = await send(server.port, { body: initialize(), headers: { ...BOTH, ...bearer(one) } })
      const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) }
      const asked = { body: call('who'), headers: { ...BOTH, ...session } }
      expect(
        (await send(server.port, { ...asked, headers: { ...asked.headers, ...bearer(two) } })).status,
      ).toBe(404)
      expect(
        (await send(server.port, { ...asked, headers: { ...asked.headers, ...bearer(one) } })).status,
      ).toBe(200)
    } finally {
      await other.close()
    }
  })

  test('A.issuer-mixed a token that one issuer signs in the name of another is rejected', async () => {
    const other = await startSmallIssuer(resource)
    try {
      const server = await guard([
        oauth({ issuer: small.url, resource }),
        oauth({ issuer: other.url, resource }),
      ])
      expect((await server.call(bearer(await other.sign()))).status).toBe(200)
      await expectRejected(server, await other.sign({ iss: small.url }), 401, 'invalid_token')
      await expectRejected(server, await small.sign({ iss: other.url }), 401, 'invalid_token')
    } finally {
      await other.close()
    }
  })
})

describe('tokens of a real issuer', () => {
  test('a token is accepted, and the tool sees its caller', async () => {
    const server = await guard(oauth({ issuer: real.url, resource, scopes: ['notes:read'] }))
    const reply = await server.call(bearer(await real.token({ resource })))
    expect(callerOf(reply)).toMatchObject({ sub: 'robot', clientId: 'robot', issuer: real.url })
  })

  test('A.aud-other a token for another resource gets 401', async () => {
    const server = await guard(oauth({ issuer: real.url, resource }))
    await expectRejected(
      server,
      await real.token({ resource: 'https://other.example/mcp' }),
      401,
      'invalid_token',
    )
  })

  test('A.scope a token without a scope of the server, or of the tool, gets 403 with all that are needed', async () => {
    const server = await guard(oauth({ issuer: real.url, resource, scopes: ['notes:read'] }))
    const other = await real.token({ resource, scope: 'notes:write' })
    const rejected = await expectRejected(server, other, 403, 'insufficient_scope')
    expect(rejected.headers['www-authenticate']).toContain('scope="notes:read"')
    const reader = await real.token({ resource, scope: 'notes:read' })
    const reply = await server.call(bearer(reader), { tool: 'write' })
    expect(reply.status).toBe(403)
    expect(reply.headers['www-authenticate']).toContain(
      'error="insufficient_scope", scope="notes:read notes:write"',
    )
    expect(server.calls()).toBe(0)
    const both = await real.token({ resource, scope: 'notes:read notes:write' })
    expect((await server.call(bearer(both), { tool: 'write' })).status).toBe(200)
  })

  test('A.revoked an introspected token that is revoked gets 401', async () => {
    const { url: issuer, clientId, clientSecret } = real
    const server = await guard(introspection({ issuer, clientId, clientSecret, resource, recheck: 0 }))
    const token = await real.token({ resource, opaque: true })
    expect((await server.call(bearer(token))).status).toBe(200)
    await real.revoke(token)
    await expectRejected(server, token, 401, 'invalid_token')
  })
})

describe('requests', () => {
  const auth = (): ReturnType<typeof oauth> => oauth({ issuer: small.url, resource })

  test('A.no-token a request without credentials gets 401 with a challenge that names the metadata', async () => {
    const server = await guard(auth())
    const reply = await expectRejected(server, '', 401, undefined, {})
    expect(reply.headers['www-authenticate']).toContain(
      'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
    )
  })

  test.each([
    ['A.empty-token', 'an empty token', 400, () => 'Bearer'],
    ['A.basic', 'another scheme', 401, () => 'Basic YWRhOnNlY3JldA=='],
    ['A.scheme-other', 'a good token under another scheme', 401, (token: string) => `Token ${token}`],
    ['A.scheme-glued', 'a good token without a space', 401, (token: string) => `Bearer${token}`],
    ['A.scheme-missing', 'a good token without a scheme', 401, (token: string) => token],
    ['A.two-tokens', 'two tokens', 400, (token: string) => `Bearer ${token} ${token}`],
    ['A.two-headers', 'two headers', 400, (token: string) => [`Bearer ${token}`, `Bearer ${token}`]],
    ['A.two-schemes', 'two schemes', 400, (token: string) => `Basic YQ==, Bearer ${token}`],
    ['A.quoted', 'a token in quotes', 400, (token: string) => `Bearer "${token}"`],
    ['A.latin1', 'a token with other characters', 400, (token: string) => `Bearer ${token}\u00e9`],
  ] as const)(
    '%s %s: %i, no handler runs, and nothing is told about the token',
    async (_, __, status, header) => {
      const server = await guard(auth())
      const token = await small.sign()
      const authorization = header(token)
      const error = status === 400 ? 'invalid_request' : undefined
      await expectRejected(server, token, status, error, { authorization })
    },
  )

  test('A.query a token in the URL gets 400, whether or not the header has one too', async () => {
    const server = await guard(auth())
    const token = await small.sign()
    for (const headers of [{}, bearer(token)]) {
      const reply = await server.call(headers, { path: `/mcp?access_token=${token}` })
      expect(reply.status).toBe(400)
      expect(reply.text + JSON.stringify(reply.headers) + server.log()).not.toContain(token)
    }
    expect(server.calls()).toBe(0)
  })

  test('A.cookie a token in a cookie or a body is not read', async () => {
    const server = await guard(auth())
    const token = await small.sign()
    await expectRejected(server, token, 401, undefined, {
      cookie: `access_token=${token}`,
      'x-access-token': token,
    })
  })

  test('A.header-injection line breaks and other control characters in the header never reach a handler', async () => {
    const server = await guard(auth())
    const token = await small.sign()
    for (const header of [
      `Bearer ${token}\rX: 1`,
      `Bearer \0${token}`,
      `Bearer\n ${token}`,
      `Bearer ${token}\x7f`,
    ]) {
      const lines = ['POST /mcp HTTP/1.1', 'Host: 127.0.0.1', `Authorization: ${header}`, 'Content-Length: 2']
      const text = await exchange(server.port, `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n{}`)
      expect(text).toMatch(/^HTTP\/1\.1 40[01] /)
      expect(text + server.log()).not.toContain(token)
    }
    expect(server.calls()).toBe(0)
  })

  test('A.every-request and A.steal-* every request of a session needs a token of its owner', async () => {
    const server = await guard(auth())
    const [owner, thief] = await Promise.all([small.sign(), small.sign({ sub: 'eve' })])
    const opened = await send(server.port, { body: initialize(), headers: { ...BOTH, ...bearer(owner) } })
    const session = { ...BOTH, 'mcp-session-id': String(opened.headers['mcp-session-id']) }
    const ways = [
      { body: call('who') },
      { method: 'GET', headers: { accept: 'text/event-stream' } },
      { method: 'DELETE' },
    ]
    for (const way of ways) {
      const headers = { ...session, ...way.headers }
      expect((await send(server.port, { ...way, headers })).status).toBe(401)
      expect((await send(server.port, { ...way, headers: { ...headers, ...bearer(thief) } })).status).toBe(
        404,
      )
    }
    expect(server.calls()).toBe(0)
    const own = await send(server.port, { body: call('who'), headers: { ...session, ...bearer(owner) } })
    expect(own.status).toBe(200)
    // Another token of the same caller is as good.
    const renewed = bearer(await small.sign())
    expect((await send(server.port, { method: 'DELETE', headers: { ...session, ...renewed } })).status).toBe(
      200,
    )
  })
})

/** Sends bytes and reads all that comes back. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let reply = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (reply += String(chunk)))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(reply))
  })
}
