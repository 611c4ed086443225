import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Report } from '../../src/validate/result.ts'
import { splitUrl, urlDoor } from '../../src/validate/door.ts'
import { line } from '../command/line.ts'
import { serveEverywhere, type Served } from './faulty-door.ts'
import type { FaultRequest } from './fault.ts'
import { faultyHttp, type FaultyServer } from './faulty-http.ts'
import { createFixture } from './fixture.ts'

const BASIC = `Basic ${Buffer.from('ann:open sesame').toString('base64')}`
const REFUSED = {
  status: 401,
  headers: { 'www-authenticate': 'Basic realm="x"', 'content-type': 'text/plain' },
  body: 'no',
}

let served: Served
let server: FaultyServer
const seen: FaultRequest[] = []

beforeAll(async () => {
  served = await serveEverywhere(createFixture())
  server = await faultyHttp(served.addresses.http, {
    rule: '',
    does: 'wants a password',
    http(request, next) {
      seen.push(request)
      return request.url.pathname === '/mcp' && request.headers['authorization'] !== BASIC ? REFUSED : next()
    },
  })
})
afterAll(async () => {
  await server.close()
  await served.close()
})

test('a user, a password and a query in the URL go to the address only, and never to another host', async () => {
  const address = new URL(server.url)
  address.username = 'ann'
  address.password = 'open sesame'
  address.search = '?key=secret-key'
  const rules = ['V001', 'R070', 'R071', 'V034', 'R270', 'R272', 'V050'].flatMap((id) => ['--rule', id])
  const { stdout } = await line(['validate', String(address), '--target', '2025-11', ...rules])
  const { outcomes } = JSON.parse(stdout) as Report
  const found = new Map(outcomes.map(({ id, is }) => [id, is]))
  expect([found.get('V001'), found.get('R270'), found.get('V050')]).toEqual(['passed', 'passed', 'passed'])
  expect(stdout).not.toContain('sesame')
  expect(stdout).not.toContain('secret-key')
  const isOurs = ({ headers }: FaultRequest): boolean => headers['host'] === server.url.host
  const [here, elsewhere] = [
    seen.filter((one) => isOurs(one) && one.url.pathname === '/mcp'),
    seen.filter((one) => !isOurs(one) || one.url.pathname !== '/mcp'),
  ]
  const known = here.filter(({ headers }) => headers['authorization'] === BASIC)
  expect(known.length).toBeGreaterThan(0)
  expect(known.every(({ url }) => url.searchParams.get('key') === 'secret-key')).toBe(true)
  expect(here.some(({ headers }) => headers['authorization'] === undefined)).toBe(true)
  const paths = new Set(elsewhere.map(({ url }) => url.pathname))
  const beside = ['/mcp', '/sse', '/gist', '/.well-known/oauth-protected-resource']
  expect(beside.filter((path) => !paths.has(path))).toEqual([])
  expect(elsewhere.filter(({ headers }) => headers['authorization'] !== undefined)).toEqual([])
  expect(elsewhere.filter(({ url }) => url.searchParams.has('key'))).toEqual([])
})

test('a door has no user and password in its address, and a header of the caller wins', () => {
  const url = new URL('ws://ann:open%20sesame@127.0.0.1:1/mcp')
  expect(String(splitUrl(url).url)).toBe('ws://127.0.0.1:1/mcp')
  expect(urlDoor(url, {})).toMatchObject({ headers: { authorization: BASIC } })
  expect(urlDoor(url, { Authorization: 'Bearer x' }).headers).toEqual({ Authorization: 'Bearer x' })
})

test('credentials that are not encoded properly are a mistake of the caller', async () => {
  const { code, stderr } = await line(['validate', 'http://a:%zz@127.0.0.1:1/mcp'])
  expect(code).toBe(2)
  expect(stderr).toContain('is not encoded properly')
  expect(stderr).toContain('%25')
})
