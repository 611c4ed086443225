import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { loginRate } from '../../src/auth/client/login-rate.ts'
import { devAuth } from '../../src/auth-dev.ts'
import { browser } from '../../src/auth-client.ts'
import { selfSigned } from '../harness/certificates.ts'
import { logIn, record } from './engine-issuer.ts'
import { callTool, openAuth, startProtected } from './engine-server.ts'
import { entryOf, startWorld, type World } from './engine-world.ts'

const NATIVE = {
  client_id: 'desk',
  token_endpoint_auth_method: 'none',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
}

/** Serves a document over HTTPS, as issuers demand of clients. */
async function publish(describe: (url: string) => object): Promise<string> {
  const { key, cert } = selfSigned('localhost', ['localhost', '127.0.0.1'])
  const server = createHttps({ key, cert }, (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(describe(url)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/client.json`
  return url
}

/** The registrations that an issuer receives from now on. */
function recordRegistrations({ issuer }: World): () => readonly unknown[] {
  const received = record(issuer, '/reg')
  return () => received.map(({ body }) => JSON.parse(body) as unknown)
}

test('a client id that was given is used without a registration', async () => {
  const world = await startWorld({ configuration: { clients: [NATIVE] } })
  expect(await world.call('who', { clientId: 'desk' })).toBe('ann notes:read')
  expect(world.issuer.log).toEqual(['grant authorization_code'])
})

test('a client with a secret authenticates with it, also when it refreshes', async () => {
  const secret = 'a secret that is long enough for everyone'
  const client = { ...NATIVE, client_secret: secret, token_endpoint_auth_method: 'client_secret_basic' }
  const world = await startWorld({ configuration: { clients: [client] } })
  const options = { clientId: 'desk', clientSecret: secret, issuer: world.issuer.url }
  await world.call('who', options)
  const [key] = await world.vault.keys()
  await world.vault.update(key as string, async (current) => ({
    ...current,
    tokens: { ...current!.tokens!, expiresAt: 1 },
  }))
  expect(await world.call('who', options)).toBe('ann notes:read')
  expect(world.issuer.log).toEqual(['grant authorization_code', 'grant refresh_token'])
  // The program has the secret already.
  expect(JSON.stringify(await world.vault.read(key as string))).not.toContain(secret)
})

test('a metadata document is the client id where the issuer supports it, and the client registers elsewhere [R281]', async () => {
  const document = await publish((url) => ({
    client_id: url,
    client_name: 'Desk',
    redirect_uris: ['http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'none',
  }))
  const dev = await devAuth({ port: 0, scopes: ['notes:read'] })
  onTestFinished(() => dev.close())
  const server = await startProtected(() => dev)
  dev.listening?.(server.url.href)
  const pages: URL[] = []
  const auth = browser({
    clientMetadataUrl: document,
    open: (page) => {
      pages.push(page)
      return dev.login(page, { sub: 'alice' })
    },
  })
  expect(await callTool(openAuth(auth, server.url), server.url, 'who')).toBe('alice notes:read')
  expect(pages[0]?.searchParams.get('client_id')).toBe(document)

  const world = await startWorld()
  expect(await world.call('who', { clientMetadataUrl: document })).toBe('ann notes:read')
  expect(world.issuer.log).toEqual(['registered', 'grant authorization_code'])
})

test('a registration says whether the client is native or a web site [R286]', async () => {
  const world = await startWorld()
  const received = recordRegistrations(world)
  await world.call('who', { clientName: 'Desk' })
  expect(received()).toEqual([
    {
      client_name: 'Desk',
      redirect_uris: [world.pages[0]?.searchParams.get('redirect_uri')],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
  ])
  const site = await startWorld()
  const ofSite = recordRegistrations(site)
  await site.call('who', { redirectUri: 'https://app.example/callback', open: site.open })
  expect(ofSite()[0]).toMatchObject({
    application_type: 'web',
    redirect_uris: ['https://app.example/callback'],
  })
  const app = await startWorld()
  const ofApp = recordRegistrations(app)
  await app.call('who', { redirectUri: 'com.example.app:/callback', open: app.open })
  expect(ofApp()[0]).toMatchObject({
    application_type: 'native',
    redirect_uris: ['com.example.app:/callback'],
  })
})

test('a client registers once and keeps its id and port', async () => {
  const world = await startWorld()
  await world.call('who')
  await world.call('write')
  expect(world.issuer.log.filter((line) => line === 'registered')).toHaveLength(1)
  const uris = world.pages.map((page) => page.searchParams.get('redirect_uri'))
  expect(uris).toHaveLength(2)
  expect(uris[0]).toBe(uris[1])
})

test('without registration, the error asks for a client id', async () => {
  const world = await startWorld({ features: { registration: { enabled: false } } })
  const error = await world.fail('who')
  expect(error.message).toContain(`${world.issuer.url} does not let clients register themselves`)
  expect(error.message).toContain('option clientId')
  expect(world.pages).toEqual([])
})

test('an error of the registration is shown in one line', async () => {
  const world = await startWorld()
  world.issuer.instead.set('/reg', (_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: 'invalid_client_metadata', error_description: 'no\n\u001b[2Jway' }))
  })
  const [first] = (await world.fail('who')).message.split('\n')
  expect(first).toContain('invalid_client_metadata')
  expect(first).toContain('way')
  expect(first).not.toContain('\u001b')
})

test('a registration with status 200, or whose secret has no expiry, counts as well', async () => {
  const world = await startWorld({ configuration: { clientAuthMethods: ['client_secret_post'] } })
  record(world.issuer, '/reg', async (reply) => {
    const client = (await reply.json()) as Record<string, unknown>
    expect(client['client_secret']).toBeDefined()
    delete client['client_secret_expires_at']
    return Response.json(client)
  })
  expect(await world.call('who')).toBe('ann notes:read')
})

test('a login that is denied keeps its registration, and one that nobody finishes for one more attempt', async () => {
  const world = await startWorld()
  const { log } = world.issuer
  for (let turn = 0; turn < 3; turn++) await world.fail('who', { open: (page) => logIn(page, false) })
  expect(log.filter((line) => line === 'registered')).toHaveLength(1)
  loginRate.reset(`browser ${world.server.url.href}`)
  // The issuer may have forgotten the client, and then never sends the browser back.
  await world.fail('who', { timeout: '20ms', open: () => new Promise(() => undefined) })
  expect(await world.vault.keys()).toEqual([])
  expect(await world.call('who')).toBe('ann notes:read')
  expect(log.filter((line) => line === 'registered')).toHaveLength(2)
})

test('a new registration does not replace that of the tokens before the login succeeds', async () => {
  const world = await startWorld()
  await world.call('who')
  const before = await entryOf(world.vault)
  await world.fail('write', {
    redirectUri: 'https://app.example/callback',
    open: () => {
      throw new Error('no screen')
    },
  })
  expect(world.issuer.log.filter((line) => line === 'registered')).toHaveLength(2)
  const { refused, ...after } = await entryOf(world.vault)
  expect(after).toEqual(before)
  expect(refused).toBeTypeOf('string')
})
