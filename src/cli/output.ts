import picocolors from 'picocolors'
import { Turns } from '../base/next-task.ts'
import type { Io, Writable } from './io.ts'
import { PIECE, safeJsonPieces } from './json-pieces.ts'
import { safe, safeJson } from './safe-text.ts'
import { masked } from './masked.ts'
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
  #signal: AbortSignal | undefined

  constructor(io: Io, options: OutputOptions = {}) {
    this.#io = io
    this.#signal = io.signal
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

  /** Also ends what is being written when this signal aborts. */
  endWith(signal: AbortSignal): void {
    this.#signal = signal
  }

  /** Prints the outcome: `value` as JSON in one document, or the text for people. A large document is written in pieces. */
  async data(value: unknown, text: () => string): Promise<void> {
    await this.#writeAll(this.isJson ? [safeJsonPieces(value, 2), ['\n']] : [[`${text()}\n`]], this.#signal)
  }

  /** Prints lists of any length: as JSON in one document, or the lines for people. They are written in pieces, so that no text grows with them. */
  async lists(lists: Lists, lines: () => Iterable<string>): Promise<void> {
    if (this.isJson) await this.data(lists, () => '')
    else await this.#writeAll([withBreaks(lines())], this.#signal)
  }

  /** Prints one of many values, such as an event: a line of JSON, or the text for people. It is written at once, so that no other line gets into it. */
  async event(value: unknown, text: () => string): Promise<void> {
    let line = ''
    const turns = new Turns()
    for (const piece of this.isJson ? safeJsonPieces(value) : [text()]) {
      line += piece
      if (turns.isOver()) await turns.next()
    }
    await this.#write(this.#io.stdout, `${line}\n`)
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
    return masked(text, this.#secrets)
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
    await this.#writeAll([safeJsonPieces({ error }), ['\n']])
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

  /** Writes texts in pieces, and lets others have a turn in between. Stops if the signal aborts meanwhile. */
  async #writeAll(parts: Iterable<Iterable<string>>, signal?: AbortSignal): Promise<void> {
    const turns = new Turns()
    const wasAborted = signal?.aborted
    let text = ''
    for (const part of parts)
      for (const piece of part) {
        text += piece
        if (text.length >= PIECE) {
          await this.#write(this.#io.stdout, text)
          text = ''
        } else if (!turns.isOver()) continue
        await turns.next()
        if (signal?.aborted !== true || wasAborted === true) continue
        // What follows is not inside of the last line.
        await this.#write(this.#io.stdout, `${text}\n`)
        throw signal.reason
      }
    await this.#write(this.#io.stdout, text)
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

function* withBreaks(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`
}
