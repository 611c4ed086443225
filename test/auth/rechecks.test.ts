import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { bearer, introspection, oauth } from '../../src/auth.ts'
import type { Auth } from '../../src/rpc/call.ts'
import { headed } from '../http/messages.ts'
import { as, callTool, listen, RESOURCE } from './server.ts'
import { createSigningKey, goodClaims, startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const MINUTE = 60_000
let issuer: SmallIssuer
/** How far both clocks are ahead. */
let later: number

beforeEach(async () => {
  issuer = await startSmallIssuer(RESOURCE)
  later = 0
  for (const clock of [Date, performance]) {
    const now = clock.now.bind(clock)
    vi.spyOn(clock, 'now').mockImplementation(() => now() + later)
  }
})
afterEach(() => {
  vi.restoreAllMocks()
  return issuer.close()
})

/** Opens a WebSocket. `ended` resolves with its close code and reason. */
async function openSocket(url: string, token: string): Promise<{ readonly ended: Promise<unknown[]> }> {
  const socket = new WebSocket(url, { headers: as(token) })
  onTestFinished(() => socket.terminate())
  const ended = new Promise<unknown[]>((resolve) =>
    socket.once('close', (code, reason) => resolve([code, String(reason)])),
  )
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return { ended }
}

test('A.rotation a token that was accepted before is rejected after its key was withdrawn', async () => {
  // The clocks stand still, because ten minutes must not be over before the connection is open.
  for (const clock of [Date, performance]) {
    const start = clock.now()
    vi.spyOn(clock, 'now').mockImplementation(() => start + later)
  }
  const { url, ws } = await listen(oauth({ issuer: issuer.url, resource: RESOURCE }))
  const token = await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 86_400 })
  const status = async (): Promise<number> => (await callTool(url, 'who', as(token))).status
  expect(await status()).toBe(200)
  issuer.keys = [(await createSigningKey('next')).jwk]
  later = 9 * MINUTE
  expect(await status()).toBe(200)
  later = 9.99 * MINUTE
  const { ended } = await openSocket(ws, token)
  later = 21 * MINUTE
  expect(await status()).toBe(401)
  expect(await ended).toEqual([4401, 'the token or certificate is no longer accepted'])
})

describe('introspection', () => {
  const INTROSPECT = '/introspect'
  /** The tokens that the issuer does not answer about until the test is over. */
  let held: (() => void)[]
  let asked: number
  let isDown: boolean

  beforeEach(() => {
    held = []
    asked = 0
    isDown = false
    issuer.metadata = { introspection_endpoint: issuer.url + INTROSPECT }
    issuer.instead.set(INTROSPECT, (question, response) => {
      let text = ''
      question.on('data', (chunk) => (text += String(chunk)))
      question.on('end', () => {
        asked++
        if (isDown) return response.writeHead(500).end()
        const isGood = text.includes('good')
        const answer = JSON.stringify({ ...goodClaims(issuer.url, RESOURCE), active: isGood })
        if (isGood) response.end(answer)
        else held.push(() => response.end(answer))
      })
    })
  })

  const method = (recheck: string): ReturnType<typeof introspection> =>
    introspection({
      issuer: issuer.url,
      resource: RESOURCE,
      clientId: 'server',
      clientSecret: 'secret',
      recheck,
    })

  /** The status of a request from another address. */
  function statusFrom(localAddress: string, port: number, token: string): Promise<number | undefined> {
    const { body, headers } = headed('tools/call', { name: 'who' })
    return new Promise((resolve, reject) => {
      const options = {
        port,
        path: '/mcp',
        method: 'POST',
        localAddress,
        headers: { ...headers, ...as(token) },
      }
      request({ host: '127.0.0.1', ...options }, (response) => {
        resolve(response.statusCode)
        response.resume()
      })
        .once('error', reject)
        .end(body)
    })
  }

  test('a flood of unknown tokens takes nothing from known tokens, nor from other addresses', async () => {
    const { url, port } = await listen(method('1m'))
    expect((await callTool(url, 'who', as('good'))).status).toBe(200)
    const flood = Array.from({ length: 300 }, (_, at) => callTool(url, 'who', as(`unknown-${at}`)))
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(64)
    later = 2 * MINUTE
    expect((await callTool(url, 'who', as('good'))).status).toBe(200)
    expect(await statusFrom('127.0.0.2', port, 'good-too')).toBe(200)
    for (const answer of held) answer()
    for (const { status } of await Promise.all(flood)) expect([401, 503]).toContain(status)
  })

  test('an outage of the issuer does not end streams, while requests get 503', async () => {
    const { url, ws } = await listen(method('1s'))
    const { ended } = await openSocket(ws, 'good')
    isDown = true
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(2)
    expect((await callTool(url, 'who', as('good'))).status).toBe(503)
    isDown = false
    const before = asked
    await expect.poll(() => asked, { timeout: 15_000 }).toBeGreaterThan(before)
    expect((await callTool(url, 'who', as('good'))).status).toBe(200)
    expect(await Promise.race([ended, Promise.resolve('open')])).toBe('open')
  }, 30_000)
})

test.each<readonly [string, Auth, number, string]>([
  ['lost a scope', { sub: 'ann', scopes: ['use'] }, 1013, 'the caller or its scopes changed; connect again'],
  [
    'is somebody else',
    { sub: 'eve', scopes: ['use', 'read'] },
    1013,
    'the caller or its scopes changed; connect again',
  ],
  [
    'lost a scope that every caller needs',
    { sub: 'ann', scopes: ['read'] },
    4401,
    'the token or certificate is no longer accepted',
  ],
])('a connection ends when its caller %s at the next check', async (_, changed, code, reason) => {
  let auth: Auth = { sub: 'ann', scopes: ['use', 'read'] }
  const { ws } = await listen(bearer(() => auth, { recheck: 500, scopes: ['use'] }))
  const { ended } = await openSocket(ws, 'token')
  auth = changed
  expect(await ended).toEqual([code, reason])
})

test('a connection stays open when its caller is the same at the next check', async () => {
  let asked = 0
  const scopes = ['read', 'use']
  const { ws } = await listen(
    bearer(() => (asked++, { sub: 'ann', scopes: scopes.reverse() }), { recheck: 500 }),
  )
  const { ended } = await openSocket(ws, 'token')
  await expect.poll(() => asked, { timeout: 10_000 }).toBe(3)
  expect(await Promise.race([ended, Promise.resolve('open')])).toBe('open')
})
