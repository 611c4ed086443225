import picocolors from 'picocolors'
import type { Io, Writable } from './io.ts'
import { safe, safeJson } from './safe-text.ts'
import { cutToWidth } from './text-width.ts'
import { UnreadLines } from './unread-lines.ts'

type Colors = ReturnType<typeof picocolors.createColors>

export interface OutputOptions {
  /** Print JSON, also on a terminal. Default: only into pipes and files. */
  readonly json?: boolean | undefined
  /** Print no notes. */
  readonly quiet?: boolean | undefined
  /** Print no colours. */
  readonly plain?: boolean | undefined
  /** Whether stdout is for something else than JSON, such as the protocol or a script. */
  readonly raw?: boolean | undefined
}

/** The error with which a command ends. */
interface ShownFailure {
  readonly message: string
  readonly hint?: string | undefined
  readonly exit: number
}

/** Lists by their names. */
type Lists = Readonly<Record<string, readonly unknown[]>>

const SHORTEST_SECRET = 6
/** About how many characters of a list are written at once. */
const PIECE = 65_536
/** The first word of an Authorization header, which is not a secret. */
const SCHEME = /^(?:bearer|basic|digest)$/i
const BASIC = /^\s*basic\s+(\S+)\s*$/i

/**
 * What a command prints. Data goes to stdout, as text for people or as JSON for programs; everything else goes to stderr.
 * Texts of servers go through `safe` before they come here.
 */
export class Output {
  /** Whether data is printed as JSON. */
  readonly isJson: boolean
  /** Colours for text on stdout, and for notes on stderr; they do nothing where colours are off. */
  readonly colors: Colors
  readonly noteColors: Colors
  /** Whether notes on stderr reach a person, who may like to see progress. */
  readonly isWatched: boolean
  readonly #io: Io
  readonly #isQuiet: boolean
  readonly #isRaw: boolean
  readonly #secrets = new Set<string>()
  /** Lines that servers cause, on stdout and on stderr. */
  readonly #events: UnreadLines
  readonly #notes: UnreadLines
  #hasStatus = false

  constructor(io: Io, options: OutputOptions = {}) {
    this.#io = io
    this.isJson = options.json ?? io.stdout.isTTY !== true
    this.#isQuiet = options.quiet ?? false
    this.#isRaw = options.raw ?? false
    this.colors = picocolors.createColors(!this.isJson && mayColor(io, io.stdout, options))
    this.noteColors = picocolors.createColors(mayColor(io, io.stderr, options))
    this.isWatched = io.stderr.isTTY === true && !this.#isQuiet && io.env['CI'] === undefined
    this.#events = new UnreadLines(io.stdout, (omitted) =>
      this.isJson ? JSON.stringify({ kind: 'omitted', omitted }) : omittedText(omitted),
    )
    this.#notes = new UnreadLines(io.stderr, omittedText)
  }

  /** The width of the terminal. */
  get width(): number {
    return Math.max(40, this.#io.stdout.columns ?? 100)
  }

  /** Prints the outcome: `value` as JSON in one document, or the text for people. */
  async data(value: unknown, text: () => string): Promise<void> {
    await this.#write(this.#io.stdout, `${this.isJson ? safeJson(value, 2) : text()}\n`)
  }

  /** Prints lists of any length: as JSON in one document, or the lines for people. They are written in pieces, so that no text grows with them. */
  async lists(lists: Lists, lines: () => Iterable<string>): Promise<void> {
    let text = ''
    for (const line of this.isJson ? jsonLines(lists) : lines()) {
      text += `${line}\n`
      if (text.length < PIECE) continue
      await this.#write(this.#io.stdout, text)
      text = ''
    }
    await this.#write(this.#io.stdout, text)
  }

  /** Prints one of many values, such as an event: a line of JSON, or the text for people. */
  async event(value: unknown, text: () => string): Promise<void> {
    await this.#write(this.#io.stdout, `${this.isJson ? safeJson(value) : text()}\n`)
  }

  /** The same for events that come at any time, such as log messages. Those that a slow reader leaves unread for too long are left out, and counted. */
  passing(value: () => unknown, text: () => string): void {
    this.#events.add(() => {
      this.status('')
      return this.isJson ? safeJson(value()) : text()
    })
  }

  /** Prints bytes of a server as they are; only into a pipe or file. */
  async raw(bytes: string): Promise<void> {
    await this.#write(this.#io.stdout, bytes)
  }

  /** Hides values that are secrets: a server may repeat them in its errors. Short ones stay, since they are in too many words. */
  hide(values: Iterable<string | undefined>): void {
    for (const value of values) {
      for (const part of [value ?? '', ...(value ?? '').split(/\s+/)])
        if (part.length >= SHORTEST_SECRET && !SCHEME.test(part)) this.#secrets.add(part)
      const [, encoded] = BASIC.exec(value ?? '') ?? []
      if (encoded === undefined) continue
      const pair = Buffer.from(encoded, 'base64').toString()
      this.hide([pair, pair.slice(pair.indexOf(':') + 1)])
    }
  }

  /** The values that are hidden. */
  get secrets(): readonly string[] {
    return [...this.#secrets]
  }

  /** A text without the values that are hidden. */
  redacted(text: string): string {
    // A long one may contain a short one.
    const secrets = [...this.#secrets].toSorted((a, b) => b.length - a.length)
    return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
  }

  /** Tells a person on stderr what goes on, unless too much there is unread. */
  note(text: string): void {
    if (this.#isQuiet) return
    this.#notes.add(() => {
      this.status('')
      return this.redacted(text)
    })
  }

  /** Shows a person on stderr what they must see, also with `--quiet`. */
  show(text: string): void {
    this.status('')
    this.#io.stderr.write(`${this.redacted(text)}\n`)
  }

  /** Warns a person on stderr, also with `--quiet`. */
  warn(text: string): void {
    this.show(`${this.noteColors.yellow('warning:')} ${text}`)
  }

  /** Prints an error and what to do about it. */
  error(message: string, hint?: string): void {
    this.show(`${this.noteColors.red('error:')} ${safe(this.redacted(message))}`)
    if (hint !== undefined && hint !== '')
      this.show(`${this.noteColors.cyan('fix:')} ${safe(this.redacted(hint))}`)
  }

  /** Prints the error with which a command ends: as JSON too, if stdout has JSON. */
  async failure({ message, hint, exit }: ShownFailure): Promise<void> {
    this.error(message, hint)
    await this.ended({ message, hint, exit })
  }

  /** Says on stdout why a command ends, if stdout has JSON. */
  async ended({ message, hint, exit }: ShownFailure): Promise<void> {
    if (!this.isJson || this.#isRaw) return
    const error = { message: this.redacted(message), hint: hint && this.redacted(hint), exit }
    await this.#write(this.#io.stdout, `${safeJson({ error })}\n`)
  }

  /**
   * Writes a status line over the last one, on a terminal only. An empty text clears it, and so does everything else that is printed. It
   * never needs a second line, which nothing would clear.
   */
  status(text: string): void {
    if (!this.isWatched || (text === '' && !this.#hasStatus)) return
    this.#hasStatus = text !== ''
    const shown = cutToWidth(this.redacted(text), (this.#io.stderr.columns ?? 80) - 1)
    this.#io.stderr.write(`\r\u001b[2K${shown}`)
  }

  /** Waits until everything has left the process. */
  async flush(): Promise<void> {
    for (const lines of [this.#events, this.#notes]) lines.tellOmitted()
    await Promise.all([this.#write(this.#io.stdout, ''), this.#write(this.#io.stderr, '')])
  }

  #write(stream: Writable, text: string): Promise<void> {
    if (text !== '') this.status('')
    return new Promise((resolve) => {
      stream.write(text, () => resolve())
    })
  }
}

function omittedText(count: number): string {
  return `… ${count} ${count === 1 ? 'line was' : 'lines were'} left out, because nobody read the ones before`
}

function mayColor({ env }: Io, stream: Writable, { plain = false }: OutputOptions): boolean {
  if (plain || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false
  return stream.isTTY === true || (env['FORCE_COLOR'] ?? '') !== ''
}

/** The JSON of lists, item by item. */
function* jsonLines(lists: Lists): Generator<string> {
  const all = Object.entries(lists)
  if (all.length === 0) return yield '{}'
  yield '{'
  for (const [at, [name, items]] of all.entries()) {
    const end = at < all.length - 1 ? ',' : ''
    const start = `  ${safeJson(name)}: [`
    if (items.length === 0) yield `${start}]${end}`
    else {
      yield start
      for (const [index, item] of items.entries()) {
        const json = `    ${safeJson(item, 2).replaceAll('\n', '\n    ')}`
        yield index < items.length - 1 ? `${json},` : json
      }
      yield `  ]${end}`
    }
  }
  yield '}'
}
