import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createSite } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'pierhead'
import { devAuth } from 'pierhead/auth/dev'
import { expect, it, onTestFinished } from 'vitest'
import { userFolders } from '../../src/cli/user-folders.ts'
import { EVIL, expectJson, expectSafe } from './hostile-text.ts'
import { line } from './line.ts'

interface Stored {
  readonly env: Readonly<Record<string, string>>
  readonly file: string
  readonly text: string
  readonly url: string
}

/** A home with one stored login. */
async function stored(): Promise<Stored> {
  const home = mkdtempSync(join(tmpdir(), 'pierhead-logins-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = { HOME: home, USERPROFILE: home }
  const dev = await devAuth({ port: 0, scopes: ['notes:read'] })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  const { url = '' } = await app.listen({ http: { port: 0 } })
  onTestFinished(() => app.close())
  const { code } = await line(['auth', 'login', url], {
    terminal: true,
    env,
    openPage: async (page) => void (await fetch(await dev.login(page, { sub: 'alice' }))),
  })
  expect(code).toBe(0)
  const file = join(userFolders(env).local ?? '', 'pierhead', 'credentials.json')
  return { env, file, text: readFileSync(file, 'utf8'), url }
}

/** Copies of a value, each with evil text in another one of its texts. */
function* spoilt(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield `${value}${EVIL}`
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value))
    for (const other of spoilt(part))
      yield Array.isArray(value)
        ? value.map((item: unknown, i) => (String(i) === name ? other : item))
        : { ...value, [name]: other }
}

it('auth status and auth logout print nothing raw, whatever servers and issuers had stored', async () => {
  const { env, file, text } = await stored()
  let count = 0
  for (const one of spoilt(JSON.parse(text))) {
    count++
    for (const words of [['status'], ['logout', '--all', '--timeout', '2s']])
      for (const terminal of [true, false]) {
        writeFileSync(file, JSON.stringify(one))
        const outcome = await line(['auth', ...words], { env, terminal })
        expectSafe(outcome)
        if (!terminal) expectJson(outcome, false)
      }
  }
  expect(count).toBeGreaterThan(7)
})

it('auth logout prints nothing raw of an issuer that is hostile, and ends by itself', async () => {
  const { env, file, text, url } = await stored()
  // The key of an entry names the issuer before the servers.
  const [, issuer = ''] = /"key": "\S+ (\S+) /.exec(text) ?? []
  expect(issuer).toMatch(/^http:/)
  let isSilent = false
  const site = createSite((request, reply) => {
    const own = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    if (isSilent) return
    const isMetadata = (request.url ?? '').includes('.well-known')
    const metadata = {
      issuer: own,
      authorization_endpoint: `${own}/authorize`,
      token_endpoint: `${own}/token`,
      revocation_endpoint: `${own}/revoke`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    }
    const answer = isMetadata ? metadata : { error: EVIL, error_description: EVIL }
    reply
      .writeHead(isMetadata ? 200 : 400, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer))
  })
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    site.closeAllConnections()
    site.close()
  })
  const hostile = text.replaceAll(issuer, `http://127.0.0.1:${(site.address() as AddressInfo).port}`)
  for (isSilent of [false, true]) {
    writeFileSync(file, hostile)
    const shown = await line(['auth', 'logout', url, '--timeout', '1s'], { env, terminal: true })
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('not revoked by') })
    expectSafe(shown)
    writeFileSync(file, hostile)
    const piped = await line(['auth', 'logout', url, '--timeout', '1s'], { env })
    expect(JSON.parse(piped.stdout).loggedOut).toMatchObject([{ isRevoked: false }])
    expectSafe(piped)
  }
})
