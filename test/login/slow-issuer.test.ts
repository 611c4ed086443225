import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { connect, createClient } from '../../src/client.ts'
import { failure } from './core-guarded.ts'
import type { LoginIssuer } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { expire, startWorld } from './engine-world.ts'

/** Makes an issuer reply to one path with a byte now and then, and never with the last one. */
function stall(issuer: LoginIssuer, ...paths: readonly string[]): Promise<void> {
  const arrived = new Deferred<void>()
  const drip: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(' ')
    const timer = setInterval(() => response.write(' '), 50)
    response.once('close', () => clearInterval(timer))
    arrived.resolve()
  }
  for (const path of paths) issuer.instead.set(path, drip)
  return arrived.promise
}

const DISCOVERY = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']
const PUSHED = { features: { pushedAuthorizationRequests: { enabled: true } } }

test.each([
  ['the metadata of the issuer', DISCOVERY, 'find the metadata of the issuer', 0],
  ['the registration', ['/reg'], 'register', 0],
  ['the pushed request', ['/request'], 'push the authorization request', 0],
  ['the exchange of the code', ['/token'], 'exchange the code', 1],
])('the clock of a call runs during %s, and the step has a name', async (_, paths, step, logins) => {
  const { server, issuer, login } = await startWorld(PUSHED)
  const arrived = stall(issuer, ...paths)
  const clock = { stops: 0, isStopped: false }
  const pause = (): (() => void) => {
    clock.stops++
    clock.isStopped = true
    return () => void (clock.isStopped = false)
  }
  let current: (() => string | undefined) | undefined
  const during = (name: () => string | undefined): (() => void) => {
    current = name
    return () => (current = undefined)
  }
  const tired = new AbortController()
  const client = openAuth(login(), server.url)
  const call = callTool(client, server.url, 'who', { signal: tired.signal, pause, during })
  call.catch(() => undefined)
  await arrived
  expect(clock).toEqual({ stops: logins, isStopped: false })
  expect(current?.()).toContain(step)
  tired.abort(new Error('the time is over'))
  await expect(call).rejects.toThrow('the time is over')
  expect(current).toBeUndefined()
})

test('the clock of a call runs during a refresh, and the step has a name', async () => {
  const { server, issuer, vault, login, call } = await startWorld()
  await call('who')
  await expire(vault)
  const arrived = stall(issuer, '/token')
  let step: (() => string | undefined) | undefined
  const tired = new AbortController()
  const late = callTool(openAuth(login(), server.url), server.url, 'who', {
    signal: tired.signal,
    pause: () => expect.unreachable(),
    during: (name) => {
      step = name
      return () => undefined
    },
  })
  late.catch(() => undefined)
  await arrived
  expect(step?.()).toContain('use the refresh token')
  tired.abort(new Error('the time is over'))
  await expect(late).rejects.toThrow('the time is over')
})

const LIMITS = { timeout: '2s', total: '4s', recovery: false } as const

test('connecting to a server with a slow issuer times out, and the error names the step', async () => {
  const { server, issuer, login } = await startWorld()
  void stall(issuer, '/token')
  const error = await failure(connect(server.url.href, { auth: login(), ...LIMITS }))
  expect(error).toMatchObject({
    kind: 'timeout',
    message: expect.stringMatching(/ within \d+ ms; the login was at the step: exchange the code at http/),
    data: { step: expect.stringContaining('exchange the code') },
    hint: expect.stringContaining('issuer'),
  })
})

test('a call that waits for a connection whose login is slow times out with the same step', async () => {
  const { server, issuer, login } = await startWorld()
  void stall(issuer, '/token')
  await using client = createClient(server.url.href, { auth: login(), ...LIMITS, timeout: '4s' })
  const error = await failure(client.call('who', {}, { timeout: '2s' }))
  expect(error).toMatchObject({
    kind: 'timeout',
    data: { step: expect.stringContaining('exchange the code') },
  })
  expect(error.message).toMatch(/^tools\/call was not answered within 2000 ms; the login was at/)
})
