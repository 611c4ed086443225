import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import type { Resolver } from '../../src/auth/checked-lookup.ts'
import { LoginProblem, PassingProblem } from '../../src/auth/client/problem.ts'
import { createSafeFetch } from '../../src/auth/client/safe-fetch.ts'
import { createHttpsFetch } from '../../src/transport/http/client/https-fetch.ts'
import { createAuthority } from '../harness/certificates.ts'

test('certificates are checked for the name in the URL, also on this machine', async () => {
  const authority = createAuthority('Issuers authority')
  const { key, cert } = authority.issue('localhost', ['localhost'])
  const server = createServer({ key, cert }, (request, response) => response.end(request.headers.host))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-login-'))
  onTestFinished(async () => {
    rmSync(folder, { recursive: true })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  writeFileSync(join(folder, 'ca.pem'), authority.cert)
  const { port } = server.address() as AddressInfo

  const child = fileURLToPath(new URL('net-tls-child.ts', import.meta.url))
  const urls = [`https://localhost:${port}/`, `https://127.0.0.1:${port}/`]
  const ask = async (env: NodeJS.ProcessEnv): Promise<readonly string[]> => {
    const args = ['--import', 'tsx', '--conditions=pierhead-source', child, ...urls]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } })
    return stdout.trim().split('\n')
  }
  const trusting = await ask({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
  expect(trusting[0]).toBe(`localhost:${port}`)
  expect(trusting[1]).toContain(`cannot reach https://127.0.0.1:${port}/: Hostname/IP does not match`)
  expect(trusting[1]).toContain('use the name that is in its certificate')
  const wary = await ask({})
  expect(wary[0]).toContain(`cannot reach https://localhost:${port}/: `)
  expect(wary[0]).toContain('NODE_EXTRA_CA_CERTS')
})

/** Answers with one address after the other, and then with the last one. */
function resolverOf(...addresses: readonly string[]): Resolver {
  let asked = 0
  return (_, __, done) =>
    done(null, [{ address: addresses[Math.min(asked++, addresses.length - 1)] as string, family: 4 }])
}

test('C.address-changed with TLS options too, the address that is checked is the one that is contacted', async () => {
  const authority = createAuthority('Servers authority')
  const { key, cert } = authority.issue('server', ['localhost', 'mcp.example'])
  const seen: string[] = []
  const server = createServer({ key, cert }, (request, response) => {
    seen.push(`${request.headers.host?.split(':')[0]}${request.url}`)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const open = (host: string): { readonly url: URL; readonly ownFetch: typeof fetch } => {
    const url = new URL(`https://${host}:${port}/mcp`)
    return { url, ownFetch: createHttpsFetch(url, { ca: authority.cert }) }
  }
  const hostile = open('mcp.example')
  const settled = resolverOf('10.0.0.9', '127.0.0.1')
  const { ownFetch } = hostile
  await expect(
    createSafeFetch({ server: hostile.url, ownFetch, resolver: settled })(hostile.url),
  ).rejects.toThrow('which is at "127.0.0.1"')
  expect(seen).toEqual([])

  const own = open('localhost')
  await (await own.ownFetch(own.url)).text()
  const checked = createSafeFetch({
    server: own.url,
    ownFetch: own.ownFetch,
    resolver: resolverOf('127.0.0.1'),
  })
  expect(await (await checked(own.url)).text()).toBe('{}')
  // The connection of the first request is still open, but nobody checked its address.
  const moved = createSafeFetch({ server: own.url, ownFetch: own.ownFetch, resolver: resolverOf('10.0.0.1') })
  await expect(moved(own.url)).rejects.toThrow('which is at "10.0.0.1"')
  expect(seen).toEqual(['localhost/mcp', 'localhost/mcp'])
})

test('a certificate of the server that is not trusted is an error that names the option tls, and does not pass by itself', async () => {
  const [known, unknown] = [createAuthority('One authority'), createAuthority('Another authority')]
  const { key, cert } = unknown.issue('localhost', ['localhost'])
  const server = createServer({ key, cert }, (_, response) => response.end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = new URL(`https://localhost:${(server.address() as AddressInfo).port}/mcp`)
  const ownFetch = createHttpsFetch(url, { ca: known.cert })
  const failure: unknown = await createSafeFetch({ server: url, ownFetch })(url).catch(
    (thrown: unknown) => thrown,
  )
  expect(failure).toBeInstanceOf(LoginProblem)
  expect(failure).not.toBeInstanceOf(PassingProblem)
  expect((failure as Error).message).toContain('tls: { ca }')
})
