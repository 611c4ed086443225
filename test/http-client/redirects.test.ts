import { expect, test } from 'vitest'
import { ask, json, open, result, serve } from './peer.ts'

test('a redirect to another origin is not followed, and named without its query [C.redirect]', async () => {
  const other = await serve(({ message }, response) => json(response, result(message.id)))
  for (const status of [301, 302, 303, 307, 308]) {
    const peer = await serve((_, response) =>
      response.writeHead(status, { location: `${other.url}?token=secret` }).end(),
    )
    const { line } = await open(peer.url, { headers: { authorization: 'Bearer t' } })
    const error = await ask(line, 'ping').catch((thrown: unknown) => thrown as Error)
    expect(error).toMatchObject({ kind: 'http_failed', data: { status, location: other.url } })
    expect((error as Error).message).toContain(other.url)
    expect((error as Error).message).not.toContain('secret')
  }
  expect(other.seen).toEqual([])
})

test('a redirect to a link-local address or to no URL fails cleanly [C.redirect-meta]', async () => {
  for (const location of [
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
    'http://[',
    '//',
  ]) {
    const peer = await serve((_, response) => response.writeHead(307, { location }).end())
    const { line } = await open(peer.url)
    await expect(ask(line, 'ping')).rejects.toMatchObject({ kind: 'http_failed' })
  }
})

test('a redirect within the origin repeats the request, at most three times', async () => {
  const peer = await serve(({ url, message }, response) => {
    const hop = Number(/\d$/.exec(url)?.[0] ?? 0)
    if (hop < Number(message.method))
      response.writeHead(hop % 2 ? 307 : 308, { location: `/mcp${hop + 1}` }).end()
    else json(response, result(message.id))
  })
  const { line } = await open(peer.url)
  expect((await ask(line, '3')).result).toEqual({ done: true })
  expect(peer.seen.map(({ url }) => url)).toEqual(['/mcp', '/mcp1', '/mcp2', '/mcp3'])
  expect(new Set(peer.seen.map(({ body }) => body)).size).toBe(1)
  await expect(ask(line, '4')).rejects.toMatchObject({ kind: 'http_failed' })
})

test('a redirect that would lose the body is not followed', async () => {
  const peer = await serve((_, response) => response.writeHead(302, { location: '/elsewhere' }).end())
  const { line } = await open(peer.url)
  await expect(ask(line, 'ping')).rejects.toMatchObject({ kind: 'http_failed', data: { status: 302 } })
  expect(peer.seen.length).toBe(1)
})

test('where redirects are hidden, and where a fetch of the caller followed one, the request fails', async () => {
  const hidden = (): Promise<Response> =>
    Promise.resolve(Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' }))
  const { line } = await open('http://127.0.0.1/mcp', { fetch: hidden })
  await expect(ask(line, 'ping')).rejects.toMatchObject({ kind: 'http_failed', data: { status: 0 } })

  const other = await serve(({ message }, response) => json(response, result(message.id)))
  const peer = await serve((_, response) => response.writeHead(307, { location: other.url }).end())
  const follows: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'follow' })
  const { line: second } = await open(peer.url, { fetch: follows })
  await expect(ask(second, 'ping')).rejects.toMatchObject({
    kind: 'http_failed',
    data: { location: other.url },
  })
})
