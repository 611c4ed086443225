import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { ensureProgram } from '../../tools/programs.ts'
import { Flow, newClient, serve, startDev } from './dev-flow.ts'

/** Long enough to install the browser where it is missing. */
const SETUP_MS = 660_000

let browser: Browser

beforeAll(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath: ensureProgram('chromium'), args, headless: true })
}, SETUP_MS)

afterAll(() => browser?.close())

async function openTab(): Promise<Page> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  return context.newPage()
}

test('a user logs in with a browser, and the client calls a tool as this user', async () => {
  const dev = await startDev({ scopes: ['notes'] })
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_input, ctx) => `${ctx.auth?.sub} ${ctx.auth?.scopes?.join(' ')}`)
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0 } })
  onTestFinished(() => running.close())
  const url = running.url as string

  const origin = await serve((_request, response) => response.end('<h1>Back in the client</h1>'))
  const redirect_uri = `${origin}/callback`
  const flow = new Flow(
    dev,
    await newClient(dev, { client_name: 'Notes <app>', redirect_uris: [redirect_uri] }),
  )
  const page = await openTab()
  const problems: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  await page.goto(flow.url({ redirect_uri, resource: url, scope: 'notes notes:admin' }))
  expect(await page.textContent('strong')).toBe('Notes <app>')
  await page.getByLabel('Bob').check()
  await page.getByLabel('notes:admin').uncheck()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('Back in the client').waitFor()
  expect(problems).toEqual([])

  const answer = new URL(page.url()).searchParams
  expect(answer.get('state')).toBe('abc')
  const { body } = await flow.exchange(answer.get('code') as string, { redirect_uri, resource: url })
  const headers = { authorization: `Bearer ${String(body['access_token'])}` }
  await using client = await connect(url, { headers })
  expect(await client.call('whoami', {})).toBe('bob notes')
})

test('[A.consent-framed] a page of another site cannot show the login page in a frame', async () => {
  const dev = await startDev()
  const url = new Flow(dev, await newClient(dev)).url()
  const origin = await serve((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`)
  })
  const page = await openTab()
  const refusal = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
  await page.goto(origin)
  await refusal
  const framed = page.frames().at(-1)
  expect(await framed?.evaluate('document.body.innerText')).not.toContain('Log in')
})

test('[A.consent-forged] a page of another site cannot send the form', async () => {
  const dev = await startDev()
  const page = await openTab()
  await page.goto(new Flow(dev, await newClient(dev)).url())
  const ticket = await page.getAttribute('input[name=ticket]', 'value')
  // Even with the ticket and the cookie of the browser, which the other site does not know.
  const origin = await serve((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<form method="post" action="${dev.issuer}/consent"><input name="ticket" value="${ticket}">
      <input name="user" value="alice"><input name="scope" value="read"><button name="decision" value="allow">Go</button></form>`)
  })
  await page.goto(origin)
  await page.getByRole('button', { name: 'Go' }).click()
  await page.getByText('This login cannot continue').waitFor()
  expect(page.url()).toBe(`${dev.issuer}/consent`)
})
