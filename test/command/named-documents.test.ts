import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readNamedJson } from '../../src/cli/small-fetch.ts'

type Resolver = NonNullable<Parameters<typeof readNamedJson>[3]>

const { signal } = new AbortController()
const PUBLIC = new URL('https://mcp.example.com/mcp')
const UNREACHED = '93.184.215.14'
const FORBIDDEN = 'it is in a network that the server must not name'

/** Answers with these addresses, one after the other, and the last one again. */
function resolverOf(names: Readonly<Record<string, readonly string[]>>): {
  readonly resolver: Resolver
  readonly asked: string[]
} {
  const asked: string[] = []
  const resolver: Resolver = (name, _, done) => {
    const addresses = names[name] ?? []
    const address = addresses[Math.min(asked.filter((one) => one === name).length, addresses.length - 1)]
    asked.push(name)
    if (address === undefined) (done as (error: Error) => void)(new Error(`ENOTFOUND ${name}`))
    else done(null, [{ address, family: 4 }])
  }
  return { resolver, asked }
}

async function site(
  listener: RequestListener = (_, reply) => void reply.end('{"issuer":"x"}'),
): Promise<{ readonly port: number; connections: () => number }> {
  let count = 0
  const server = createServer(listener)
    .on('connection', () => count++)
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections: () => count }
}

test('a name is resolved once, and the connection goes to the address that was checked', async () => {
  const { port, connections } = await site()
  const { resolver, asked } = resolverOf({ localhost: ['127.0.0.1', '10.0.0.1'] })
  const url = new URL(`http://localhost:${port}/meta`)
  expect(await readNamedJson(url, url, signal, resolver)).toEqual({ issuer: 'x' })
  expect([asked, connections()]).toEqual([['localhost'], 1])
})

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1'])(
  'a public server cannot lead to a name at %s',
  async (address) => {
    const { port, connections } = await site()
    const names = { 'mcp.example.com': [UNREACHED], 'issuer.example': [address] }
    const { resolver, asked } = resolverOf(names)
    const read = readNamedJson(new URL(`https://issuer.example:${port}/`), PUBLIC, signal, resolver)
    await expect(read).rejects.toThrow(FORBIDDEN)
    expect(asked.filter((name) => name === 'issuer.example')).toHaveLength(1)
    expect(connections()).toBe(0)
  },
)

test('a server whose name moves to this computer cannot lead to it', async () => {
  const { port, connections } = await site()
  for (const host of ['127.0.0.1', '[::1]', 'localhost', 'mcp.example.com']) {
    const { resolver } = resolverOf({ 'mcp.example.com': ['127.0.0.1'], localhost: ['127.0.0.1'] })
    const read = (scheme: string): Promise<unknown> =>
      readNamedJson(new URL(`${scheme}://${host}:${port}/`), PUBLIC, signal, resolver)
    await expect(read('https')).rejects.toThrow(FORBIDDEN)
    await expect(read('http')).rejects.toThrow('it is not an https URL')
  }
  expect(connections()).toBe(0)
})

test.each<[string, RequestListener]>([
  ['it answers with status 302', (_, reply) => void reply.writeHead(302, { location: '/other' }).end()],
  ['it is not JSON', (_, reply) => void reply.end('<html>')],
  ['it is not an object', (_, reply) => void reply.end('[]')],
  ['it has more than 200000 bytes', (_, reply) => void reply.end(`"${'x'.repeat(300_000)}"`)],
])('says that %s', async (text, listener) => {
  const url = new URL(`http://127.0.0.1:${(await site(listener)).port}/`)
  await expect(readNamedJson(url, url, signal)).rejects.toThrow(text)
})

test('a document that never ends is given up when the user leaves', async () => {
  const left = new AbortController()
  const { port } = await site((_, reply) => {
    reply.write('{')
    left.abort(new Error('left'))
  })
  const url = new URL(`http://127.0.0.1:${port}/`)
  await expect(readNamedJson(url, url, left.signal)).rejects.toThrow('left')
})
