import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ensureProgram } from '../../tools/programs.ts'
import { serveEndless } from '../http-client/endless.ts'
import { target } from '../security/target.ts'
import { dial, echo, serve } from '../tcp/wire.ts'
import type { Failed, Seen } from './page.ts'
import { serveMcp, servePage, type Served } from './server.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/** Long enough to install the browser where it is missing. */
const SETUP_MS = 660_000

let browser: Browser
let page: Page
let home: { readonly origin: string; close(): Promise<void> }
let server: Served
let sent: string[] = []

beforeAll(async () => {
  const executablePath = ensureProgram('chromium')
  home = await servePage()
  server = await serveMcp([home.origin])
  browser = await chromium.launch({ executablePath, args: FLAGS, headless: true })
  page = await browser.newPage()
  page.on('request', (request) => {
    if (request.url() === server.url) sent.push(request.method())
  })
  await page.goto(home.origin)
  await page.waitForFunction('typeof visit === "function"')
}, SETUP_MS)

afterAll(async () => {
  await browser?.close()
  await server?.close()
  await home?.close()
})

const visit = async (...args: readonly string[]): Promise<Seen> => {
  sent = []
  return page.evaluate(`visit(...${JSON.stringify(args)})`)
}

const COMMON = {
  tools: ['add', 'count', 'ask'],
  sum: { sum: 5 },
  refused: expect.stringContaining('arguments of tool "add" are invalid'),
  progress: [1, 2, 3],
  answer: ['Ada', 'Which ship?'],
  change: { kind: 'resource', uri: 'harbour://tide' },
  text: [{ uri: 'harbour://tide', text: 'tide 1' }],
  state: 'closed',
}

test('a client in a browser uses a server on another origin, at the newest revision', async () => {
  expect(await visit(server.url)).toMatchObject({ ...COMMON, revision: '2026-07-28' })
  expect(new Set(sent)).toEqual(new Set(['POST']))
})

test('a client in a browser keeps a session with a stream of its own, and ends it', async () => {
  expect(await visit(server.url, '2025-11-25')).toMatchObject({ ...COMMON, revision: '2025-11-25' })
  expect(new Set(sent)).toEqual(new Set(['POST', 'GET', 'DELETE']))
})

test.each(['2025-11-25', '2026-07-28'])(
  'a client in a browser uses a server over WebSocket at %s',
  async (revision) => {
    expect(await visit(server.ws, revision)).toMatchObject({ ...COMMON, revision })
    expect(sent).toEqual([])
  },
)

test('a page of an origin that the server does not name gets no WebSocket', async () => {
  const stranger = await serveMcp([])
  try {
    const failed: Failed = await page.evaluate(`fail(${JSON.stringify(stranger.ws)})`)
    expect(failed).toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('it must allow the origin of the page'),
    })
  } finally {
    await stranger.close()
  }
})

test('a page of an origin that the server does not name learns why it cannot connect', async () => {
  const stranger = await serveMcp([])
  try {
    const failed: Failed = await page.evaluate(`fail(${JSON.stringify(stranger.url)})`)
    expect(failed).toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('the server must allow the origin of the page'),
    })
  } finally {
    await stranger.close()
  }
})

/** How a page of any origin may send text anywhere without asking. */
const SENDERS = {
  fetch: `(url, body) => fetch(url, { mode: 'no-cors', method: 'POST', body }).catch(String)`,
  'long fetch': `(url, body) =>
    fetch(url, { mode: 'no-cors', method: 'POST', body: body.repeat(1000) }).catch(String)`,
  // A field is sent as its name, "=" and its value; the "=" becomes part of a string.
  form: `(url, body) => new Promise((resolve) => {
    const middle = body.indexOf('"x"') + 1
    const field = { name: body.slice(0, middle), value: body.slice(middle) }
    const form = { action: url, method: 'post', enctype: 'text/plain', target: 'reply' }
    const make = (tag, parts) => Object.assign(document.createElement(tag), parts)
    const reply = make('iframe', { name: 'reply' })
    const sender = make('form', form)
    sender.append(make('textarea', field))
    document.body.append(reply, sender)
    reply.onload = resolve
    sender.submit()
  })`,
} as const

test.each(Object.entries(SENDERS))(
  'L.http a page on another origin cannot run a tool on a TCP port with a %s [R068]',
  async (_, send) => {
    const attacked = target()
    const address = (await serve(attacked.app)).addresses.tcp as string
    const url = address.replace('tcp:', 'http:')
    const call = `${echo('2026-07-28', 7)}\n`
    await page.evaluate(`(${send})(${JSON.stringify(url)}, ${JSON.stringify(call)})`)
    expect(attacked.app.counts.get('parse_failed')).toBeGreaterThan(0)
    const client = await dial(address)
    await client.write(call)
    expect(await client.heard(1)).toMatchObject([{ id: 7, result: {} }])
    expect(attacked.ran).toBe(1)
  },
)

test.each(['comments', 'notifications'])(
  'timers of a page run while a server sends it an endless stream of %s',
  async (data) => {
    const endless = await serveEndless()
    onTestFinished(() => endless.close())
    const url = `${endless.origin}/mcp?get=${data}`
    expect(await page.evaluate(`endure(${JSON.stringify(url)}, 200)`)).toBe('answer')
  },
)
