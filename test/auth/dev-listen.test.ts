import { expect, onTestFinished, test } from 'vitest'
import { createServer, type ListenOptions, type Running } from 'pierhead'
import { apiKeys, bearer, createApiKey, digestApiKey, type AuthMethod } from 'pierhead/auth'
import { devAuth } from 'pierhead/auth/dev'
import { startDev } from './dev-flow.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

async function listen(auth: AuthMethod | readonly AuthMethod[], options: ListenOptions): Promise<Running> {
  const app = createServer({ name: 'notes', version: '1.0.0', auth, log: () => undefined })
  app.tool('whoami', {}, (_input, ctx) => `${ctx.auth?.sub}`)
  const running = await app.listen({ onUncaught: 'exit', ...options })
  onTestFinished(() => running.close())
  return running
}

async function metadataOf(url: string): Promise<unknown> {
  const { origin, pathname } = new URL(url)
  return (await fetch(`${origin}${WELL_KNOWN}${pathname}`)).json()
}

const OPENING = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
}

async function statusOf(url: string, token: string): Promise<number> {
  const headers = { ...OPENING.headers, authorization: `Bearer ${token}` }
  return (await fetch(url, { ...OPENING, headers })).status
}

test('the resource is the URL of the listener', async () => {
  const dev = await startDev()
  const { url } = (await listen(dev, { http: { port: 0 } })) as { url: string }
  expect(await metadataOf(url)).toMatchObject({ resource: url, authorization_servers: [dev.issuer] })
  expect(dev.resource).toBe(url)
  const refused = await fetch(url, OPENING)
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain(`${new URL(url).origin}${WELL_KNOWN}/mcp`)
  expect(await statusOf(url, await dev.token({ sub: 'alice' }))).toBe(200)
  const foreign = await dev.token({ sub: 'alice', resource: 'http://127.0.0.1:3000/mcp' })
  expect(await statusOf(url, foreign)).toBe(401)
})

test('the order of methods does not matter', async () => {
  const dev = await startDev()
  const { url } = (await listen([bearer(() => undefined), dev], { http: { port: 0 } })) as { url: string }
  expect(await metadataOf(url)).toMatchObject({ resource: url, authorization_servers: [dev.issuer] })
  expect(await statusOf(url, await dev.token({ sub: 'alice' }))).toBe(200)
})

test('API keys before it in a list do not change the resource', async () => {
  const dev = await startDev()
  const keys = apiKeys({ digests: { [await digestApiKey(createApiKey())]: { sub: 'backup' } } })
  const { url } = (await listen([keys, dev], { http: { port: 0 } })) as { url: string }
  expect(await metadataOf(url)).toMatchObject({ resource: url, authorization_servers: [dev.issuer] })
  expect((await fetch(url, OPENING)).headers.get('www-authenticate')).toContain(new URL(url).origin)
  expect(await statusOf(url, await dev.token({ sub: 'alice' }))).toBe(200)
})

test('a second server needs a devAuth of its own', async () => {
  const dev = await startDev()
  const { url } = (await listen(dev, { http: { port: 0 } })) as { url: string }
  await expect(listen(dev, { http: { port: 0 } })).rejects.toThrow(
    `devAuth: it protects ${url} already; call devAuth() once for each server`,
  )
  expect(dev.resource).toBe(url)
  expect(await statusOf(url, await dev.token({ sub: 'alice' }))).toBe(200)
})

test('clients do not keep metadata that may change with the next start', async () => {
  const dev = await startDev()
  const { url } = (await listen(dev, { http: { port: 0 } })) as { url: string }
  for (const address of [
    `${new URL(url).origin}${WELL_KNOWN}/mcp`,
    `${dev.issuer}/.well-known/oauth-authorization-server`,
  ])
    expect((await fetch(address)).headers.get('cache-control')).toBe('no-store')
})

test('a resource that is given stays', async () => {
  const resource = 'http://localhost:8080/mcp'
  const dev = await startDev({ resource })
  const { url } = (await listen(dev, { http: { port: 0 } })) as { url: string }
  expect(await metadataOf(url)).toMatchObject({ resource })
  expect(await statusOf(url, await dev.token({ sub: 'alice' }))).toBe(200)
})

test('a WebSocket listener gives the resource in the form of HTTP', async () => {
  const dev = await startDev()
  const { addresses } = await listen(dev, { ws: { port: 0 } })
  expect(dev.resource).toBe(addresses.ws?.replace('ws:', 'http:'))
})

test('a server that other computers can reach is not opened', async () => {
  const dev = await startDev()
  const http = { port: 0, host: '0.0.0.0', hosts: ['mcp.example'] }
  await expect(listen(dev, { http })).rejects.toThrow('devAuth: other computers can reach http://0.0.0.0')
})

test('a revoked token is rejected at once', async () => {
  const dev = await startDev()
  const { url } = (await listen(dev, { http: { port: 0 } })) as { url: string }
  const token = await dev.token({ sub: 'alice' })
  expect(await statusOf(url, token)).toBe(200)
  await dev.revoke(token)
  expect(await statusOf(url, token)).toBe(401)
})

test('a promise, or the function itself, is rejected with the remedy', () => {
  const create = (auth: unknown): unknown =>
    createServer({ name: 'notes', version: '1.0.0', auth: auth as AuthMethod })
  expect(() => create(Promise.resolve())).toThrow('write auth: await devAuth()')
  expect(() => create(devAuth)).toThrow('call it: auth: await devAuth()')
})
