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
import { changeMetadata } from './engine-issuer.ts'
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
function fakeOpener(): { readonly arguments: () => string | undefined; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'opener-'))
  const file = join(folder, 'arguments')
  writeFileSync(
    join(folder, 'xdg-open'),
    `#!/bin/sh\ncd '${folder}'\nprintf '%s\\n' "$@" > part && mv part arguments\n`,
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

function pageOf(more: Partial<LoginPage> = {}): LoginPage {
  return {
    page: new URL('https://id.example/authorize?state=$(touch%20pwned)&x=`id`'),
    server: new URL('https://mcp.example/mcp?key=secret'),
    issuer: 'https://id.example',
    open: undefined,
    signal: new AbortController().signal,
    ...more,
  }
}

const ARGUMENT = 'https://id.example/authorize?state=%24%28touch%20pwned%29&x=%60id%60\n'

test('[C.oauth-shell] the browser gets the URL as its only argument', async () => {
  const opener = fakeOpener()
  await showPage(pageOf({ open: true }), terminal())
  await expect.poll(() => opener.arguments()).toBe(ARGUMENT)
  expect(existsSync(join(opener.folder, 'pwned'))).toBe(false)
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
    pageOf({ issuer: 'https://evil.example', page: new URL('https://evil.example/') }),
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
