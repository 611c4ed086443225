import { resolve } from 'node:path'
import type { ItemList } from 'pierhead'
import type { Io } from '../io.ts'
import type { Output } from '../output.ts'
import { safe, safeJson, safeLine } from '../safe-text.ts'
import { redactedUrl } from '../redaction.ts'

/** One request that was answered. */
export interface CallEvent {
  readonly event: 'call'
  readonly method: string
  /** The tool, prompt or resource that it names. */
  readonly target?: string | undefined
  /** The new state of the task that a client asked for. */
  readonly state?: string | undefined
  readonly outcome: 'result' | 'tool_error' | 'error' | 'cancelled'
  /** What the client was told went wrong. */
  readonly error?: string | undefined
  readonly ms: number
}

/** Why a program does not serve. */
export interface FailedEvent {
  readonly event: 'failed'
  readonly message: string
  /** The file, line and column in the project. */
  readonly where?: string | undefined
  readonly hint?: string | undefined
  /** Whether the program before this one goes on serving. */
  readonly isServed: boolean
}

/** What `dev` tells while it runs. */
export type DevEvent =
  | CallEvent
  | FailedEvent
  | { readonly event: 'listening'; readonly url?: string | undefined; readonly file: string }
  | { readonly event: 'reloading'; readonly files: readonly string[] }
  | { readonly event: 'reloaded'; readonly changed: readonly ItemList[] }
  | { readonly event: 'types'; readonly errors: number; readonly lines: readonly string[] }
  /** Something was written to stdout, which carries the protocol; `more` lines before were not shown. */
  | { readonly event: 'stdout'; readonly text: string; readonly more?: number | undefined }
  | { readonly event: 'note'; readonly message: string; readonly hint?: string | undefined }
  | { readonly event: 'warning'; readonly message: string }

const MARKS = { result: 'ok', tool_error: 'tool error', error: 'error', cancelled: 'cancelled' } as const

/** Prints events: lines of JSON, or text for people on stderr. */
export class DevLog {
  readonly #io: Io
  readonly #output: Output
  readonly #isJson: boolean
  readonly #json: Io['stdout']
  /** The folder of the project, from which events name files. */
  readonly #root: string

  /** With `isStdio`, stdout carries the protocol, so that JSON goes to stderr, and only if it was asked for. */
  constructor(
    io: Io,
    output: Output,
    { isStdio, json, root }: { isStdio: boolean; json: boolean | undefined; root: string },
  ) {
    this.#io = io
    this.#root = root
    this.#output = output
    this.#isJson = isStdio ? json === true : output.isJson
    this.#json = isStdio ? io.stderr : io.stdout
  }

  add(event: DevEvent): void {
    if (this.#isJson) this.#json.write(`${safeJson(this.#whole(redacted(event)))}\n`)
    else this.#print(event)
  }

  /** An event with whole paths. */
  #whole(event: DevEvent): DevEvent {
    if (event.event === 'listening') return { ...event, file: resolve(this.#io.cwd, event.file) }
    if (event.event === 'reloading')
      return { ...event, files: event.files.map((file) => resolve(this.#root, file)) }
    if (event.event !== 'failed' || event.where === undefined) return event
    return { ...event, where: resolve(this.#root, event.where) }
  }

  #print(event: DevEvent): void {
    const { noteColors: colors } = this.#output
    switch (event.event) {
      case 'call':
        return this.#output.note(this.#callText(event))
      case 'failed':
        return this.#printFailure(event)
      case 'listening':
        return this.#output.note(this.#listeningText(event.file, event.url))
      case 'reloading':
        return this.#output.note(
          colors.dim(
            event.files.length === 0 ? 'reloading …' : `${namesOf(event.files)} changed; reloading …`,
          ),
        )
      case 'reloaded':
        return this.#output.note(`${colors.green('reloaded')}${announced(event.changed)}`)
      case 'types':
        return this.#printTypes(event.errors, event.lines)
      case 'stdout':
        return this.#output.warn(
          `the program wrote ${JSON.stringify(safeLine(event.text, 120))} to stdout, which carries the protocol; it was not passed on.\n` +
            `${colors.cyan('fix:')} Use console.error instead of console.log, or ctx.log to reach the client.`,
        )
      case 'note':
        this.#output.note(safe(event.message))
        if (event.hint !== undefined) this.#output.note(`${colors.cyan('fix:')} ${safe(event.hint)}`)
        return undefined
      case 'warning':
        return this.#output.warn(safe(event.message))
    }
  }

  #listeningText(file: string, url: string | undefined): string {
    const { noteColors: colors } = this.#output
    if (url === undefined) return `serving ${colors.bold(file)} over stdio; saving a file reloads it`
    return [
      `serving ${colors.bold(file)} at ${colors.cyan(url)}`,
      `  call it: npx pierhead list ${url}`,
      '           npx pierhead call ' + `${url} <tool> name=value`,
      `  saving a file reloads it${this.#io.stdin.isTTY === true ? '; r and Enter reloads too, q and Enter ends it' : ''}; Ctrl-C ends it`,
    ].join('\n')
  }

  #callText({ method, target, state = '', outcome, error, ms }: CallEvent): string {
    const { noteColors: colors } = this.#output
    const mark = outcome === 'result' ? colors.green(MARKS[outcome]) : colors.red(MARKS[outcome])
    const words = [
      colors.dim(safeLine(method, 60)),
      target === undefined ? '' : colors.bold(safeLine(redactedUrl(target), 120)),
      safeLine(state, 20),
      mark,
      colors.dim(timeText(ms)),
      error === undefined ? '' : safeLine(error, 300),
    ]
    return words.filter((word) => word !== '').join(' ')
  }

  #printFailure({ message, where, hint, isServed }: FailedEvent): void {
    const text = where === undefined || message.includes(where) ? message : `${message}\n  at ${where}`
    this.#output.error(text, hint)
    this.#output.note(
      isServed
        ? 'The program from before goes on serving; saving a file tries again.'
        : 'Nothing is served yet; saving a file tries again.',
    )
  }

  #printTypes(errors: number, lines: readonly string[]): void {
    const { noteColors: colors } = this.#output
    if (errors === 0) return this.#output.note(colors.green('no type errors'))
    const more = errors - lines.length
    this.#output.warn(`${errors} type ${errors === 1 ? 'error' : 'errors'}; the server runs all the same`)
    for (const line of lines) this.#output.note(`  ${safeLine(line, 300)}`)
    if (more > 0) this.#output.note(`  … and ${more} more: npx tsc --noEmit`)
  }
}

/** An event without the secrets of a URL that it names. */
function redacted(event: DevEvent): DevEvent {
  return event.event === 'call' && event.target !== undefined
    ? { ...event, target: redactedUrl(event.target) }
    : event
}

function namesOf(files: readonly string[]): string {
  const [first = '', ...others] = files.map((file) => safeLine(file, 80))
  return others.length === 0 ? first : `${first} and ${others.length} more`
}

function announced(changed: readonly ItemList[]): string {
  return changed.length === 0
    ? ''
    : `; clients were notified that the ${changed.length === 1 ? 'list' : 'lists'} of ${changed.join(', ')} changed`
}

function timeText(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`
}
