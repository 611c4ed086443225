import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { browser, memoryVault } from '../../src/auth-client.ts'
import { serve } from '../auth/serve.ts'
import { logIn, record, startLoginIssuer, type LoginIssuer } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { entryOf, startWorld } from './engine-world.ts'

/** A server that is never content with the scopes of its callers. */
async function startInsatiable(issuer: LoginIssuer, scopeOf: (attempt: number) => string): Promise<URL> {
  let attempts = 0
  const { url, close } = await serve((request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json')
      return void response.end(
        JSON.stringify({ resource: `${url}/mcp`, authorization_servers: [issuer.url] }),
      )
    }
    const isKnown = request.headers.authorization !== undefined
    if (isKnown) attempts++
    const challenge = isKnown
      ? `Bearer error="insufficient_scope", scope="${scopeOf(attempts)}"`
      : 'Bearer scope="notes:read"'
    response.writeHead(isKnown ? 403 : 401, { 'www-authenticate': challenge }).end()
  })
  onTestFinished(close)
  return new URL(`${url}/mcp`)
}

test('a step up asks for the union of scopes, and a server that is never content is asked at most three times [R283]', async () => {
  const world = await startWorld()
  const client = openAuth(world.login(), world.server.url)
  await callTool(client, world.server.url, 'who')
  expect(await callTool(client, world.server.url, 'write')).toBe('notes:read notes:write')
  expect(new Set(world.issuer.requests[1]?.get('scope')?.split(' '))).toEqual(
    new Set(['notes:read', 'notes:write', 'offline_access']),
  )

  const issuer = await startLoginIssuer()
  const url = await startInsatiable(issuer, () => 'notes:read notes:write')
  const pages: URL[] = []
  const open = (page: URL): Promise<URL> => {
    pages.push(page)
    return logIn(page)
  }
  const hopeless = openAuth(browser({ open }), url)
  await expect(callTool(hopeless, url, 'who')).rejects.toThrow('status 403')
  expect(pages.length).toBeGreaterThan(1)
  expect(pages.length).toBeLessThanOrEqual(3)
  const before = pages.length
  await expect(callTool(hopeless, url, 'who')).rejects.toThrow('status 403')
  expect(pages).toHaveLength(before)
})

test('one call logs in at most three times, also if the server names other scopes each time', async () => {
  const issuer = await startLoginIssuer()
  const url = await startInsatiable(issuer, (attempt) => `notes:write more:${attempt}`)
  let pages = 0
  const auth = browser({
    open: (page) => {
      pages++
      return logIn(page)
    },
  })
  await expect(callTool(openAuth(auth, url), url, 'who')).rejects.toThrow('status 403')
  expect(pages).toBe(3)
})

test('a step up that nobody finishes keeps the login and its registration', async () => {
  const world = await startWorld()
  await world.call('who')
  const before = await entryOf(world.vault)
  const error = await world.fail('write', { timeout: '20ms', open: () => new Promise(() => undefined) })
  expect(error.message).toContain('nobody logged in')
  expect(await entryOf(world.vault)).toEqual(before)
  expect(await world.call('who')).toBe('ann notes:read')
  expect(world.pages).toHaveLength(1)
})

test('a login that nobody finishes keeps what another client stored meanwhile', async () => {
  const world = await startWorld()
  await world.call('who')
  const [key = ''] = await world.vault.keys()
  const login = await world.vault.read(key)
  await world.vault.update(key, async () => ({ registration: login?.registration }))
  const stuck = async (): Promise<undefined> => {
    await world.vault.update(key, async () => login)
    return new Promise(() => undefined)
  }
  await world.fail('who', { timeout: '20ms', open: stuck })
  expect(await entryOf(world.vault)).toEqual(login)
})

test('a step-up tells the program which scopes are new, and whether they were refused before', async () => {
  const issuer = await startLoginIssuer()
  const url = await startInsatiable(issuer, () => 'notes:read notes:write')
  // The issuer grants only what was granted before.
  const partial = record(issuer, '/token', async (reply) => {
    const tokens = (await reply.json()) as object
    return Response.json({ ...tokens, scope: 'notes:read' })
  })
  const stepUps: unknown[] = []
  const vault = memoryVault()
  const login = (): ReturnType<typeof browser> =>
    browser({
      vault,
      open: (page, { stepUp }) => {
        stepUps.push(stepUp)
        return logIn(page)
      },
    })
  const auth = login()
  for (let calls = 0; calls < 3; calls++) {
    const client = openAuth(auth, url)
    await expect(callTool(client, url, 'who')).rejects.toThrow('status 403')
    client.close?.()
  }
  // The issuer is asked once, also by later clients of the method.
  expect(stepUps).toEqual([undefined, { scopes: ['notes:write'], wasRequested: false }])
  // After a restart, the user may tick the scope.
  await expect(callTool(openAuth(login(), url), url, 'who')).rejects.toThrow('status 403')
  expect(stepUps.slice(2)).toEqual([{ scopes: ['notes:write'], wasRequested: true }])
  expect(partial.length).toBe(stepUps.length)
})

test('logins that the user refuses in the program do not count: the next call asks again', async () => {
  const world = await startWorld()
  const client = openAuth(
    world.login({
      open: (page) => {
        world.pages.push(page)
        if (!isWilling) throw new Error('the user does not want to log in')
        return logIn(page)
      },
    }),
    world.server.url,
  )
  let isWilling = true
  await callTool(client, world.server.url, 'who')
  isWilling = false
  for (let times = 0; times < 4; times++)
    await expect(callTool(client, world.server.url, 'write')).rejects.toMatchObject({ kind: 'login_failed' })
  isWilling = true
  expect(await callTool(client, world.server.url, 'write')).toBe('notes:read notes:write')
  expect(world.pages).toHaveLength(6)
})
