import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { orAborted } from '../../base/backoff.ts'
import { readEnv } from '../../base/runtime.ts'
import { oneLine } from '../../errors/printable.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { LoginProblem } from './problem.ts'

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
  const page = url.href.replace(UNUSUAL, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  if (platform === 'darwin') return { file: '/usr/bin/open', args: [page] }
  if (platform !== 'win32') return { file: 'xdg-open', args: [page] }
  const root = readEnv('SystemRoot') ?? 'C:\\Windows'
  return { file: `${root}\\System32\\rundll32.exe`, args: ['url.dll,FileProtocolHandler', page] }
}

/** Starts the browser. Resolves with false if there is no program that does. */
function openPage(url: URL): Promise<boolean> {
  const { file, args } = commandFor(url, process.platform)
  return new Promise((resolve) => {
    const child = spawn(file, args, { shell: false, stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
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
      lines.once('SIGINT', () => interrupt.abort(new LoginProblem('the user pressed Ctrl-C')))
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

/** A page to show, and where it belongs. */
export interface LoginPage {
  readonly page: URL
  readonly server: URL
  readonly issuer: string
  /** Whether to start the browser; undefined asks the person at the terminal. */
  readonly open: boolean | undefined
  /** Aborts when the login is over. */
  readonly signal: AbortSignal
}

/** Logins that ask at the terminal, one after the other: an answer must not count for two questions. */
const questions = new OneAtATime()

/** Prints the URL of the login page, and starts the browser if a person or the program agreed. */
export async function showPage(login: LoginPage, terminal: Terminal = terminalOf()): Promise<void> {
  const isAsked = login.open === undefined && terminal.isInteractive
  const isAgreed = isAsked
    ? await questions.run('terminal', () => ask(login, terminal))
    : (print(login, terminal), login.open === true)
  if (!isAgreed || (await openPage(login.page))) return
  terminal.write('No browser could be started; open the page yourself.\n')
}

function print({ page, server, issuer }: LoginPage, terminal: Terminal): void {
  const names = `${oneLine(server.origin + server.pathname)} asks you to log in at ${oneLine(issuer)}.`
  terminal.write(`\n${names}\nOpen this page in a browser on this computer:\n\n  ${oneLine(page.href)}\n\n`)
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
