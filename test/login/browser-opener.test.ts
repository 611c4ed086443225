import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import {
  commandFor,
  showPage,
  terminalOf,
  type LoginPage,
  type Terminal,
} from '../../src/auth/client/opener.ts'
import { changeMetadata, logIn } from './engine-issuer.ts'
import { startWorld } from './engine-world.ts'

const PLATFORMS: readonly NodeJS.Platform[] = ['linux', 'darwin', 'win32', 'freebsd']

/** Text that does something in one shell or another. */
const NASTY = [
  '$(touch pwned)',
  '`touch pwned`',
  '";touch pwned;"',
  "';touch pwned;'",
  '|calc.exe',
  '^&calc.exe',
  '%COMSPEC%',
  '\\evil',
  '{a,b}',
  '<(x)',
  '*',
]

test.each(PLATFORMS)('[C.oauth-shell] shell syntax in a URL stays part of one argument on %s', (platform) => {
  for (const text of NASTY)
    for (const url of [
      `https://id.example/a?x=${text}`,
      `https://id.example/${text}/b`,
      `https://id.example/#${text}`,
    ]) {
      const { args } = commandFor(new URL(url), platform)
      const page = args.at(-1) as string
      expect(page).toMatch(/^https:\/\/id\.example\/[\w\-.~:/?#[\]@+,=&%]*$/)
      expect(page.startsWith('-')).toBe(false)
    }
})

test.each(PLATFORMS)('[C.oauth-scheme] only web pages without credentials are opened on %s', (platform) => {
  const others = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'ms-msdt:/id',
    'vscode://x',
    'https://bank.example@evil.example/',
  ]
  for (const url of others) expect(() => commandFor(new URL(url), platform)).toThrow('not a web page')
})

test('[C.oauth-scheme] a login page whose URL is too long is never opened, and the error names the limit', async () => {
  const world = await startWorld()
  await changeMetadata(world.issuer, {
    authorization_endpoint: `${world.issuer.url}/auth?${'x'.repeat(9_000)}`,
  })
  const error = await world.fail('who')
  expect(error.message).toMatch(/has 9\d{3} characters, and at most 8192 are opened/)
  expect(error.message.length).toBeLessThan(5_000)
  expect(world.pages).toEqual([])
})

test.each([
  ['javascript:', 'javascript:fetch(1)//'],
  ['file:', 'file:///bin/sh'],
  ['a leading dash', '--evil'],
])('[C.oauth-scheme] an authorization endpoint with %s is never opened', async (_, endpoint) => {
  const world = await startWorld()
  await changeMetadata(world.issuer, { authorization_endpoint: endpoint })
  const error = await world.fail('who')
  expect(error).toMatchObject({ kind: 'login_failed' })
  expect(error.message).toContain('authorization_endpoint')
  expect(world.pages).toEqual([])
})

/** Puts a program in front of all others that writes down its arguments, one in each line. */
function fakeOpener(code = 0): { readonly arguments: () => string | undefined; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'opener-'))
  const file = join(folder, 'arguments')
  writeFileSync(
    join(folder, 'xdg-open'),
    `#!/bin/sh\ncd '${folder}'\nprintf '%s\\n' "$@" > part && mv part arguments\nexit ${code}\n`,
  )
  chmodSync(join(folder, 'xdg-open'), 0o755)
  const { PATH } = process.env
  process.env['PATH'] = `${folder}:${PATH}`
  onTestFinished(() => {
    process.env['PATH'] = PATH
    rmSync(folder, { recursive: true })
  })
  return { folder, arguments: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined) }
}

function terminal(answer?: string): Terminal & { readonly written: string[]; readonly questions: string[] } {
  const written: string[] = []
  const questions: string[] = []
  return {
    isInteractive: answer !== undefined,
    written,
    questions,
    write: (text) => void written.push(text),
    ask(question) {
      questions.push(question)
      return Promise.resolve(answer as string)
    },
  }
}

const LINK = 'http://127.0.0.1:4321/open/once'

function requestOf(url: string): LoginPage['request'] {
  const registration = { clientId: 'desk' }
  return { url: new URL(url), state: 'x', redirectUri: 'http://127.0.0.1:4321/callback', registration }
}

function pageOf(more: Partial<LoginPage> = {}): LoginPage {
  return {
    request: requestOf('https://id.example/authorize?state=$(touch%20pwned)&x=`id`'),
    link: () => ({ url: new URL(LINK), isGuarded: true }),
    server: new URL('https://mcp.example/mcp?key=secret'),
    issuer: 'https://id.example',
    open: undefined,
    signal: new AbortController().signal,
    ...more,
  }
}

const ARGUMENT = `${LINK}\n`

test('[C.oauth-shell] the only argument of the browser is a link that shows nothing of the page', async () => {
  const opener = fakeOpener()
  await showPage(pageOf({ open: true }), terminal())
  await expect.poll(() => opener.arguments()).toBe(ARGUMENT)
  expect(existsSync(join(opener.folder, 'pwned'))).toBe(false)
})

test('[C.oauth-link] where others could open the link, the argument of the browser is a private file with it', async () => {
  const opener = fakeOpener()
  const over = new AbortController()
  onTestFinished(() => over.abort())
  const link = { url: new URL(LINK), isGuarded: false }
  await showPage(pageOf({ open: true, link: () => link, signal: over.signal }), terminal())
  await expect.poll(() => opener.arguments()).toMatch(/^file:\/\/\/\S+\/login\.html\n$/)
  const file = new URL((opener.arguments() as string).trim())
  expect(readFileSync(file, 'utf8')).toContain(LINK)
})

test('without a terminal, the page is printed and nothing is opened', async () => {
  const opener = fakeOpener()
  const screen = terminal()
  await showPage(pageOf(), screen)
  expect(screen.written.join('')).toContain(
    'https://mcp.example/mcp asks you to log in at https://id.example.',
  )
  expect(screen.written.join('')).toContain('https://id.example/authorize?state=')
  expect(screen.written.join('')).not.toContain('secret')
  expect(screen.questions).toEqual([])
  expect(opener.arguments()).toBeUndefined()
})

test.each(['', 'y', 'YES', ' yes '])('on a terminal, the answer %j opens the browser', async (answer) => {
  const opener = fakeOpener()
  const screen = terminal(answer)
  await showPage(pageOf(), screen)
  expect(screen.questions).toHaveLength(1)
  await expect.poll(() => opener.arguments()).toBe(ARGUMENT)
})

test.each(['n', 'no', 'what?'])('on a terminal, the answer %j opens nothing', async (answer) => {
  const opener = fakeOpener()
  await showPage(pageOf(), terminal(answer))
  expect(opener.arguments()).toBeUndefined()
})

test('open: false prints the page without a question', async () => {
  const screen = terminal('y')
  await showPage(pageOf({ open: false }), screen)
  expect(screen.questions).toEqual([])
  expect(screen.written).toHaveLength(1)
})

test('if there is no program to open pages, the user is asked to do it', async () => {
  const { PATH } = process.env
  process.env['PATH'] = '/nowhere'
  onTestFinished(() => void (process.env['PATH'] = PATH))
  const screen = terminal()
  await showPage(pageOf({ open: true }), screen)
  expect(screen.written.at(-1)).toContain('open the page yourself')
})

test('if the program that opens pages fails, the user is asked to open the page', async () => {
  const opener = fakeOpener(3)
  const screen = terminal()
  await showPage(pageOf({ open: true }), screen)
  expect(opener.arguments()).toBe(ARGUMENT)
  expect(screen.written.at(-1)).toContain('open the page yourself')
})

test('a login that ends while its program runs says nothing about the program', async () => {
  const opener = fakeOpener(3)
  const stop = new AbortController()
  const screen = terminal()
  const shown = showPage(pageOf({ open: true, signal: stop.signal }), screen)
  stop.abort()
  await shown
  await expect.poll(() => opener.arguments()).toBe(ARGUMENT)
  expect(screen.written).toHaveLength(1)
})

test('a login that takes long names what the issuer may not know', async () => {
  const late = new Deferred<void>()
  const screen = terminal()
  await showPage(pageOf({ open: false }), screen, () => late.promise)
  expect(screen.written).toHaveLength(1)
  late.resolve()
  await expect.poll(() => screen.written).toHaveLength(2)
  expect(screen.written[1]).toContain('"desk" or the redirect URI http://127.0.0.1:4321/callback')
})

test('a login that is over says nothing about its page', async () => {
  const late = new Deferred<void>()
  const stop = new AbortController()
  const screen = terminal()
  await showPage(pageOf({ open: false, signal: stop.signal }), screen, () => late.promise)
  stop.abort()
  late.resolve()
  await late.promise
  expect(screen.written).toHaveLength(1)
})

test('a step-up names the scopes that the login lacks, and whether they were refused before', async () => {
  const screen = terminal()
  await showPage(pageOf({ stepUp: { scopes: ['notes:write'], wasRequested: false } }), screen)
  expect(screen.written[0]).toContain(
    'https://mcp.example/mcp needs scopes that your login lacks: notes:write. It asks you to log in again at https://id.example.',
  )
  await showPage(pageOf({ stepUp: { scopes: ['notes:write'], wasRequested: true } }), screen)
  expect(screen.written[1]).toContain('The last login did not grant them')
  const scopes = Array.from({ length: 200 }, (_, at) => `${at}:${'x'.repeat(5_000)}`)
  await showPage(pageOf({ stepUp: { scopes, wasRequested: false } }), screen)
  expect(screen.written[2]).toContain('and 190 more')
  expect(screen.written[2]?.length).toBeLessThan(2_000)
})

test('the link that the browser is started with leads to the login page', async () => {
  const opener = fakeOpener()
  const { write } = process.stderr
  process.stderr.write = () => true
  onTestFinished(() => void (process.stderr.write = write))
  const world = await startWorld()
  const call = world.call('who', { open: true })
  await expect.poll(() => opener.arguments()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}\n$/)
  const led = await fetch((opener.arguments() as string).trim(), { redirect: 'manual' })
  const page = new URL(led.headers.get('location') as string)
  expect(page.origin).toBe(world.issuer.url)
  await fetch(await logIn(page))
  expect(await call).toBe('ann notes:read')
})

test('text of a server cannot control the terminal', async () => {
  const screen = terminal()
  await showPage(pageOf({ issuer: 'https://id.example/\u001b[2J\u202e\nfake line' }), screen)
  const text = screen.written.join('')
  expect(text).not.toContain('\u001b')
  expect(text).not.toContain('\u202e')
  expect(text).not.toContain('\nfake line')
})

test('each login has its own question, so one answer opens one page', async () => {
  const opener = fakeOpener()
  const questions: Deferred<string>[] = []
  const written: string[] = []
  const screen: Terminal = {
    isInteractive: true,
    write: (text) => void written.push(text),
    ask() {
      const answer = new Deferred<string>()
      questions.push(answer)
      return answer.promise
    },
  }
  const good = showPage(pageOf(), screen)
  const evil = showPage(
    pageOf({ issuer: 'https://evil.example', request: requestOf('https://evil.example/') }),
    screen,
  )
  await expect.poll(() => questions.length).toBe(1)
  expect(written.join('')).not.toContain('evil')
  questions[0]?.resolve('y')
  await good
  await expect.poll(() => opener.arguments()).toBe(ARGUMENT)
  await expect.poll(() => questions.length).toBe(2)
  expect(written.join('')).toContain('evil')
  questions[1]?.resolve('n')
  await evil
  expect(opener.arguments()).toBe(ARGUMENT)
})

test('a login that ends before its turn at the terminal asks nothing', async () => {
  const first = new Deferred<string>()
  const asked: string[] = []
  const screen: Terminal = {
    isInteractive: true,
    write: (text) => void asked.push(text),
    ask: () => first.promise,
  }
  const stop = new AbortController()
  const shown = showPage(pageOf(), screen)
  const over = showPage(pageOf({ issuer: 'https://over.example', signal: stop.signal }), screen)
  stop.abort()
  first.resolve('n')
  await Promise.all([shown, over])
  expect(asked.join('')).not.toContain('over.example')
})

test('Ctrl-C at the question fails the login', async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const screen = terminalOf(Object.assign(input, { isTTY: true }), Object.assign(output, { isTTY: true }))
  output.on('data', (chunk) => {
    if (String(chunk).includes('[Y/n]')) input.write('\u0003')
  })
  await expect(showPage(pageOf(), screen)).rejects.toThrow('Ctrl-C')
})
