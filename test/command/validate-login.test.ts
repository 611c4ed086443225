import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'pierhead'
import { devAuth } from 'pierhead/auth/dev'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { userFolders } from '../../src/cli/user-folders.ts'
import type { Report } from '../../src/validate/result.ts'
import { line, type LineOptions } from './line.ts'

let env: Readonly<Record<string, string>> = {}
let home = ''

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pierhead-validate-login-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  env = { HOME: home, USERPROFILE: home }
})

interface Notes {
  readonly url: string
  readonly ws: string
  /** Ends it. */
  close(): Promise<void>
  /** Options of a line whose user logs in. */
  readonly person: LineOptions
}

/** A server that wants a login. */
async function startNotes(): Promise<Notes> {
  const dev = await devAuth({ port: 0, scopes: ['notes:read'] })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_, ctx) => `You are ${ctx.auth?.sub}.`)
  const { url = '' } = await app.listen({ http: { port: 0 }, ws: true })
  onTestFinished(() => app.close())
  const openPage: LineOptions['openPage'] = async (page) => {
    await fetch(await dev.login(page, { sub: 'alice' }))
  }
  return {
    url,
    ws: url.replace(/^http/, 'ws'),
    close: () => app.close(),
    person: { terminal: true, env, openPage },
  }
}

/** A server in a few lines. */
async function startSmall(listener: RequestListener, port = 0): Promise<string> {
  const server = createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The tokens in the file of the logins. */
function storedTokens(): readonly string[] {
  const file = join(userFolders(env).local ?? '', 'pierhead', 'credentials.json')
  const { entries } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly entries: readonly { readonly credentials: { readonly tokens?: Record<string, string> } }[]
  }
  return entries.flatMap(({ credentials: { tokens = {} } }) => tokens['accessToken'] ?? [])
}

const verdictsOf = ({ outcomes }: Report, is: string): readonly string[] =>
  [...new Set(outcomes.filter((one) => one.is === is).map(({ id }) => id))].toSorted()

test('a protected server without a token is checked in part, and the command says how to go on', async () => {
  const { url } = await startNotes()
  const { code, stdout, stderr } = await line(['validate', url], { env })
  expect(code).toBe(3)
  expect(stderr).toContain('the server requires authorization (status 401)')
  expect(stderr).toContain(`pierhead auth login ${url}`)
  expect(stderr).toContain('PIERHEAD_TOKEN')
  expect(stderr).toContain(`--header 'Authorization: Bearer …'`)
  const report = JSON.parse(stdout) as Report
  expect(verdictsOf(report, 'failed')).toEqual([])
  expect(verdictsOf(report, 'passed')).toEqual(['R270', 'R272', 'R274', 'R279'])
  const unchecked = report.outcomes.filter(({ is }) => is === 'unchecked')
  expect(unchecked.length).toBeGreaterThan(50)
  expect(new Set(unchecked.map(({ found }) => found))).toEqual(new Set(['the server requires a token']))
  const text = await line(['validate', url, '--no-json'], { env })
  expect(text.stdout).toContain('not checked, because the server requires a token')
})

test('a protected server whose metadata are wrong fails without a token', async () => {
  const url = await startSmall((request, response) => {
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true)
      response.setHeader('content-type', 'application/json').end('{"resource":"x"}')
    else response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  })
  const { code, stdout } = await line(['validate', `${url}/mcp`], { env })
  expect(code).toBe(8)
  expect(verdictsOf(JSON.parse(stdout) as Report, 'failed')).toEqual(['R272'])
})

test('a server without metadata may be one of 2025-03-26, or have keys of its own', async () => {
  const url = await startSmall((request, response) => {
    response.writeHead(request.url === '/mcp' ? 401 : 404).end()
  })
  const open = await line(['validate', `${url}/mcp`], { env })
  expect(open.code).toBe(3)
  const report = JSON.parse(open.stdout) as Report
  expect(verdictsOf(report, 'passed')).toEqual(['R270'])
  expect(new Set(report.outcomes.map(({ revision }) => revision))).toEqual(new Set(['2025-03-26']))
  const asked = await line(['validate', `${url}/mcp`, '--target', '2025-11'], { env })
  expect(asked.code).toBe(3)
  expect(verdictsOf(JSON.parse(asked.stdout) as Report, 'failed')).toEqual([])
  expect(verdictsOf(JSON.parse(asked.stdout) as Report, 'absent')).toEqual(['R272', 'R274'])
})

test('a token that the server rejects is named as the reason', async () => {
  const { url } = await startNotes()
  const { code, stdout, stderr } = await line(['validate', url], {
    env: { ...env, PIERHEAD_TOKEN: 'wrong-token' },
  })
  expect(code).toBe(3)
  expect(stderr).toContain('the server rejects the token (status 401)')
  expect(stderr).toContain('put a new one into PIERHEAD_TOKEN')
  expect(stdout + stderr).not.toContain('wrong-token')
})

test('a protected server over WebSocket is not called unreachable', async () => {
  const { ws } = await startNotes()
  const { code, stderr } = await line(['validate', ws], { env })
  expect(code).toBe(3)
  expect(stderr).toContain('the server requires authorization (status 401), so nothing was checked')
})

test('a stored login is used, but not where a check is anonymous or for another host', async () => {
  const { url, ws, person } = await startNotes()
  expect((await line(['auth', 'login', url], person)).code).toBe(0)
  const [token = ''] = storedTokens()
  const seen: { host: string; path: string; authorization: string | undefined }[] = []
  const note = (message: unknown): void => {
    const { headers, url: path = '' } = (message as { readonly request: IncomingMessage }).request
    seen.push({ host: headers.host ?? '', path, authorization: headers.authorization })
  }
  subscribe('http.server.request.start', note)
  const page = join(home, 'report.html')
  const { code, stdout, stderr } = await line(['validate', url, '--report', page], { env })
  unsubscribe('http.server.request.start', note)
  const report = JSON.parse(stdout) as Report
  // Neither refusals nor metadata count as messages.
  expect(verdictsOf(report, 'failed')).toEqual([])
  expect(code).toBe(0)
  expect(verdictsOf(report, 'passed').length).toBeGreaterThan(60)
  expect(verdictsOf(report, 'passed')).toContain('R270')

  const { host } = new URL(url)
  const isOurs = (one: { authorization: string | undefined }): boolean =>
    one.authorization?.includes(token) === true
  const elsewhere = seen.filter((one) => one.host !== host)
  expect(elsewhere.length).toBeGreaterThan(0)
  expect(elsewhere.filter(isOurs)).toEqual([])
  expect(seen.filter((one) => one.path.startsWith('/.well-known/') && isOurs(one))).toEqual([])
  expect(seen.filter(({ path }) => path.includes(token))).toEqual([])
  expect(
    seen.filter(({ path, authorization }) => path === '/mcp' && authorization === undefined),
  ).not.toEqual([])
  for (const text of [stdout, stderr, readFileSync(page, 'utf8')]) expect(text).not.toContain(token)

  const overWs = await line(['validate', ws, '--rule', 'V001', '--target', '2025-11'], { env })
  expect(JSON.parse(overWs.stdout)).toMatchObject({
    places: [{ transport: 'ws', revisions: expect.arrayContaining(['2025-11-25']) }],
  })
}, 90_000)

test('an own header replaces the stored login, and one that cannot be used is left out', async () => {
  const { url, person } = await startNotes()
  expect((await line(['auth', 'login', url], person)).code).toBe(0)
  const own = await line(['validate', url, '-H', 'Authorization: Bearer not-the-stored-one'], { env })
  expect(own.stderr).toContain('the server rejects the token')
  const { stderr } = await line(['auth', 'logout', url], { env })
  expect(stderr).not.toContain('error')
  const { code } = await line(['validate', url, '--rule', 'R270'], { env })
  expect(code).toBe(3)
})

test('a stored login that the server no longer accepts is left out, with the reason', async () => {
  const { url, person, close } = await startNotes()
  expect((await line(['auth', 'login', url], person)).code).toBe(0)
  const [token = ''] = storedTokens()
  await close()
  let count = 0
  const refuse: RequestListener = ({ headers }, response) => {
    if (headers.authorization === `Bearer ${token}`) count++
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  }
  await startSmall(refuse, Number(new URL(url).port))
  const { code, stderr } = await line(['validate', url, '--rule', 'R270'], { env })
  expect(code).toBe(3)
  expect(stderr).toContain('the stored login cannot be used')
  expect(stderr).toContain('the server requires authorization (status 401)')
  // The one time is when the command tried it.
  expect(count).toBe(1)
})

test('paths beside the address may belong to others, so they get only headers of this command line', async () => {
  const seen: string[] = []
  const origin = await startSmall((request, response) => {
    const { authorization, 'x-own': own } = request.headers
    const path = request.url ?? ''
    if (authorization !== undefined) seen.push(`${path} token`)
    if (own !== undefined) seen.push(`${path} own`)
    response.writeHead(404).end()
  })
  const args = ['validate', `${origin}/alice`, '--target', '2025-11', '-H', 'X-Own: yes']
  await line(args, { env: { ...env, PIERHEAD_TOKEN: 'secret-of-alice' } })
  expect(new Set(seen)).toEqual(new Set(['/alice token', '/alice own', '/sse own']))
})
