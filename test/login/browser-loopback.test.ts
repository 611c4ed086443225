import { once } from 'node:events'
import { request } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openLoopback, type Loopback, type LoopbackPlace } from '../../src/auth/client/loopback.ts'
import { serve } from '../auth/serve.ts'

const STATE = 'the-state-of-this-login'

async function open(place: LoopbackPlace = {}): Promise<Loopback> {
  const loopback = await openLoopback(place)
  onTestFinished(() => loopback.close())
  return loopback
}

function get(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { redirect: 'manual', ...init })
}

test('C.oauth-callback-twice the first request with the state is the answer; then the port is closed', async () => {
  const loopback = await open()
  expect(loopback.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  const answer = loopback.wait(STATE)
  const reply = await get(`${loopback.uri}?code=abc&state=${STATE}&iss=https%3A%2F%2Fid.example`)
  expect(reply.status).toBe(200)
  expect(await reply.text()).toContain('You can close this window')
  expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(reply.headers.get('cache-control')).toBe('no-store')
  expect((await answer).href).toBe(`${loopback.uri}?code=abc&state=${STATE}&iss=https%3A%2F%2Fid.example`)
  await expect.poll(() => get(`${loopback.uri}?code=def&state=${STATE}`).catch(() => 'closed')).toBe('closed')
})

test.each([
  ['another path', (uri: string) => get(uri.replace('/callback', '/other') + `?state=${STATE}&code=a`), 404],
  ['the root', (uri: string) => get(new URL(`/?state=${STATE}&code=a`, uri).href), 404],
  ['another state', (uri: string) => get(`${uri}?state=guess&code=a`), 400],
  ['no state', (uri: string) => get(`${uri}?code=a`), 400],
  ['two states', (uri: string) => get(`${uri}?state=${STATE}&state=x&code=a`), 400],
  ['POST', (uri: string) => get(`${uri}?state=${STATE}&code=a`, { method: 'POST' }), 405],
  ['HEAD', (uri: string) => get(`${uri}?state=${STATE}&code=a`, { method: 'HEAD' }), 405],
])(
  'C.oauth-callback-path C.oauth-state a request with %s is rejected, and the login goes on',
  async (_, send, status) => {
    const loopback = await open()
    const answer = loopback.wait(STATE)
    expect((await send(loopback.uri)).status).toBe(status)
    await get(`${loopback.uri}?code=good&state=${STATE}`)
    expect((await answer).searchParams.get('code')).toBe('good')
  },
)

test('a request for another host is rejected, as a page that rebinds its name would send it', async () => {
  const loopback = await open()
  const answer = loopback.wait(STATE)
  const { port } = new URL(loopback.uri)
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: `/callback?state=${STATE}&code=a`,
        headers: { host: `evil.example:${port}` },
      },
      (reply) => {
        reply.resume()
        resolve(reply.statusCode)
      },
    )
    sent.on('error', reject).end()
  })
  expect(status).toBe(403)
  await get(`${loopback.uri}?code=good&state=${STATE}`)
  expect((await answer).searchParams.get('code')).toBe('good')
})

test('C.oauth-error-text pages repeat nothing of a request', async () => {
  const loopback = await open()
  const answer = loopback.wait(STATE)
  const script = encodeURIComponent('<script>alert(1)</script>')
  const wrong = await get(`${loopback.uri}?state=${script}&error_description=${script}`)
  expect(await wrong.text()).not.toContain('alert')
  const right = await get(`${loopback.uri}?state=${STATE}&error=${script}&error_description=${script}`)
  const text = await right.text()
  expect(text).not.toContain('alert')
  expect(text).toContain('did not succeed')
  expect((await answer).searchParams.get('error')).toBe('<script>alert(1)</script>')
})

test('C.oauth-callback-late before anyone waits, and after the login is over, nothing is accepted', async () => {
  const loopback = await open()
  expect((await get(`${loopback.uri}?code=a&state=${STATE}`)).status).toBe(410)
  const answer = loopback.wait(STATE)
  await get(`${loopback.uri}?code=good&state=${STATE}`)
  expect((await answer).searchParams.get('code')).toBe('good')
  loopback.close()
  await expect(get(`${loopback.uri}?code=a&state=${STATE}`)).rejects.toThrow('fetch failed')
})

test('any number of other requests does not keep the answer away', async () => {
  const loopback = await open()
  const answer = loopback.wait(STATE)
  for (let guess = 0; guess < 120; guess++)
    expect((await get(`${loopback.uri}?state=${guess}&code=a`)).status).toBe(400)
  expect((await get(`${loopback.uri}?state=${STATE}&code=good`)).status).toBe(200)
  expect((await answer).searchParams.get('code')).toBe('good')
})

test('a port that an issuer knows is used again if it is free', async () => {
  const first = await openLoopback({})
  first.close()
  const second = await open({ preferred: [first.uri] })
  expect(second.uri).toBe(first.uri)
  const third = await open({ preferred: [first.uri] })
  expect(third.uri).not.toBe(first.uri)
})

test.each(['127.0.0.1', '127.4.5.6', '[::1]', 'localhost'])(
  'a redirect URI on %s is where the program listens, and nowhere else',
  async (host) => {
    const { url, close } = await serve((_, response) => response.end())
    await close()
    const { port } = new URL(url)
    const loopback = await open({ uri: `http://${host}:${port}/cb` })
    const answer = loopback.wait(STATE)
    expect((await get(`http://${host}:${port}/cb?code=good&state=${STATE}`)).status).toBe(200)
    expect((await answer).href).toBe(`http://${host}:${port}/cb?code=good&state=${STATE}`)
    await expect(get(`http://127.9.9.9:${port}/cb`)).rejects.toThrow('fetch failed')
  },
)

test('the error for a redirect URI whose port is in use says so', async () => {
  const { url, close } = await serve((_, response) => response.end())
  onTestFinished(close)
  await expect(openLoopback({ uri: `${url}/cb` })).rejects.toThrow(
    'its port is in use; choose another redirectUri',
  )
})

test('a link leads to the page once, and only with GET and the right host', async () => {
  const loopback = await open()
  const answer = loopback.wait(STATE)
  const { href } = loopback.linkTo(new URL('https://id.example/authorize?state=abc')).url
  expect(href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}$/)
  expect((await get(href, { method: 'HEAD' })).status).toBe(404)
  expect((await get(href.replace('127.0.0.1', 'localhost'))).status).toBe(403)
  const led = await get(href)
  expect(led.status).toBe(302)
  expect(led.headers.get('location')).toBe('https://id.example/authorize?state=abc')
  expect(led.headers.get('cache-control')).toBe('no-store')
  expect((await get(`${loopback.uri}?state=${STATE}&code=good`)).status).toBe(200)
  expect((await answer).searchParams.get('code')).toBe('good')
})

test('a link that is opened twice fails the login, because somebody else may have the page', async () => {
  const loopback = await open()
  const answer = loopback.wait(STATE)
  const { href } = loopback.linkTo(new URL('https://id.example/authorize?state=abc')).url
  expect((await get(href)).status).toBe(302)
  const second = await get(href)
  expect(second.status).toBe(410)
  expect(second.headers.get('location')).toBeNull()
  await expect(answer).rejects.toThrow('opened twice')
  expect((await get(`${loopback.uri}?state=${STATE}&code=good`)).status).toBe(410)
})

test('a link leads nowhere before the login waits, and after its answer', async () => {
  const loopback = await open()
  const { href } = loopback.linkTo(new URL('https://id.example/')).url
  expect((await get(href)).status).toBe(410)
})

test('C.oauth-crowd connections that send nothing are closed, the oldest first, and the login goes on', async () => {
  const loopback = await open()
  const answer = loopback.wait(STATE)
  const port = Number(new URL(loopback.uri).port)
  const sockets: Socket[] = []
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  const closed: number[] = []
  for (let at = 0; at < 200; at++) {
    const socket = createConnection(port, '127.0.0.1')
    socket.on('close', () => closed.push(at))
    socket.on('error', () => undefined)
    sockets.push(socket)
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\n')
  }
  await expect.poll(() => closed.length).toBe(200 - 64)
  expect(Math.max(...closed)).toBe(200 - 64 - 1)
  expect((await get(`${loopback.uri}?code=good&state=${STATE}`)).status).toBe(200)
  expect((await answer).searchParams.get('code')).toBe('good')
})
