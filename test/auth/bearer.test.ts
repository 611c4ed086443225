import { describe, expect, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createServer } from '../../src/index.ts'
import { openAuthentication } from '../../src/auth/authentication.ts'
import type { Auth } from '../../src/rpc/call.ts'
import { Leases } from '../../src/rpc/leases.ts'
import type { HttpHead } from '../../src/transport/http/server/parts.ts'
import { as, callTool, listen, reports, textOf } from './server.ts'

describe('the result of verify', () => {
  test('becomes ctx.auth, with all its claims', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 60
    const auth = {
      sub: 'ann',
      scopes: ['a'],
      clientId: 'web',
      issuer: 'https://id.example',
      expiresAt,
      claims: { iat: 1 },
    }
    const { url } = await listen(bearer(() => auth))
    expect(JSON.parse(await textOf(await callTool(url, 'auth', as('x'))))).toEqual(auth)
  })

  test.each([undefined, null, false] as const)('%j rejects the token', async (nothing) => {
    const { url } = await listen(bearer(() => nothing))
    const reply = await callTool(url, 'who', as('x'))
    expect(reply.status).toBe(401)
  })

  test('of a token that has expired is rejected as expired', async () => {
    const { url } = await listen(bearer(() => ({ sub: 'ann', expiresAt: Date.now() / 1000 - 1 })))
    const reply = await callTool(url, 'who', as('x'))
    expect([reply.status, await reply.json()]).toMatchObject([
      401,
      { error: { code: 1012, data: { refusal: { name: 'AUTH_EXPIRED' } } } },
    ])
  })

  test.each<readonly [string, unknown]>([
    ['true', true],
    ['a text', 'ann'],
    ['a list', ['ann']],
    ['a subject that is a number', { sub: 7 }],
    ['scopes in one text', { sub: 'ann', scopes: 'read write' }],
    ['an expiry that is a date', { sub: 'ann', expiresAt: new Date() }],
    ['an expiry that is not a number', { sub: 'ann', expiresAt: Number.NaN }],
  ])('%s is a mistake: nobody gets in, and the log says what to return', async (_, result) => {
    const { url } = await listen(bearer(() => result as Auth))
    reports.length = 0
    const reply = await callTool(url, 'who', as('secret-token'))
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await reply.text()).not.toContain('bearer()')
    expect(reports.join('\n')).toContain(
      'the function passed to bearer() must return { sub, scopes, expiresAt }',
    )
    expect(reports.join('\n')).not.toContain('secret-token')
  })
})

test('the log says that an expiry in milliseconds must be in seconds', async () => {
  const { url } = await listen(bearer(() => ({ sub: 'ann', expiresAt: Date.now() + 60_000 })))
  reports.length = 0
  expect((await callTool(url, 'who', as('x'))).status).toBe(503)
  expect(reports.join('\n')).toContain('returned expiresAt in milliseconds; return seconds')
})

test('A.fails-closed if verify throws, the request gets 503, the log has the error, and the next request tries again', async () => {
  let isDown = true
  const { url } = await listen(
    bearer(async () => {
      if (isDown) throw new Error('the directory is down')
      return { sub: 'ann' }
    }),
  )
  reports.length = 0
  const reply = await callTool(url, 'who', as('secret-token'))
  expect([reply.status, reply.headers.has('www-authenticate')]).toEqual([503, false])
  const { error } = (await reply.json()) as { error: { message: string; data: { refusal: object } } }
  expect(error.message).toBe('the token cannot be verified now')
  expect(error.data.refusal).toMatchObject({ name: 'DEPENDENCY_UNAVAILABLE', retryable: true })
  expect(reports.join('\n')).toMatch(
    /error: a token could not be verified: bearer failed .*the directory is down/,
  )
  expect(reports.join('\n')).not.toContain('secret-token')
  isDown = false
  expect(await textOf(await callTool(url, 'who', as('secret-token')))).toBe('ann')
})

test('verify that does not answer in time gives 503, and the next request asks again', async () => {
  let asked = 0
  const impatient = createServer({
    name: 'x',
    version: '1',
    log: () => undefined,
    limits: { headersMs: 300 },
    auth: bearer(() => (++asked === 1 ? new Promise(() => undefined) : { sub: 'ann' })),
  }).tool('who', {}, () => 'ann')
  const running = await impatient.listen({ http: { port: 0 }, onUncaught: 'exit' })
  const url = running.url as string
  const reply = await callTool(url, 'who', as('x'))
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5'])
  expect((await callTool(url, 'who', as('x'))).status).toBe(200)
  await impatient.close()
})

test('the number of tokens that are being verified is limited', async () => {
  const asked: (() => void)[] = []
  const verify = (): Promise<undefined> => new Promise((resolve) => asked.push(() => resolve(undefined)))
  const { authenticate } = openAuthentication([bearer(verify)], {
    path: undefined,
    leases: new Leases(),
    report: () => undefined,
    verifyMs: 60_000,
  })
  const head = (at: number): HttpHead => ({
    method: 'POST',
    header: (name) => (name === 'authorization' ? `Bearer token-${at}` : undefined),
  })
  const callers = Array.from({ length: 5000 }, async (_, at) => authenticate(head(at)))
  await Promise.race(callers)
  expect(asked).toHaveLength(1024)
  for (const answer of asked) answer()
  const kinds = (await Promise.all(callers)).map((caller) => ('error' in caller ? caller.error.kind : ''))
  expect(kinds.filter((kind) => kind === 'auth_rejected')).toHaveLength(1024)
  expect(kinds.filter((kind) => kind === 'auth_unavailable')).toHaveLength(5000 - 1024)
})

describe('results are kept', () => {
  test('for one minute by default, however many requests come, also at the same time', async () => {
    const asked: string[] = []
    const { url } = await listen(bearer((token) => (asked.push(token), { sub: token })))
    await Promise.all(['a', 'b', 'a', 'b', 'a'].map((token) => callTool(url, 'who', as(token))))
    for (const token of ['a', 'b']) expect(await textOf(await callTool(url, 'who', as(token)))).toBe(token)
    expect(asked.toSorted()).toEqual(['a', 'b'])
  })

  test('not at all with recheck 0', async () => {
    let asked = 0
    const { url } = await listen(bearer(() => (asked++, { sub: 'ann' }), { recheck: 0 }))
    for (let nth = 0; nth < 3; nth++) await callTool(url, 'who', as('a'))
    expect(asked).toBe(3)
  })

  test('but not rejections', async () => {
    let asked = 0
    const { url } = await listen(bearer(() => (++asked < 2 ? undefined : { sub: 'ann' })))
    expect((await callTool(url, 'who', as('a'))).status).toBe(401)
    expect((await callTool(url, 'who', as('a'))).status).toBe(200)
  })
})

test('handlers cannot change the caller that later requests have', async () => {
  const { app, url } = await listen(bearer(() => ({ sub: 'ann', scopes: ['a'] })))
  app.tool('grab', {}, (_, { auth }) => {
    try {
      ;(auth as { sub: string }).sub = 'root'
    } catch {}
    return 'tried'
  })
  await callTool(url, 'grab', as('x'))
  expect(await textOf(await callTool(url, 'who', as('x')))).toBe('ann')
})

test.each<readonly [string, () => unknown, string]>([
  ['no function', () => bearer('secret' as never), 'pass a function that verifies a token'],
  ['an unknown option', () => bearer(() => undefined, { scope: [] } as never), 'did you mean "scopes"?'],
  ['scopes in one text', () => bearer(() => undefined, { scopes: 'a b' } as never), 'scopes must be a list'],
  [
    'a hierarchy of texts',
    () => bearer(() => undefined, { includes: { a: 'b' } } as never),
    'includes must be an object',
  ],
])('%s is an error', (_, create, problem) => {
  expect(create).toThrow(problem)
})

test.each([{}, { active: false }, { error: 'invalid_token' }, { sub: '' }, new Error('no'), new Map()])(
  'a result without a subject is no caller: %o',
  async (found) => {
    const { url } = await listen(bearer(() => found as never))
    expect((await callTool(url, 'who', as('x'))).status).toBe(503)
  },
)
