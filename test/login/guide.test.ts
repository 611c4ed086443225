import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type App } from 'pierhead'
import { oauth, type AuthMethod } from 'pierhead/auth'
import { browser, type ClientAuth } from 'pierhead/auth/client'
import { devAuth, type DevAuth, type DevAuthOptions } from 'pierhead/auth/dev'
import { connect } from 'pierhead/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loginFor, loginWithLink, type Windows } from '../../examples/login/desktop.ts'
import { identityIn } from '../../examples/login/identities.ts'
import { logOut } from '../../examples/login/logout.ts'
import { tokenOf, whoIs, type Session } from '../../examples/login/tokens.ts'
import { configFolder } from '../../src/auth/client/config-folder.ts'
import { serve } from '../auth/serve.ts'
import { newClient } from '../auth/dev-flow.ts'
import { startSmallIssuer, type SmallIssuer } from '../auth/small-issuer.ts'
import { serveTokens } from './grants-context.ts'
import { createClientKey, startRealIssuer } from './grants-issuer.ts'

/** The server of the guide about protecting servers. */
function createNotes(auth: AuthMethod): App {
  return createServer({ name: 'notes', version: '1.0.0', auth, log: () => undefined })
    .tool('whoami', {}, (_, ctx) => `You are ${ctx.auth?.sub}.`)
    .tool('erase', { scopes: ['notes:write'] }, () => 'All notes are gone.') as unknown as App
}

interface Notes {
  readonly url: string
  readonly dev: DevAuth
}

async function startNotes(options: DevAuthOptions = {}): Promise<Notes> {
  const dev = await devAuth({ port: 0, scopes: ['notes:read'], ...options })
  onTestFinished(() => dev.close())
  const app = createNotes(dev)
  const { url } = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  return { dev, url: url as string }
}

/** A home folder of its own, so that nothing of the user is used or changed. */
function newHome(): Readonly<Record<string, string>> {
  const home = mkdtempSync(join(tmpdir(), 'pierhead-login-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  return { HOME: home, XDG_CONFIG_HOME: home, LOCALAPPDATA: home }
}

interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** Runs an example. Each login page that it prints is passed to `onPage`. */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onPage: (page: string) => Promise<unknown> = (page) => Promise.reject(new Error(`asks to open ${page}`)),
): Promise<Ended> {
  const [file, ...rest] = args
  const program = ['--import', 'tsx', '--conditions', 'pierhead-source', `examples/login/${file}`, ...rest]
  const child = spawn(process.execPath, program, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [output, errors, seen] = ['', '', 0]
  const pages: Promise<unknown>[] = []
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString()
    const found = [...errors.matchAll(/^ {2}(http\S+)\n/gm)]
    for (const [, page] of found.slice(seen)) pages.push(onPage(page as string))
    seen = found.length
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  await Promise.all(pages)
  return { code, output, errors }
}

/** Lets this process keep its files in another home folder. */
function useHome(home: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(home)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}

/** Logs in as the user would, and lets the browser follow the redirect. */
async function logIn(dev: DevAuth, page: string): Promise<void> {
  const response = await fetch(await dev.login(page, { sub: 'alice' }))
  expect(response.status).toBe(200)
}

async function whoami(url: string, auth: ClientAuth): Promise<unknown> {
  await using notes = await connect(url, { auth })
  return await notes.call('whoami')
}

test('the command-line program logs in once, and again for a tool that needs more', async () => {
  const { url, dev } = await startNotes()
  const home = newHome()
  let logins = 0
  const onPage = (page: string): Promise<void> => {
    logins++
    return logIn(dev, page)
  }
  expect(await run(['cli.ts', url], home, onPage)).toMatchObject({ code: 0, output: 'You are alice.\n' })
  expect(logins).toBe(1)
  expect(await run(['cli.ts', url], home)).toMatchObject({ code: 0, output: 'You are alice.\n', errors: '' })
  expect(await run(['cli.ts', url, 'erase'], home, onPage)).toMatchObject({ output: 'All notes are gone.\n' })
  expect(logins).toBe(2)
})

test('the command-line program says what went wrong', async () => {
  const { url } = await startNotes()
  const denied = async (page: string): Promise<void> => {
    const { searchParams } = new URL(page)
    const answer = new URL(searchParams.get('redirect_uri') as string)
    answer.searchParams.set('error', 'access_denied')
    answer.searchParams.set('state', searchParams.get('state') as string)
    answer.searchParams.set('iss', new URL(page).origin)
    await fetch(answer)
  }
  const { code, output, errors } = await run(['cli.ts', url], newHome(), denied)
  expect([code, output]).toEqual([1, ''])
  expect(errors).toContain('access_denied')
  expect(errors).toContain(`cannot log in to ${url}`)
})

test('CI uses the login of the command-line program, and never asks for one', async () => {
  const { url, dev } = await startNotes()
  const home = newHome()
  const without = { ...home, NOTES_URL: url, NOTES_LOGIN: join(home['HOME'] as string, 'none.json') }
  const failed = await run(['ci.ts'], without)
  expect(failed).toMatchObject({ code: 3, output: '' })
  expect(failed.errors).toContain('storedOnly')
  await run(['cli.ts', url], home, (page) => logIn(dev, page))
  const folder = configFolder(process.platform, home, home['HOME'] as string) as string
  const stored = { ...without, NOTES_LOGIN: join(folder, 'credentials.json') }
  expect(await run(['ci.ts'], stored)).toMatchObject({ code: 0, output: 'You are alice.\n', errors: '' })
})

/** A server for the tokens of an issuer. They name its URL, so it must be known before the issuer is. */
async function serveFor(issuerOf: (resource: string) => Promise<string>): Promise<string> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end()
  const site = await serve((request, response) => listener(request, response))
  onTestFinished(() => site.close())
  const resource = `${site.url}/mcp`
  const app = createNotes(oauth({ issuer: await issuerOf(resource), resource, scopes: ['notes:read'] }))
  onTestFinished(() => app.close())
  listener = app.node()
  return resource
}

test('the service logs in with its key', async () => {
  const key = await createClientKey('ES256')
  const issuer = await startRealIssuer({ keys: [key] })
  onTestFinished(() => issuer.close())
  const url = await serveFor(async () => issuer.url)
  const home = newHome()
  const file = join(home['HOME'] as string, 'key.pem')
  writeFileSync(file, key.pem)
  const env = { ...home, NOTES_URL: url, ISSUER: issuer.url, CLIENT_ID: 'ES256', KEY_FILE: file }
  expect(await run(['service.ts'], env)).toEqual({ code: 0, output: 'You are ES256.\n', errors: '' })
})

test('a workload presents the identity in its file', async () => {
  let issuer: SmallIssuer | undefined
  const url = await serveFor(async (resource) => {
    issuer = await startSmallIssuer(resource)
    return issuer.url
  })
  const { url: trusted, sign, close } = issuer as SmallIssuer
  onTestFinished(close)
  const platform = await startSmallIssuer(trusted)
  onTestFinished(() => platform.close())
  const identity = await platform.sign({ sub: 'reports' }, { typ: 'JWT' })
  const { metadata } = serveTokens(issuer as SmallIssuer, async ({ form }) =>
    form.get('assertion') === identity
      ? { body: { access_token: await sign({ sub: 'reports' }), token_type: 'Bearer' } }
      : { status: 400, body: { error: 'invalid_grant' } },
  )
  ;(issuer as SmallIssuer).metadata = { ...metadata }
  const file = join(newHome()['HOME'] as string, 'identity')
  writeFileSync(file, `${identity}\n`)
  expect(await whoami(url, identityIn(file, trusted))).toBe('You are reports.')
  writeFileSync(file, await platform.sign({ sub: 'other' }))
  await expect(whoami(url, identityIn(file, trusted))).rejects.toMatchObject({ kind: 'login_failed' })
})

test('the desktop app asks the user first', async () => {
  const { url, dev } = await startNotes()
  useHome(newHome())
  const questions: string[] = []
  let answer = false
  const windows: Windows = {
    confirm: async (question) => {
      questions.push(question)
      return answer
    },
    openExternal: (page) => logIn(dev, page),
  }
  await expect(whoami(url, loginFor(windows))).rejects.toMatchObject({ kind: 'login_failed' })
  answer = true
  expect(await whoami(url, loginFor(windows))).toBe('You are alice.')
  expect(questions.at(-1)).toBe(`${new URL(url).host} wants you to log in at ${dev.issuer}. Open the page?`)
  // The next start finds the login.
  const silent: Windows = { confirm: () => expect.fail('asks'), openExternal: () => expect.fail('opens') }
  expect(await whoami(url, loginFor(silent))).toBe('You are alice.')
})

test('the desktop app gets the answer as a link that the system passes to it', async () => {
  const { url, dev } = await startNotes({ redirectSchemes: ['com.example.notes'] })
  useHome(newHome())
  const clientId = await newClient(dev, { redirect_uris: ['com.example.notes:/callback'] })
  let link = ''
  const windows: Windows = {
    confirm: () => expect.fail('asks'),
    openExternal: async (page) => void (link = await dev.login(page, { sub: 'alice' })),
  }
  expect(
    await whoami(
      url,
      loginWithLink(clientId, windows, async () => link),
    ),
  ).toBe('You are alice.')
  expect(link).toMatch(/^com\.example\.notes:\/callback\?/)
})

test('tokens of the program are sent, renewed once, and chosen for each call', async () => {
  const { url, dev } = await startNotes()
  const sessionOf = (sub: string): Session => {
    const renew = (): Promise<string> => dev.token({ sub, scopes: ['notes:read'] })
    return { token: 'expired', renew }
  }
  await using notes = await connect(url, { auth: tokenOf(sessionOf('alice')) })
  expect(await notes.call('whoami')).toBe('You are alice.')
  expect(await whoIs(notes, sessionOf('bob'))).toBe('You are bob.')
  expect(await notes.call('whoami')).toBe('You are alice.')
})

test('a test logs in without a browser', async () => {
  await using dev = await devAuth({ port: 0, scopes: ['notes:read'] })
  const app = createNotes(dev)
  const { url = '' } = await app.listen({ http: { port: 0 } })
  const auth = browser({ open: (page) => dev.login(page, { sub: 'alice' }) })
  await using notes = await connect(url, { auth })
  expect(await notes.call('whoami')).toBe('You are alice.')
  onTestFinished(() => app.close())
  const denied = browser({ open: (page) => dev.login(page, 'deny') })
  await expect(whoami(url, denied)).rejects.toMatchObject({ kind: 'login_failed' })
  const less = browser({
    scopes: ['notes:write'],
    open: (page) => dev.login(page, { sub: 'alice', scopes: ['notes:read'] }),
  })
  await using reader = await connect(url, { auth: less })
  await expect(reader.call('erase')).rejects.toMatchObject({ kind: 'insufficient_scope' })
})

test('a user logs out, and the next connection asks for a login', async () => {
  const { dev, url } = await startNotes()
  let pages = 0
  const auth = browser({
    open: (page) => {
      pages++
      return dev.login(page, { sub: 'alice' })
    },
  })
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  onTestFinished(() => log.mockRestore())
  for (const expected of [1, 2]) {
    await using client = await connect(url, { auth })
    expect(await client.call('whoami')).toBe('You are alice.')
    expect(pages).toBe(expected)
    await logOut(auth, url)
    expect(lines).toHaveLength(expected)
  }
  await logOut(auth, url)
  expect(lines).toHaveLength(2)
})
