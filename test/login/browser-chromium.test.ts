import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createServer } from 'pierhead'
import { browser, fileVault } from 'pierhead/auth/client'
import { devAuth } from 'pierhead/auth/dev'
import { connect } from 'pierhead/client'
import { ensureProgram } from '../../tools/programs.ts'
import { startWorld } from './engine-world.ts'

/** Long enough to install the browser where it is missing. */
const SETUP_MS = 660_000

let chrome: Browser

beforeAll(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
  chrome = await chromium.launch({ executablePath: ensureProgram('chromium'), args, headless: true })
}, SETUP_MS)

afterAll(() => chrome?.close())

async function openTab(): Promise<Page> {
  const context = await chrome.newContext()
  onTestFinished(() => context.close())
  // The pages of oidc-provider load a font from elsewhere.
  await context.route(
    ({ hostname }) => hostname !== '127.0.0.1',
    (route) => route.abort(),
  )
  return context.newPage()
}

test('a person logs in with a browser at oidc-provider, and the answer arrives on the loopback port', async () => {
  const { server } = await startWorld()
  const tab = await openTab()
  const auth = browser({
    clientName: 'Desk',
    open: async (page) => {
      await tab.goto(page.href, { waitUntil: 'domcontentloaded' })
      await tab.getByPlaceholder('Enter any login').fill('ann')
      await tab.getByPlaceholder('and password').fill('any')
      await tab.getByRole('button', { name: 'Sign-in' }).click()
      await tab.getByRole('button', { name: 'Continue' }).click()
      await tab.getByText('You can close this window').waitFor()
    },
  })
  await using client = await connect(server.url, { auth })
  expect(await client.call('who', {})).toBe('ann notes:read')
  expect(new URL(tab.url()).pathname).toBe('/callback')
})

test('a person logs in at devAuth, a second process start needs no login, and denied consent is an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vault-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dev = await devAuth({ port: 0, scopes: ['notes'] })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_, ctx) => `${ctx.auth?.sub} ${ctx.auth?.scopes?.join(' ')}`)
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0 } })
  onTestFinished(() => running.close())
  const url = running.url as string
  const vault = (): ReturnType<typeof fileVault> => fileVault({ path: join(folder, 'vault.json') })
  const press =
    (button: string, text: string) =>
    async (page: URL): Promise<void> => {
      // The page of an earlier login may still load others, which would interrupt this one.
      const tab = await openTab()
      await tab.goto(page.href)
      await tab.getByLabel('Bob').check()
      await tab.getByRole('button', { name: button }).click()
      await tab.getByText(text).waitFor()
    }
  const denied = connect(url, { auth: browser({ open: press('Deny', 'did not succeed') }) })
  await expect(denied).rejects.toMatchObject({
    kind: 'login_failed',
    message: expect.stringContaining('access_denied'),
  })
  {
    await using client = await connect(url, {
      auth: browser({ vault: vault(), open: press('Allow', 'close this window') }),
    })
    expect(await client.call('whoami', {})).toBe('bob notes')
  }
  await using later = await connect(url, { auth: browser({ vault: vault(), storedOnly: true }) })
  expect(await later.call('whoami', {})).toBe('bob notes')
})
