import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startSite } from '../../examples/authorization/express.ts'
import {
  both,
  keysOf,
  opaqueTokens,
  tokensOfTheSite,
  withHierarchy,
  yourTokens,
} from '../../examples/authorization/methods.ts'
import { createApiKey, type AuthMethod } from 'pierhead/auth'
import { createServer, type App } from 'pierhead'
import { connect } from 'pierhead/client'
import { as } from './server.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const RESOURCE = 'https://mcp.example/mcp'

/** Starts an example in a process of its own. Returns its URL. */
async function start(file: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const args = ['--import', 'tsx', '--conditions', 'pierhead-source', `examples/authorization/${file}`]
  const env = { ...process.env, PORT: '0', ...more }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return /http\S+/.exec(line.toString())?.[0] as string
}

async function issuerOf(): Promise<SmallIssuer> {
  const issuer = await startSmallIssuer(RESOURCE)
  onTestFinished(() => issuer.close())
  return issuer
}

async function call(url: string, tool: string, token: string): Promise<unknown> {
  await using client = await connect(url, { headers: as(token), recovery: false })
  return await client.call(tool, {})
}

/** What a server with some method says to a caller with a token. */
async function ask(
  auth: AuthMethod | readonly AuthMethod[],
  token: string,
  tool = 'whoami',
): Promise<unknown> {
  const app = createServer({ name: 'notes', version: '1.0.0', auth, log: () => undefined })
    .tool('whoami', {}, (_, ctx) => `You are ${ctx.auth?.sub}.`)
    .tool('erase', { scopes: ['notes:write'] }, () => 'All notes are gone.') as unknown as App
  const { url } = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  return call(url as string, tool, token)
}

test('the development server tells clients where to log in', async () => {
  const url = await start('development.ts')
  const reply = await fetch(url, { method: 'POST', body: '{}' })
  expect(reply.status).toBe(401)
  const challenge = reply.headers.get('www-authenticate') ?? ''
  expect(challenge).toContain('scope="notes:read"')
  const metadata = (await (await fetch(/resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '')).json()) as {
    readonly authorization_servers: readonly string[]
  }
  expect(metadata).toMatchObject({ resource: url })
  const login = await fetch(`${metadata.authorization_servers[0]}/.well-known/oauth-authorization-server`)
  expect(await login.json()).toMatchObject({ code_challenge_methods_supported: ['S256'] })
})

test('the server with a provider serves callers with its tokens', async () => {
  const issuer = await issuerOf()
  const url = await start('server.ts', { ISSUER: issuer.url, RESOURCE })
  const token = await issuer.sign({ sub: 'ann', scope: 'notes:read' })
  expect(await call(url, 'whoami', token)).toBe('You are ann.')
  await expect(call(url, 'erase', token)).rejects.toMatchObject({ kind: 'insufficient_scope' })
  expect(await call(url, 'erase', await issuer.sign({ scope: 'notes:read notes:write' }))).toBe(
    'All notes are gone.',
  )
  await expect(call(url, 'whoami', await issuer.sign({ aud: 'https://other.example' }))).rejects.toThrow(
    '401',
  )
})

test('the other methods of the guide accept their tokens only', async () => {
  const key = createApiKey()
  expect(await ask(await keysOf(key), key)).toBe('You are ann.')
  await expect(ask(await keysOf(key), createApiKey())).rejects.toThrow('401')
  const users = {
    findByToken: async (token: string) => (token === 'k' ? { id: 'bob', scopes: [] } : undefined),
  }
  expect(await ask(yourTokens(users), 'k')).toBe('You are bob.')
  await expect(ask(yourTokens(users), 'other')).rejects.toThrow('401')
  const issuer = await issuerOf()
  const methods = await both(issuer.url, key)
  expect(await ask(methods, key)).toBe('You are backup.')
  const token = await issuer.sign({ sub: 'ann', scope: 'notes:admin notes:read' })
  expect(await ask(methods, token)).toBe('You are ann.')
  expect(await ask(withHierarchy(issuer.url), await issuer.sign({ scope: 'notes:admin' }), 'erase')).toBe(
    'All notes are gone.',
  )
})

test('the server whose tokens name the site accepts these only', async () => {
  const issuer = await issuerOf()
  const method = tokensOfTheSite(issuer.url)
  const token = await issuer.sign({ sub: 'ann', aud: 'https://mcp.example' })
  expect(await ask(method, token)).toBe('You are ann.')
  await expect(ask(method, await issuer.sign({ sub: 'ann', aud: RESOURCE }))).rejects.toThrow('401')
})

test('the server with introspection asks the issuer', async () => {
  const issuer = await issuerOf()
  issuer.metadata = { introspection_endpoint: `${issuer.url}/introspect` }
  issuer.instead.set('/introspect', (request, response) => {
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => {
      const active = new URLSearchParams(body).get('token') === 'opaque'
      const answer = active ? { active, sub: 'ann', aud: RESOURCE, exp: Date.now() / 1000 + 60 } : { active }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  expect(await ask(opaqueTokens(issuer.url, 'secret'), 'opaque')).toBe('You are ann.')
  await expect(ask(opaqueTokens(issuer.url, 'secret'), 'other')).rejects.toThrow('401')
})

test('the site in Express protects MCP only, and has the metadata at both places', async () => {
  const issuer = await issuerOf()
  const site = startSite(issuer.url, 0)
  onTestFinished(() => void site.close())
  await once(site, 'listening')
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  expect(await (await fetch(origin)).text()).toBe('Notes')
  expect((await fetch(`${origin}/mcp`, { method: 'POST' })).status).toBe(401)
  expect(await call(`${origin}/mcp`, 'whoami', await issuer.sign({ sub: 'ann' }))).toBe('You are ann.')
  for (const path of [
    '/.well-known/oauth-protected-resource/mcp',
    '/mcp/.well-known/oauth-protected-resource',
  ]) {
    const document = await (await fetch(origin + path)).json()
    expect(document).toMatchObject({ resource: RESOURCE, authorization_servers: [issuer.url] })
  }
})
