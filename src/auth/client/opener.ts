import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { orAborted, pause } from '../../base/backoff.ts'
import { readEnv } from '../../base/runtime.ts'
import { clip } from '../../base/clip.ts'
import { oneLine } from '../../errors/printable.ts'
import { OneAtATime } from './one-at-a-time.ts'
import type { StepUp } from './grant.ts'
import type { PageLink } from './loopback.ts'
import { pageFile } from './page-file.ts'
import { isInsideWindows } from './peer-owner.ts'
import { LoginProblem, LoginRefused } from './problem.ts'
import { adviceFor, type LoginRequest } from './redirect.ts'

/** A program and its arguments. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
}

/** Everything but the characters that a URL needs: some mean something to shells, and openers may be shell scripts. */
const UNUSUAL = /[^\w\-.~:/?#[\]@+,=&%]/g

/** The program that opens a URL on a platform. It takes the URL as one argument and no shell reads it. */
export function commandFor(url: URL, platform: NodeJS.Platform): Command {
  const { protocol, username, password } = url
  // The metadata of a server chose the URL. Other schemes start programs.
  if ((protocol !== 'https:' && protocol !== 'http:') || username !== '' || password !== '')
    throw new LoginProblem('the page to log in is not a web page without credentials')
  return openerOf(url, platform)
}

function openerOf({ href }: URL, platform: NodeJS.Platform): Command {
  const page = href.replace(UNUSUAL, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  if (platform === 'darwin') return { file: '/usr/bin/open', args: [page] }
  if (platform !== 'win32') return { file: 'xdg-open', args: [page] }
  const root = readEnv('SystemRoot') ?? 'C:\\Windows'
  return { file: `${root}\\System32\\rundll32.exe`, args: ['url.dll,FileProtocolHandler', page] }
}

/** Whether others could open a link after reading the arguments of programs. On Windows, only administrators can read those. */
function isExposed({ isGuarded }: PageLink): boolean {
  return !isGuarded && process.platform !== 'win32' && !isInsideWindows()
}

/** The program that opens a file with a link; undefined if the file cannot be written. */
async function commandForFile({ url }: PageLink, signal: AbortSignal): Promise<Command | undefined> {
  const file = await pageFile(url, signal).catch(() => undefined)
  return file && openerOf(file, process.platform)
}

/** Starts the browser. Resolves with false if there is no program that does, or if it fails before the login is over. */
async function openPage(link: PageLink, signal: AbortSignal): Promise<boolean> {
  const command = isExposed(link)
    ? await commandForFile(link, signal)
    : commandFor(link.url, process.platform)
  if (command === undefined || signal.aborted) return signal.aborted
  const { file, args } = command
  return new Promise((resolve) => {
    const child = spawn(file, args, { shell: false, stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => child.unref())
    child.once('exit', (code) => resolve(code === 0))
    signal.addEventListener('abort', () => resolve(true), { once: true })
  })
}

/** How to talk to the person at the terminal. */
export interface Terminal {
  /** Whether a person can answer. */
  readonly isInteractive: boolean
  write(text: string): void
  ask(question: string, signal: AbortSignal): Promise<string>
}

/** The terminal that two streams belong to. */
export function terminalOf(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean } = process.stdin,
  output: NodeJS.WritableStream & { readonly isTTY?: boolean } = process.stderr,
): Terminal {
  return {
    isInteractive: input.isTTY === true && output.isTTY === true,
    write: (text) => void output.write(text),
    async ask(question, signal) {
      const lines = createInterface({ input, output })
      const interrupt = new AbortController()
      lines.once('SIGINT', () => interrupt.abort(new LoginRefused('the user pressed Ctrl-C')))
      try {
        return await orAborted(
          lines.question(question, { signal }),
          AbortSignal.any([signal, interrupt.signal]),
        )
      } finally {
        lines.close()
      }
    },
  }
}

/** A login page to show, and where it belongs. */
export interface LoginPage {
  readonly request: LoginRequest
  readonly server: URL
  readonly issuer: string
  /** Why a person who is logged in has to log in again. */
  readonly stepUp?: StepUp | undefined
  /** Whether to start the browser; undefined asks the person at the terminal. */
  readonly open: boolean | undefined
  /** A URL that leads to the page once. The page itself must not be an argument of a program, which other users can read. */
  link(): PageLink
  /** Aborts when the login is over. */
  readonly signal: AbortSignal
}

/** Logins that ask at the terminal, one after the other: an answer must not count for two questions. */
const questions = new OneAtATime()

/** When a person who sees a login page has usually finished. */
const PATIENCE_MS = 20_000

/**
 * Prints the URL of the login page, and starts the browser if a person or the program agreed. If the login then takes long, it says what may be
 * wrong. `wait` waits until a time is over or a signal aborts.
 */
export async function showPage(
  login: LoginPage,
  terminal: Terminal = terminalOf(),
  wait: typeof pause = pause,
): Promise<void> {
  const { open, signal } = login
  const isAsked = open === undefined && terminal.isInteractive
  const isAgreed = isAsked
    ? await questions.run('terminal', () => ask(login, terminal))
    : (print(login, terminal), open === true)
  void wait(PATIENCE_MS, signal).then(() => {
    if (!signal.aborted) terminal.write(`Still waiting for the login. ${adviceFor(login.request)}\n`)
  })
  if (!isAgreed || (await openPage(login.link(), signal))) return
  terminal.write('No browser could be started; open the page yourself.\n')
}

function print({ request: { url }, server, issuer, stepUp }: LoginPage, terminal: Terminal): void {
  const name = oneLine(server.origin + server.pathname)
  const text =
    stepUp === undefined
      ? `${name} asks you to log in at ${oneLine(issuer)}.`
      : `${name} needs ${scopesOf(stepUp)} It asks you to log in again at ${oneLine(issuer)}.`
  terminal.write(`\n${text}\nOpen this page in a browser on this computer:\n\n  ${oneLine(url.href)}\n\n`)
}

/** The scopes that a login lacks, as the end of a sentence. */
function scopesOf({ scopes, wasRequested }: StepUp): string {
  const named =
    scopes.length === 0
      ? 'more scopes than your login has.'
      : `scopes that your login lacks: ${shown(scopes)}.`
  return wasRequested ? `${named} The last login did not grant them; perhaps they were not ticked.` : named
}

/** The most scopes that are named. */
const MOST_SHOWN = 10

function shown(scopes: readonly string[]): string {
  const more = scopes.length - MOST_SHOWN
  const names = scopes.slice(0, MOST_SHOWN).map((scope) => oneLine(clip(scope, 100)))
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}

async function ask(login: LoginPage, terminal: Terminal): Promise<boolean> {
  const { signal } = login
  if (signal.aborted) return false
  print(login, terminal)
  try {
    const answer = await terminal.ask('Open it now? [Y/n] ', signal)
    return /^(y|yes)?$/i.test(answer.trim())
  } catch (thrown) {
    if (thrown instanceof LoginProblem) throw thrown
    // The login ended before the question was answered, or the terminal was closed.
    return false
  }
}
