import { request } from 'node:http'
import { expect, test, vi } from 'vitest'
import { Flow, newClient, openPage, REDIRECT, sendForm, startDev } from './dev-flow.ts'

const ALLOW = ['decision', 'allow'] as const
const ALICE = ['user', 'alice'] as const
const READ = ['scope', 'read'] as const

test('the page shows the client, where it gets the code, the server, the scopes and the users', async () => {
  const dev = await startDev()
  const { response, text } = await openPage(
    new Flow(dev, await newClient(dev, { client_name: 'My <b>app' })).url(),
  )
  expect(response.status).toBe(200)
  for (const part of [
    'My &lt;b&gt;app',
    'http://127.0.0.1:4567',
    'http://127.0.0.1:3000/mcp',
    'Alice',
    'Bob',
  ])
    expect(text).toContain(part)
  expect(text.match(/name="scope"/g)).toHaveLength(2)
  expect(text).toContain('Any program on this computer could pretend to be this client')
  expect(text).not.toContain('<script')
})

test('a client with a redirect elsewhere is not flagged as one of this computer', async () => {
  const dev = await startDev()
  const redirect_uri = 'https://app.example/cb'
  const clientId = await newClient(dev, { redirect_uris: [redirect_uri] })
  const { text } = await openPage(new Flow(dev, clientId).url({ redirect_uri }))
  expect(text).not.toContain('Any program on this computer')
  expect(text).toContain('https://app.example')
})

test('no other page can show the login page in a frame, and nothing is cached', async () => {
  const dev = await startDev()
  const { response } = await openPage(new Flow(dev, await newClient(dev)).url())
  const { headers } = response
  expect(headers.get('x-frame-options')).toBe('DENY')
  const policy = headers.get('content-security-policy')?.split('; ')
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]),
  )
  expect(policy).toContain("form-action 'self' http://127.0.0.1:4567")
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax$/)
})

test('the user chooses the scopes', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const response = await sendForm(dev, await openPage(flow.url()), [ALICE, READ, ALLOW])
  expect(response.status).toBe(303)
  const answer = new URL(response.headers.get('location') as string)
  expect(answer.origin + answer.pathname).toBe(REDIRECT)
  const { body } = await flow.exchange(answer.searchParams.get('code') as string)
  expect(body).toMatchObject({ scope: 'read' })
})

test.each<[string, readonly (readonly [string, string])[]]>([
  ['denies', [ALICE, READ, ['decision', 'deny']]],
  ['chooses no scope', [ALICE, ALLOW]],
  ['adds scopes that the client did not ask for', [ALICE, ['scope', 'admin'], ALLOW]],
  ['is unknown', [['user', 'eve'], READ, ALLOW]],
  ['types a name where only listed users may log in', [['other', 'eve'], READ, ALLOW]],
  ['has none of the scopes', [['user', 'bob'], READ, ALLOW]],
])('a user who %s sends the client away with an error', async (_, fields) => {
  const dev = await startDev({ users: ['alice', { sub: 'bob', scopes: ['write'] }] })
  const response = await sendForm(dev, await openPage(new Flow(dev, await newClient(dev)).url()), fields)
  const { searchParams } = new URL(response.headers.get('location') as string)
  expect(Object.fromEntries(searchParams)).toMatchObject({
    error: 'access_denied',
    state: 'abc',
    iss: dev.issuer,
  })
})

test('any name can be typed if no users are listed', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const response = await sendForm(dev, await openPage(flow.url()), [ALICE, ['other', ' carol '], READ, ALLOW])
  const code = new URL(response.headers.get('location') as string).searchParams.get('code') as string
  const { body } = await flow.exchange(code)
  expect(await dev.verify(body['access_token'] as string)).toMatchObject({ auth: { sub: 'carol' } })
})

test('the form is accepted once, in the browser that got the page, and from the page only', async () => {
  const dev = await startDev()
  const url = new Flow(dev, await newClient(dev)).url()
  const page = await openPage(url)
  const other = await openPage(url)
  const fields = [ALICE, READ, ALLOW]
  const attempts = [
    sendForm(dev, { ...page, cookie: '' }, fields),
    sendForm(dev, { ...page, cookie: other.cookie }, fields),
    sendForm(dev, { ...page, ticket: 'guess' }, fields),
    sendForm(dev, page, fields, { origin: 'https://evil.example' }),
    sendForm(dev, page, fields, { origin: 'null' }),
    sendForm(dev, page, fields, { 'sec-fetch-site': 'cross-site' }),
    sendForm(dev, page, fields, { 'sec-fetch-site': 'same-site' }),
  ]
  for (const attempt of attempts) {
    const response = await attempt
    expect(response.status).toBe(403)
    expect(response.headers.get('location')).toBeNull()
  }
  expect((await sendForm(dev, page, fields)).status).toBe(303)
  expect((await sendForm(dev, page, fields)).status).toBe(403)
})

test('the page expires', async () => {
  const dev = await startDev()
  const page = await openPage(new Flow(dev, await newClient(dev)).url())
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_001 })
  const response = await sendForm(dev, page, [ALICE, READ, ALLOW])
  vi.useRealTimers()
  expect(response.status).toBe(403)
})

test('two pages can be open in one browser', async () => {
  const dev = await startDev()
  const url = new Flow(dev, await newClient(dev)).url()
  const first = await openPage(url)
  const second = await fetch(url, { headers: { cookie: first.cookie } })
  expect(second.headers.get('set-cookie')).toContain(first.cookie)
  expect((await sendForm(dev, first, [ALICE, READ, ALLOW])).status).toBe(303)
})

test('names of other sites that resolve to this computer are rejected', async () => {
  const dev = await startDev()
  const { port } = new URL(dev.issuer)
  const statusFor = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', path: '/jwks', headers: { host } }
      request(options, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
  expect(await statusFor(`evil.example:${port}`)).toBe(404)
  expect(await statusFor('127.0.0.1')).toBe(404)
  expect(await statusFor(`localhost:${port}`)).toBe(200)
})
