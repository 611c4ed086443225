import { expect, onTestFinished, test } from 'vitest'
import { browser } from '../../src/auth-client.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { connect } from '../../src/client.ts'
import { LoginProblem, PassingProblem } from '../../src/auth/client/problem.ts'
import { Steps } from '../../src/auth/client/steps.ts'
import { TokenError } from '../../src/auth/client/token-error.ts'
import { serve } from '../auth/serve.ts'
import { loginFailed, testAuth } from './core-auth.ts'
import { guarded } from './core-guarded.ts'

test('watch goes on after a login that failed for a while', async () => {
  const { http, app, valid } = await guarded()
  for (const token of ['anna-1', 'bert-1']) valid.add(token)
  const auth = testAuth('anna-1', (_, times) => {
    if (times < 3) throw Object.assign(loginFailed('the issuer is down'), { retryable: true })
    return 'bert-1'
  })
  await using client = await connect(http, { auth })
  const ready = new Deferred<void>()
  const changes = client.watch({ resources: ['note://mine'], onReady: () => ready.resolve() })
  const next = changes.next()
  await ready.promise
  valid.delete('anna-1')
  void app.revoke({ sub: 'anna' })
  // Changes may have been missed, so the resource counts as changed.
  expect(await next).toMatchObject({ value: { uri: 'note://mine' } })
  expect(auth.asked.renewals).toBe(3)
  await changes.return()
})

test.each<readonly [boolean, Error]>([
  [true, new PassingProblem('cannot reach the issuer')],
  [true, new TokenError('it is busy', { status: 503 })],
  [true, new TokenError('too many requests', { status: 429, code: 'slow_down' })],
  [true, new TokenError('not now', { status: 400, code: 'temporarily_unavailable' })],
  [true, new TokenError('too often', { status: 400, code: 'slow_down' })],
  [true, new TokenError('too slow', { status: 408 })],
  [true, new TokenError('no reply', { cause: new PassingProblem('cannot reach the issuer') })],
  [false, new TokenError('no reply', { cause: new LoginProblem('the address is refused') })],
  [false, new TokenError('rejected', { status: 400, code: 'invalid_grant' })],
  [false, new LoginProblem('the user denied it')],
  [false, new Error('another error')],
])('whether a failed login is worth another attempt is %s: %s', (retryable, thrown) => {
  const error = new Steps(new URL('http://127.0.0.1')).failed(thrown)
  expect(error).toMatchObject({ kind: 'login_failed', retryable })
  // Options are not to blame for an issuer that cannot be reached.
  expect(error.hint.includes('the network')).toBe(retryable)
})

test('an issuer that is down or fails is a problem that passes', async () => {
  let status = 503
  const issuer = await serve((_, response) => response.writeHead(status).end())
  const server = await serve((request, response) => {
    if (request.url?.includes('well-known') === true)
      response.end(JSON.stringify({ resource: `${server.url}/mcp`, authorization_servers: [issuer.url] }))
    else response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  })
  onTestFinished(server.close)
  const fail = (): Promise<unknown> =>
    connect(`${server.url}/mcp`, { auth: browser({ open: false }) }).catch((error: unknown) => error)
  expect(await fail()).toMatchObject({ kind: 'login_failed', retryable: true })
  status = 404
  expect(await fail()).toMatchObject({ kind: 'login_failed', retryable: false })
  await issuer.close()
  expect(await fail()).toMatchObject({ kind: 'login_failed', retryable: true })
})
