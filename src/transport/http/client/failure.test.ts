import { expect, test } from 'vitest'
import { toFailure, toUseless } from './failure.ts'

/** A reply as fetch gives it; one that was made by hand has no URL. */
function reply(status: number, headers: Readonly<Record<string, string>> = {}, url = ''): Response {
  return Object.defineProperty(new Response(null, { status, headers }), 'url', { value: url })
}

test.each([
  ['', 'nothing is served at this URL; MCP servers are usually at /mcp'],
  ['http://a.example/b', 'nothing is served at http://a.example/b; MCP'],
  ['http://a.example/b?key=secret', 'nothing is served at http://a.example/b; MCP'],
  ['http://a.example/b#c', 'nothing is served at http://a.example/b; MCP'],
  [`http://a.example/${'x'.repeat(300)}`, `nothing is served at http://a.example/${'x'.repeat(239)}; MCP`],
])('a 404 from %j says that %s', (url, said) => {
  const error = toFailure(reply(404, {}, url), 'initialize')
  expect(error).toMatchObject({ kind: 'http_failed', data: { status: 404 }, retryable: false })
  expect(error.message).toContain(said)
})

test('the hint of a 401 is the line to add, and that of a 500 is not', () => {
  const asked = toFailure(reply(401, { 'www-authenticate': 'Bearer' }), 'tools/list')
  expect(asked.hint).toContain(
    "connect(url, { auth: browser() }) with import { browser } from 'pierhead/auth/client'",
  )
  expect(asked.data).toEqual({ status: 401, wwwAuthenticate: 'Bearer' })
  const rejected = toFailure(reply(401, { 'www-authenticate': 'Bearer error="invalid_token"' }), 'tools/list')
  expect(rejected.hint).toMatch(/^The server rejected the token/)
  expect(toFailure(reply(500), 'tools/list').hint).not.toContain('browser')
})

test.each([
  [403, 'Send credentials, or use a name in the option hosts of the server.'],
  [429, 'Try again later.'],
  [502, 'Try again later.'],
  [504, 'Try again later.'],
  [500, 'Look into the log of the server.'],
  [404, 'Check the URL, and what the server expects there.'],
])('the hint of a %s is only about it', (status, hint) => {
  expect(toFailure(reply(status), 'tools/list').hint).toBe(hint)
})

const BUSY = { code: 1001, message: 'too much to do', data: { refusal: { name: 'QUEUE_CAP_EXCEEDED' } } }

test('a server that has too much to do refuses as it would elsewhere, but not what opens a connection', () => {
  const failure = (method: string): unknown =>
    toFailure(reply(503, { 'retry-after': '2' }), method, { id: 1, error: BUSY })
  const common = { refusal: 'QUEUE_CAP_EXCEEDED', retryable: true, retryAfterMs: 2000, data: { status: 503 } }
  expect(failure('tools/call')).toMatchObject({ ...common, message: 'too much to do', code: 1001 })
  for (const method of ['initialize', 'server/discover'])
    expect(failure(method)).toMatchObject({ ...common, kind: 'http_failed' })
})

test.each([
  [429, 'tools/call', true],
  [503, 'tools/call', true],
  [500, 'tools/call', false],
])('a status of %i in answer to %s may be worth another try: %s', (status, method, retryable) => {
  const error = toFailure(reply(status, { 'retry-after': '2' }), method)
  expect(error).toMatchObject({ kind: 'http_failed', data: { status }, retryable, retryAfterMs: 2000 })
})

test('the error of a server with a bad status is reported, and kept', () => {
  const error = toFailure(reply(403), 'tools/call', {
    id: 1,
    error: { code: -32000, message: 'x'.repeat(600) },
  })
  expect(error.message).toMatch(/[^x]x{512}$/)
  expect(error.data).toMatchObject({ status: 403, error: { code: -32000 } })
})

const FORBIDDEN = {
  code: 1014,
  message: '"x" needs the scopes a b; the caller lacks b',
  data: { scopes: ['a', 'b'], refusal: { name: 'AUTHZ_FORBIDDEN' } },
}

test('a caller that lacks scopes gets the same error as over other transports, with what the reply says about them', () => {
  const wwwAuthenticate = 'Bearer error="insufficient_scope", scope="a b"'
  const error = toFailure(reply(403, { 'www-authenticate': wwwAuthenticate }), 'tools/call', {
    id: 1,
    error: FORBIDDEN,
  })
  expect(error).toMatchObject({ kind: 'insufficient_scope', message: FORBIDDEN.message, retryable: false })
  expect(error).toMatchObject({
    code: 1014,
    refusal: 'AUTHZ_FORBIDDEN',
    hint: expect.stringMatching(/scopes/),
  })
  expect(error.data).toMatchObject({ status: 403, scopes: ['a', 'b'], wwwAuthenticate })
})

test('scopes that are no text do not count as such, and make no other error', () => {
  const data = { scopes: [{ toString: 1 }], refusal: { name: 'AUTHZ_FORBIDDEN' } }
  const error = toFailure(reply(403), 'tools/call', { id: 1, error: { ...FORBIDDEN, data } })
  expect(error).toMatchObject({ kind: 'http_failed', refusal: 'AUTHZ_FORBIDDEN' })
})

test.each([
  ['Bearer realm="x", error="insufficient_scope", scope="files:read files:write"', 'files:read files:write'],
  ['Bearer error=insufficient_scope', undefined],
])('the challenge %j of any server means that scopes are missing', (challenge, scope) => {
  const error = toFailure(reply(403, { 'www-authenticate': challenge }), 'tools/call')
  expect(error).toMatchObject({ kind: 'insufficient_scope', data: { status: 403 } })
  expect(error.data?.['scopes']).toEqual(scope?.split(' '))
  expect(error.message).toContain(scope ?? 'needs more scopes')
})

test('a 403 for another reason says that the server does not allow it', () => {
  const error = toFailure(reply(403), 'tools/call')
  expect(error).toMatchObject({ kind: 'http_failed', data: { status: 403 } })
  expect(error.message).toMatch(/does not allow/)
})

test.each([
  ['text/html; charset=utf-8', 'text/html'],
  ['', 'unknown'],
  ['a b/c', 'unknown'],
  [`${'x'.repeat(64)}/${'y'.repeat(64)}`, `${'x'.repeat(64)}/${'y'.repeat(64)}`],
  [`${'x'.repeat(65)}/y`, 'unknown'],
  [`x/${'y'.repeat(65)}`, 'unknown'],
])('a good status without an answer, of the type %j, is said to be %s', (type, shown) => {
  const error = toUseless(reply(200, { 'content-type': type }), 'tools/list')
  expect(error.message).toContain(shown)
})
