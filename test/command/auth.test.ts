import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'pierhead'
import { devAuth, type DevAuth } from 'pierhead/auth/dev'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { userFolders } from '../../src/cli/user-folders.ts'
import { line, type LineOptions } from './line.ts'

/** The bits of a mode that say what others may do; Windows has none. */
const OTHERS = process.platform === 'win32' ? 0 : 0o077

let env: Readonly<Record<string, string>> = {}
let file = ''

beforeEach(() => {
  const home = mkdtempSync(join(tmpdir(), 'pierhead-auth-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  env = { HOME: home, USERPROFILE: home }
  file = join(userFolders(env).local ?? '', 'pierhead', 'credentials.json')
})

interface Notes {
  readonly url: string
  readonly dev: DevAuth
  /** Options of a line whose user logs in. */
  readonly person: LineOptions
  readonly pages: URL[]
}

/** A server that wants a login. */
async function startNotes(): Promise<Notes> {
  const dev = await devAuth({ port: 0, scopes: ['notes:read'] })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_, ctx) => `You are ${ctx.auth?.sub}.`)
  const { url = '' } = await app.listen({ http: { port: 0 } })
  onTestFinished(() => app.close())
  const pages: URL[] = []
  const openPage: LineOptions['openPage'] = async (page) => {
    pages.push(page)
    await fetch(await dev.login(page, { sub: 'alice' }))
  }
  return { url, dev, pages, person: { terminal: true, env, openPage } }
}

/** The secrets in the file of the logins. */
function secrets(): readonly string[] {
  const { entries } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly entries: readonly { readonly credentials: { readonly tokens?: Record<string, string> } }[]
  }
  return entries.flatMap(({ credentials: { tokens = {} } }) =>
    ['accessToken', 'refreshToken'].flatMap((name) => tokens[name] ?? []),
  )
}

describe('auth', () => {
  it('logs in once; other commands use the login, also without a terminal, until the user logs out', async () => {
    const { url, person, pages } = await startNotes()
    const login = await line(['auth', 'login', url], person)
    expect(login.code).toBe(0)
    expect(login.stdout).toContain('Logged in.')
    expect(pages).toHaveLength(1)
    expect(statSync(file).mode & OTHERS).toBe(0)
    const tokens = secrets()
    expect(tokens.length).toBeGreaterThan(0)

    const again = await line(['auth', 'login', url], person)
    expect(again.stdout).toContain('You were logged in already.')
    const call = await line(['call', url, 'whoami'], { env })
    expect(call.stdout).toContain('You are alice.')
    expect(pages).toHaveLength(1)

    const status = await line(['auth', 'status'], { env })
    const [entry] = JSON.parse(status.stdout).logins
    expect(entry).toMatchObject({ url, resource: url, isLoggedIn: true, scopes: ['notes:read'] })
    expect(Date.parse(entry.expiresAt)).toBeGreaterThan(Date.now())
    const shown = await line(['auth', 'status', url], { env, terminal: true })
    expect(shown.stdout).toContain('scopes    notes:read')
    for (const token of tokens)
      for (const { stdout, stderr } of [login, again, call, status, shown])
        expect(stdout + stderr).not.toContain(token)

    const logout = await line(['auth', 'logout', url], { env, terminal: true })
    expect(logout.code).toBe(0)
    expect(logout.stdout).toContain('removed here')
    expect(secrets()).toEqual([])
    expect(await line(['call', url, 'whoami'], { env })).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('"exit":3'),
    })
    const nothing = await line(['auth', 'logout', '--all'], { env, terminal: true })
    expect(nothing).toMatchObject({ code: 0, stdout: 'There is no login to remove.\n' })
  })

  it('asks for a login in the middle of a command only if a person is there who may be asked', async () => {
    const { url, person, pages } = await startNotes()
    for (const options of [
      { args: [], env },
      { args: ['--stored-auth-only'], ...person },
    ]) {
      const { code, stdout, stderr } = await line(['list', url, ...options.args], options)
      expect({ code, data: stdout.replace(/^\{"error":.*\n/, '') }).toEqual({ code: 3, data: '' })
      expect(stderr).toContain(`pierhead auth login ${url}`)
      expect(stderr).toContain('PIERHEAD_TOKEN')
    }
    const login = await line(['auth', 'login', url], { env })
    expect(login).toMatchObject({ code: 3, stdout: expect.stringContaining('"exit":3') })
    expect(login.stderr).toContain('needs a terminal')
    expect(pages).toHaveLength(0)
    expect((await line(['list', url], person)).stdout).toContain('whoami')
    expect(pages).toHaveLength(1)
  })

  it('prefers PIERHEAD_TOKEN and an Authorization header, and never prints them', async () => {
    const { url, dev, pages } = await startNotes()
    const token = await dev.token({ sub: 'bob', resource: url })
    const named = await line(['call', url, 'whoami'], { env: { ...env, PIERHEAD_TOKEN: token } })
    expect(named.stdout).toContain('You are bob.')
    const header = await line(['call', url, 'whoami', '-H', `Authorization: Bearer ${token}`], { env })
    expect(header.stdout).toContain('You are bob.')
    const wrong = await line(['call', url, 'whoami'], { env: { ...env, PIERHEAD_TOKEN: `${token}x` } })
    expect(wrong.code).toBe(3)
    const status = await line(['auth', 'status'], { env: { ...env, PIERHEAD_TOKEN: token } })
    expect(JSON.parse(status.stdout)).toMatchObject({ hasToken: true, logins: [] })
    for (const { stdout, stderr } of [named, header, wrong, status])
      expect(stdout + stderr).not.toContain(token)
    expect(pages).toHaveLength(0)
  })

  it('lets an Authorization header win over PIERHEAD_TOKEN, from the line or from a configuration', async () => {
    const { url, dev } = await startNotes()
    const authorization = `Bearer ${await dev.token({ sub: 'bob', resource: url })}`
    const other = await dev.token({ sub: 'carol', resource: url })
    const cwd = env['HOME'] ?? ''
    const entry = { url, headers: { authorization } }
    writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { notes: entry } }))
    for (const words of [
      [url, 'whoami', '-H', `Authorization: ${authorization}`],
      ['notes', 'whoami'],
    ]) {
      const { stdout, stderr } = await line(['call', ...words], {
        cwd,
        env: { ...env, PIERHEAD_TOKEN: other },
      })
      expect(stdout + stderr).toContain('You are bob.')
    }
  })

  it('says so if a server does not ask for a login, or the user refuses', async () => {
    const app = createServer({ name: 'open', version: '1.0.0', log: () => undefined })
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    const free = await line(['auth', 'login', url], { terminal: true, env })
    expect(free.stdout).toContain('does not ask for a login')
    const notes = await startNotes()
    const refused = await line(['auth', 'login', notes.url], {
      terminal: true,
      env,
      openPage: () => Promise.reject(new Error('no, thanks')),
    })
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain('no, thanks')
  })

  it.each([
    [['auth', 'login'], 2, 'the url is missing'],
    [['auth', 'login', 'nowhere'], 2, '"nowhere" is not a target'],
    [['auth', 'login', 'tcp://127.0.0.1:1'], 2, 'only servers at http and ws URLs have logins'],
    [['auth', 'logout'], 2, 'the url is missing'],
    [['auth', 'logout', '--all', 'http://127.0.0.1:1/mcp'], 2, 'a url and --all'],
    [['auth', 'lgoin'], 2, 'fix: '],
    [['auth', 'login', 'http://127.0.0.1:1/mcp'], 4, 'cannot connect'],
  ])('ends %j with %i', async (args, code, text) => {
    const outcome = await line(args, { terminal: true, env })
    expect(outcome.stderr).toContain(text)
    expect(outcome.code).toBe(code)
  })

  it('needs a home folder', async () => {
    const { code, stderr } = await line(['auth', 'login', 'http://127.0.0.1:1/mcp'], { terminal: true })
    expect(code).toBe(1)
    expect(stderr).toContain('fix: Set HOME')
    expect((await line(['auth', 'status'])).code).toBe(0)
  })

  it('obeys nothing in the challenge and the metadata of a hostile server, and opens no page of it', async () => {
    const evil = '\u001b]0;owned\u0007\u202e'
    const server = createHttpServer((request, reply) => {
      const { port } = server.address() as AddressInfo
      if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true) {
        reply.setHeader('content-type', 'application/json')
        reply.end(
          JSON.stringify({
            resource: `http://127.0.0.1:${port}/mcp`,
            authorization_servers: [`http://169.254.1.1/${evil}`],
          }),
        )
        return
      }
      reply.writeHead(401, { 'www-authenticate': `Bearer error_description="${'x'.repeat(9000)}"` })
      reply.end(`${evil}${'y'.repeat(100_000)}`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const pages: unknown[] = []
    const { code, stdout, stderr } = await line(['auth', 'login', `http://127.0.0.1:${port}/mcp`], {
      terminal: true,
      env,
      openPage: (page) => void pages.push(page),
    })
    expect({ code, stdout, pages }).toEqual({ code: 3, stdout: '', pages: [] })
    // oxlint-disable-next-line no-control-regex
    expect(stderr.replaceAll('\r\u001b[2K', '')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/)
    expect(stderr.length).toBeLessThan(10_000)
  })
})
