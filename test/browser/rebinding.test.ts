import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import { Hono } from 'hono'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createServer, type App, type MountOptions } from '../../src/index.ts'
import { ensureProgram } from '../../tools/programs.ts'
import { headed } from '../http/messages.ts'

/** Long enough to install the browser where it is missing. */
const SETUP_MS = 660_000
/**
 * Two names point to this machine, as they do after an attacker has rebound one. Chromium alone would stop such pages
 * by itself, so that is turned off.
 */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
  '--host-resolver-rules=MAP evil.example 127.0.0.1, MAP mcp.example 127.0.0.1',
]

let browser: Browser

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: ensureProgram('chromium'), args: FLAGS, headless: true })
}, SETUP_MS)

afterAll(() => browser?.close())

interface Marked {
  readonly app: App
  ran: number
}

function marked(): Marked {
  const state = { ran: 0 } as { app: App; ran: number }
  state.app = createServer({ name: 'marked', version: '1', log: () => undefined }).tool('mark', {}, () =>
    String(++state.ran),
  )
  return state
}

type Mount = (app: App, options: MountOptions) => Promise<number>

const MOUNTS: Readonly<Record<string, Mount>> = {
  'app.fetch in Hono': (app, options) => {
    const serve = app.fetchWith(options)
    const site = new Hono()
    site.all('/mcp', (context) => serve(context.req.raw))
    return new Promise((resolve) => {
      const server = serveHono({ fetch: site.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
        resolve(port),
      )
      onTestFinished(() => void server.close())
    })
  },
  'app.node()': async (app, options) => {
    const server = createHttp(app.node(options))
    onTestFinished(() => server.close().closeAllConnections())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
}

/** Opens a page of an origin and calls the tool from there: the status that the page sees, or its error. */
async function callFrom(origin: string, url: string): Promise<unknown> {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body: 'a page' }))
  await page.goto(`${origin}/`)
  const { body, headers } = headed('tools/call', { name: 'mark' })
  const sent = JSON.stringify({ method: 'POST', body, headers })
  return page.evaluate(
    `fetch(${JSON.stringify(url)}, ${sent}).then((reply) => reply.status, (error) => error.name)`,
  )
}

test.each(Object.entries(MOUNTS))(
  'H.origin-rebound %s without hosts rejects a rebound page',
  async (_, mount) => {
    const server = marked()
    const port = await mount(server.app, {})
    const [evil, own] = [`http://evil.example:${port}`, `http://localhost:${port}`]
    expect(await callFrom(evil, `${evil}/mcp`)).toBe(403)
    expect(await callFrom(evil, `${own}/mcp`)).toBe('TypeError')
    expect(server.ran).toBe(0)
    expect(await callFrom(own, `${own}/mcp`)).toBe(200)
    expect(await callFrom(`http://127.0.0.1:${port + 1}`, `${own}/mcp`)).toBe(200)
    expect(server.ran).toBe(2)
  },
)

test.each(Object.entries(MOUNTS))(
  '%s with hosts serves its own pages, and no other port of them',
  async (_, mount) => {
    const server = marked()
    const port = await mount(server.app, { hosts: ['mcp.example'] })
    const own = `http://mcp.example:${port}`
    expect(await callFrom(own, `${own}/mcp`)).toBe(200)
    expect(await callFrom(`http://mcp.example:${port + 1}`, `${own}/mcp`)).toBe('TypeError')
    expect(await callFrom(`http://evil.example:${port}`, `http://evil.example:${port}/mcp`)).toBe(403)
    expect(server.ran).toBe(1)
  },
)

test.each(Object.entries(MOUNTS))('%s with cors serves the listed pages', async (_, mount) => {
  const server = marked()
  const port = await mount(server.app, { cors: ['http://app.example'] })
  const url = `http://localhost:${port}/mcp`
  expect(await callFrom('http://app.example', url)).toBe(200)
  expect(await callFrom('http://app.example:8080', url)).toBe('TypeError')
  expect(server.ran).toBe(1)
})
