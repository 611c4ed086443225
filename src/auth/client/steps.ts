import { clip } from '../../base/clip.ts'
import { LOGIN_FAILED, LOGIN_NEEDED } from '../../errors/login.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { oneLine } from '../../errors/printable.ts'
import { TooManyLogins } from './login-rate.ts'
import { LoginRefused } from './problem.ts'
import { isPassing, reasonOf } from './reason.ts'

const LONGEST_STEP = 500
const PASSING_HINT =
  'The server or its issuer cannot be reached, or is too busy. Check that it runs, and the network, proxy and certificates on the way to it; then try again.'
const OFTEN_HINT =
  'The server rejects token after token, or wants other scopes each time; the client logs in again by itself when that is allowed. Check the log of the server, and the scopes that it names.'
const REFUSED_HINT =
  'The user, or the program for the user, did not want to log in. Ask again when the user wants to; nothing else is wrong.'

/** Why a login is needed. */
export interface Lack {
  readonly reason: 'no_login' | 'expired' | 'revoked' | 'rejected' | 'missing_scopes'
  /** The scopes that are missing. */
  readonly scopes?: readonly string[]
  /** The same for people. */
  readonly text: string
}

/** The steps of one login, so that an error can say how far it came. */
export class Steps {
  readonly #server: string
  readonly #taken: string[]
  /** The step that was begun last, unless notes already say what came of it. */
  #current: string | undefined
  #isNoted = false

  /** Begins a list for a server, or continues another. */
  constructor({ origin, pathname }: URL, before?: Steps) {
    this.#server = origin + pathname
    this.#taken = before === undefined ? [] : before.#all
  }

  /** The step that was begun last. */
  get current(): string | undefined {
    return this.#current
  }

  get #all(): string[] {
    return this.#current === undefined || this.#isNoted ? [...this.#taken] : [...this.#taken, this.#current]
  }

  /** Begins a step: it fails if anything does before the next one begins. */
  readonly begin = (text: string): void => {
    if (this.#current !== undefined && !this.#isNoted) this.#taken.push(this.#current)
    this.#current = oneLine(clip(text, LONGEST_STEP))
    this.#isNoted = false
  }

  /** Notes what the current step did. */
  readonly note = (text: string): void => {
    this.#taken.push(oneLine(clip(text, LONGEST_STEP)))
    this.#isNoted = true
  }

  /** The error for something that went wrong in the current step. Its cause is left out, since it may hold secrets. */
  failed(
    thrown: unknown,
    row: typeof LOGIN_FAILED | typeof LOGIN_NEEDED = LOGIN_FAILED,
    facts: Readonly<Record<string, unknown>> = {},
  ): McpError {
    const steps = this.#current === undefined ? this.#taken : [...this.#taken, `failed: ${this.#current}`]
    const lines = steps.map((text, at) => `\n  ${at + 1}. ${text}`)
    const { kind, message } = mcpError(row, { server: this.#server, reason: oneLine(reasonOf(thrown)) })
    const retryable = isPassing(thrown)
    return new McpError(kind, `${message}${lines.join('')}`, {
      data: { steps, ...facts },
      retryable,
      retryAfterMs: thrown instanceof TooManyLogins ? thrown.waitMs : undefined,
      hint: hintOf(thrown),
    })
  }

  /** The error for a login that `storedOnly` forbids. */
  forbidden({ text, ...facts }: Lack): McpError {
    return this.failed(new Error(text), LOGIN_NEEDED, facts)
  }
}

/** What to do about an error, if that is not to correct what it names. */
function hintOf(thrown: unknown): string | undefined {
  if (thrown instanceof LoginRefused) return REFUSED_HINT
  if (!isPassing(thrown)) return undefined
  return thrown instanceof TooManyLogins ? OFTEN_HINT : PASSING_HINT
}
