import type { LookupAddress } from 'node:dns'
import type { IncomingMessage, RequestListener } from 'node:http'
import { isIPv6 } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { createSafeFetch } from '../../src/auth/client/safe-fetch.ts'
import type { Resolver } from '../../src/auth/checked-lookup.ts'
import { serve } from '../auth/serve.ts'
import { ANSWERS, HOSTS, SPELLINGS } from './net-addresses.ts'

const PUBLIC = new URL('https://mcp.example.com/mcp')
const LOCAL = new URL('http://localhost:3000/mcp')
const PRIVATE = new URL('https://192.168.7.7/mcp')
const UNREACHED = '93.184.215.14'

/** Answers with these addresses, one list after the other and the last one again; unknown names do not exist. */
function resolverOf(names: Readonly<Record<string, readonly (readonly string[])[]>>): {
  readonly resolver: Resolver
  readonly asked: string[]
} {
  const asked: string[] = []
  const resolver: Resolver = (name, _, done) => {
    const lists = names[name] ?? []
    const list = lists[Math.min(asked.filter((one) => one === name).length, lists.length - 1)]
    asked.push(name)
    if (list === undefined) {
      const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
      return (done as (error: Error) => void)(error)
    }
    done(null, list.map(toAnswer))
  }
  return { resolver, asked }
}

function toAnswer(address: string): LookupAddress {
  return { address, family: isIPv6(address) ? 6 : 4 }
}

async function listen(
  listener: RequestListener = (_, response) => response.end('{}'),
): Promise<{ readonly url: string; readonly port: string; readonly requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const { url, close } = await serve((request, response) => {
    requests.push(request)
    listener(request, response)
  })
  onTestFinished(close)
  return { url, port: new URL(url).port, requests }
}

test.each([...HOSTS, ...SPELLINGS])(
  'C.address-literal a public server cannot lead the client to https://%s',
  async (host) => {
    const { resolver, asked } = resolverOf({ 'mcp.example.com': [[UNREACHED]] })
    const { port, requests } = await listen()
    const safe = createSafeFetch({ server: PUBLIC, resolver })
    await expect(safe(`https://${host}:${port}/x`)).rejects.toThrow('only public addresses over https')
    expect({ requests, asked }).toEqual({ requests: [], asked: ['mcp.example.com'] })
    const own = vi.fn<typeof fetch>()
    const ownSafe = createSafeFetch({ server: PUBLIC, fetch: own, resolver })
    await expect(ownSafe(`https://${host}:${port}/x`)).rejects.toThrow('only public addresses over https')
    expect(own).not.toHaveBeenCalled()
  },
)

test.each(['http://[fe80::1%25eth0]/x', 'http://[::1%25lo]/x', 'https://', 'x'])(
  'C.address-literal %s is not a URL that the client opens',
  async (url) => {
    await expect(createSafeFetch({ server: LOCAL })(url)).rejects.toThrow('is not a URL')
  },
)

test.each(ANSWERS)('C.address-dns a name that resolves to %s is not contacted', async (address) => {
  const { port, requests } = await listen()
  for (const answer of [[address], [UNREACHED, address]]) {
    const { resolver } = resolverOf({ 'mcp.example.com': [[UNREACHED]], 'issuer.example': [answer] })
    const safe = createSafeFetch({ server: PUBLIC, resolver })
    await expect(safe(`https://issuer.example:${port}/x`)).rejects.toThrow('only public addresses over https')
    const own = vi.fn<typeof fetch>()
    const ownSafe = createSafeFetch({ server: PUBLIC, fetch: own, resolver })
    await expect(ownSafe(`https://issuer.example:${port}/x`)).rejects.toThrow('only public addresses')
    expect(own).not.toHaveBeenCalled()
  }
  expect(requests).toEqual([])
})

test.each(ANSWERS)('C.address-changed a name that later resolves to %s is refused then', async (address) => {
  const { port, requests } = await listen()
  const stop = new AbortController()
  const { resolver, asked } = resolverOf({
    'mcp.example.com': [[UNREACHED]],
    'issuer.example': [[UNREACHED], [address]],
  })
  const safe = createSafeFetch({
    server: PUBLIC,
    // The first answer is good, and the connection to it is not needed here.
    resolver: (name, options, done) => {
      if (name === 'issuer.example' && !asked.includes(name)) stop.abort(new Error('stopped'))
      resolver(name, options, done)
    },
  })
  const url = `https://issuer.example:${port}/x`
  await expect(safe(url, { signal: stop.signal })).rejects.toThrow('stopped')
  await expect(safe(url)).rejects.toThrow('only public addresses over https')
  expect({ requests, asked }).toEqual({
    requests: [],
    asked: ['mcp.example.com', 'issuer.example', 'issuer.example'],
  })
})

test('C.address-changed each request resolves once and connects to that answer', async () => {
  const { port, requests } = await listen()
  const { resolver, asked } = resolverOf({ 'issuer.example': [['127.0.0.1'], ['10.0.0.1']] })
  const safe = createSafeFetch({ server: LOCAL, resolver })
  const reply = await safe(`http://issuer.example:${port}/x`)
  expect([await reply.text(), requests.length, asked.length]).toEqual(['{}', 1, 1])
  await expect(safe(`http://issuer.example:${port}/x`)).rejects.toThrow('10.0.0.1')
  expect(requests.length).toBe(1)
})

test.each([...HOSTS, ...SPELLINGS])('C.address-redirect a redirect to %s is not followed', async (host) => {
  const target = await listen()
  for (const scheme of ['http', 'https']) {
    const location = `${scheme}://${host}:${target.port}/x`
    const header = encodeURI(location).replaceAll('%5B', '[').replaceAll('%5D', ']')
    const issuer = await listen((_, response) => response.writeHead(302, { location: header }).end())
    const { resolver, asked } = resolverOf({ localhost: [['127.0.0.1']] })
    for (const own of [undefined, fetch]) {
      const safe = createSafeFetch({ server: LOCAL, resolver, fetch: own })
      const reply = await safe(`${issuer.url}/x`)
      expect([reply.status, reply.headers.get('location')]).toEqual([302, header])
    }
    expect([issuer.requests.length, asked]).toEqual([2, []])
  }
  expect(target.requests).toEqual([])
})

test.each<readonly [URL, string, boolean]>([
  [PUBLIC, 'http://1.1.1.1', false],
  [PUBLIC, 'http://issuer.example', false],
  [PUBLIC, 'https://intranet', false],
  [PUBLIC, 'https://idp.corp.internal', false],
  [PRIVATE, 'https://10.0.0.1', true],
  [PRIVATE, 'https://[fd00::1]', true],
  [PRIVATE, 'https://intranet', true],
  [PRIVATE, 'https://1.1.1.1', true],
  [PRIVATE, 'http://192.168.7.7', false],
  [PRIVATE, 'https://127.0.0.1', false],
  [PRIVATE, 'https://localhost', false],
  [PRIVATE, 'https://169.254.169.254', false],
  [new URL('https://mcp.corp.internal'), 'https://10.0.0.1', true],
  [new URL('wss://mcp.corp.internal'), 'https://10.0.0.1', true],
  [LOCAL, 'http://127.0.0.1', true],
  [LOCAL, 'http://[::1]', true],
  [LOCAL, 'http://localhost', true],
  [LOCAL, 'https://127.0.0.1', true],
  [LOCAL, 'https://1.1.1.1', true],
  [LOCAL, 'http://1.1.1.1', false],
  [LOCAL, 'http://10.0.0.1', false],
  [LOCAL, 'https://10.0.0.1', false],
  [LOCAL, 'https://169.254.169.254', false],
  [new URL('ws://127.0.0.1:1/mcp'), 'http://127.0.0.1', true],
  [new URL('http://[::1]/mcp'), 'http://127.0.0.1', true],
  [new URL('https://169.254.1.1'), 'https://169.254.1.1', false],
  [new URL('https://127.0.0.1.example.com'), 'https://127.0.0.1', false],
])('a server at %s may name %s: %s', async (server, url, isAllowed) => {
  const own = vi.fn<typeof fetch>(async () => new Response('{}'))
  const { resolver } = resolverOf({})
  const reply = createSafeFetch({ server, fetch: own, resolver })(url).then(
    () => true,
    () => false,
  )
  expect([await reply, own.mock.calls.length]).toEqual([isAllowed, isAllowed ? 1 : 0])
})

test('a name that resolves to private addresses makes the server private, and it must stay so', async () => {
  const server = new URL('https://mcp.example.com/mcp')
  const own = vi.fn<typeof fetch>(async () => new Response('{}'))
  const { resolver, asked } = resolverOf({ 'mcp.example.com': [['10.0.0.1'], ['10.0.0.2'], [UNREACHED]] })
  const safe = createSafeFetch({ server, fetch: own, resolver })
  await safe('https://10.9.9.9/x')
  await safe('https://mcp.example.com/x')
  await expect(safe('https://mcp.example.com/x')).rejects.toThrow(UNREACHED)
  expect([own.mock.calls.length, asked.length]).toEqual([2, 3])
})

test.each([
  [['127.0.0.1'], 'http://127.0.0.1'],
  [['10.0.0.1', '93.184.215.14'], 'https://10.0.0.1'],
])('a server whose name resolves to %j counts as public', async (addresses, url) => {
  const { resolver } = resolverOf({ 'mcp.example.com': [addresses] })
  const safe = createSafeFetch({ server: PUBLIC, resolver })
  await expect(safe(url)).rejects.toThrow('only public addresses over https')
  await expect(safe('https://mcp.example.com/x')).rejects.toThrow(addresses[0])
})

test.each([
  'file:///etc/passwd',
  'gopher://127.0.0.1/',
  'javascript:alert(1)',
  'data:application/json,{}',
  'ftp://a.example/',
])('C.oauth-rm-scheme %s is not opened', async (url) => {
  const own = vi.fn<typeof fetch>()
  await expect(createSafeFetch({ server: LOCAL })(url)).rejects.toThrow('http or https')
  await expect(createSafeFetch({ server: LOCAL, fetch: own })(url)).rejects.toThrow('http or https')
  expect(own).not.toHaveBeenCalled()
})

test.each(['me:secret@', 'me@', ':secret@'])('a URL with the credentials %s is refused', async (user) => {
  const { port, requests } = await listen()
  const refused = createSafeFetch({ server: LOCAL })(`http://${user}127.0.0.1:${port}/x`)
  await expect(refused).rejects.toThrow('contains a user name or password')
  await expect(refused).rejects.not.toThrow('secret')
  expect(requests).toEqual([])
})

test('the method, headers and body are sent, and the reply comes back', async () => {
  const seen: string[] = []
  const { url } = await listen((request, response) => {
    request.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
    request.on('end', () => {
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.writeHead(400, { 'content-type': 'application/json', 'dpop-nonce': 'n1' }).end('{"a":"é"}')
    })
    seen.push(
      `${request.method} ${request.url} ${request.headers['content-type']} ${String(request.headers['x-a'])}`,
    )
  })
  for (const own of [undefined, fetch]) {
    seen.length = 0
    const body = new URLSearchParams({ code: 'x y' })
    const reply = await createSafeFetch({ server: LOCAL, fetch: own })(`${url}/token?q=1`, {
      method: 'POST',
      headers: { 'x-a': 'b' },
      body,
    })
    expect(seen).toEqual(['POST /token?q=1 application/x-www-form-urlencoded;charset=UTF-8 b', 'code=x+y'])
    expect([reply.status, reply.headers.get('dpop-nonce'), await reply.json()]).toEqual([
      400,
      'n1',
      { a: 'é' },
    ])
    expect(reply.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  }
})

test('a Request can be given in place of a URL, and replies may be empty', async () => {
  const { url, requests } = await listen((_, response) => response.writeHead(204).end())
  for (const own of [undefined, fetch]) {
    const reply = await createSafeFetch({ server: LOCAL, fetch: own })(
      new Request(`${url}/x`, { method: 'DELETE' }),
    )
    expect([reply.status, await reply.text()]).toEqual([204, ''])
  }
  expect(requests.map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
})

test('a reply of 256 KB is read, and a longer one is an error', async () => {
  const { url } = await listen((request, response) =>
    response.end('x'.repeat(request.url === '/long' ? 262_145 : 262_144)),
  )
  for (const own of [undefined, fetch]) {
    const safe = createSafeFetch({ server: LOCAL, fetch: own })
    expect((await (await safe(`${url}/most`)).text()).length).toBe(262_144)
    await expect(safe(`${url}/long`)).rejects.toThrow('replied with more than 262144 bytes')
  }
})

test('a reply without an end is cut off at the limit', async () => {
  const closed = vi.fn<() => void>()
  const { url } = await listen((_, response) => {
    const write = (): void => {
      while (response.write('x'.repeat(65_536)));
    }
    response.on('drain', write).on('close', closed)
    write()
  })
  for (const own of [undefined, fetch])
    await expect(createSafeFetch({ server: LOCAL, fetch: own })(url)).rejects.toThrow(
      'more than 262144 bytes',
    )
  // Well before the time limit, which would close them as well.
  await expect.poll(() => closed.mock.calls.length, { timeout: 3000 }).toBe(2)
})

test.each(['silent', 'slow'])('a %s server is given up after the time limit', async (kind) => {
  const { url } = await listen((_, response) => {
    if (kind === 'silent') return
    const timer = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(timer))
  })
  for (const own of [undefined, fetch]) {
    const safe = createSafeFetch({ server: LOCAL, fetch: own, timeoutMs: 100 })
    await expect(safe(`${url}/x?code=secret`)).rejects.toThrow(`${url}/x took longer than 100 ms`)
  }
})

test('a name that never resolves, and a fetch that ignores its signal, end at the time limit too', async () => {
  const never: Resolver = () => undefined
  const safe = createSafeFetch({ server: PUBLIC, resolver: never, timeoutMs: 50 })
  await expect(safe('https://issuer.example/x')).rejects.toThrow('took longer than 50 ms')
  const own = createSafeFetch({ server: LOCAL, fetch: () => new Promise(() => undefined), timeoutMs: 50 })
  await expect(own('http://localhost/x')).rejects.toThrow('took longer than 50 ms')
})

test('a caller can abort, and gets its own reason', async () => {
  const stop = new AbortController()
  const reason = new Error('nobody waits')
  const { url, requests } = await listen(() => stop.abort(reason))
  for (const own of [undefined, fetch, undefined]) {
    const reply = createSafeFetch({ server: LOCAL, fetch: own })(url, { signal: stop.signal })
    await expect(reply).rejects.toBe(reason)
  }
  expect(requests.length).toBe(1)
})

test('a compressed reply is an error, since none was asked for', async () => {
  const { url, requests } = await listen((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  )
  await expect(createSafeFetch({ server: LOCAL })(url)).rejects.toThrow('compressed')
  expect(requests[0]?.headers['accept-encoding']).toBe('identity')
})

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'a reply with the header %s is read like any other',
  async (name) => {
    const { url } = await listen((request) =>
      request.socket.end(`HTTP/1.1 200 OK\r\n${name}: x\r\n${name}: y\r\nconnection: close\r\n\r\n{}`),
    )
    const reply = await createSafeFetch({ server: LOCAL })(url)
    expect([reply.headers.get(name), await reply.text()]).toEqual(['x, y', '{}'])
  },
)

test('a reply whose headers cannot be read is an error of the request alone', async () => {
  const { url } = await listen()
  const append = vi.spyOn(Headers.prototype, 'append').mockImplementation(() => {
    throw new TypeError('invalid header')
  })
  onTestFinished(() => append.mockRestore())
  await expect(createSafeFetch({ server: LOCAL })(url)).rejects.toThrow('invalid header')
})

test('a failure names the URL without its query, and the reason', async () => {
  const { url, port } = await listen((request) => request.socket.destroy())
  await expect(createSafeFetch({ server: LOCAL })(`${url}/x?code=secret`)).rejects.toThrow(
    `cannot reach ${url}/x: socket hang up`,
  )
  const { resolver } = resolverOf({})
  await expect(
    createSafeFetch({ server: PUBLIC, resolver })(`https://nowhere.example:${port}/x`),
  ).rejects.toThrow(`cannot reach https://nowhere.example:${port}/x: getaddrinfo ENOTFOUND nowhere.example`)
})

test('with the fetch of the user, names that only it can resolve are left to it', async () => {
  const own = vi.fn<typeof fetch>(async () => new Response('{}'))
  const { resolver } = resolverOf({})
  const reply = await createSafeFetch({ server: PUBLIC, fetch: own, resolver })('https://issuer.example/x')
  expect([await reply.text(), own.mock.calls[0]?.[1]?.redirect]).toEqual(['{}', 'manual'])
})

test('an opaque redirect, as browsers report it, is an error', async () => {
  const own = (async () => Response.error()) as typeof fetch
  const safe = createSafeFetch({ server: LOCAL, fetch: own })
  await expect(safe('http://localhost/x')).rejects.toThrow('replied with a redirect, which is not followed')
})

test('a request that changes something has more time than one for a document', async () => {
  const gaveUp = new Deferred<undefined>()
  const { url } = await listen((request, response) => {
    // The reply to the post comes after the time for a document is over.
    if (request.method === 'POST') void gaveUp.promise.then(() => response.end('done'))
  })
  const safe = createSafeFetch({ server: LOCAL, timeoutMs: 50 })
  const posts = [safe(url, { method: 'POST' }), safe(new Request(url, { method: 'POST' }))]
  await expect(safe(url)).rejects.toThrow('took longer than 50 ms')
  gaveUp.resolve(undefined)
  expect(await Promise.all(posts.map(async (post) => (await post).text()))).toEqual(['done', 'done'])
  const hasty = createSafeFetch({ server: LOCAL, postTimeoutMs: 50 })
  await expect(hasty(`${url}/stuck`, { method: 'PUT' })).rejects.toThrow('took longer than 50 ms')
})
