import { McpError } from 'pierhead/client'
import { EXIT } from './exit.ts'
import { Failure } from './failure.ts'
import { safe, safeLine } from './safe-text.ts'
import type { ResolvedTarget } from './target.ts'

/** How many lines are kept from the beginning, and from the end. */
const [FIRST, LAST] = [60, 200]
/** How much of an error is shown. */
const MOST_LINES = 20
/** How long a line may come after the answer that it belongs to. */
const LATE_MS = 1_000

/** The longest part of a line that is kept. */
const LONGEST = 2_000

// oxlint-disable-next-line no-control-regex -- colours
const COLOURS = /\u001b\[[\d;]*m/g

/** The reference at the end of what a server says of a failure that it does not show; undefined if there is none. */
export function referenceIn(text: string): string | undefined {
  return /\(reference ([\w-]{8,64})\)$/.exec(text)?.[1]
}

/** What a program that this command started prints to stderr: the cause of its failures. */
export class ProgramOutput {
  readonly #first: string[] = []
  #last: string[] = []
  #left = 0
  #wake: () => void = () => undefined

  add(line: string): void {
    const start = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
    const clean = start.replace(COLOURS, '')
    if (this.#first.length < FIRST) this.#first.push(clean)
    else this.#last.push(clean)
    if (this.#last.length > LAST * 2) {
      this.#left += LAST
      this.#last = this.#last.slice(LAST)
    }
    this.#wake()
  }

  get lines(): readonly string[] {
    return this.#left === 0
      ? [...this.#first, ...this.#last]
      : [...this.#first, `… ${this.#left} more lines …`, ...this.#last]
  }

  /** What the program printed about a failure whose text ends with a reference; nothing if it has none. */
  async causeOfText(text: string): Promise<readonly string[]> {
    const reference = referenceIn(text)
    return reference === undefined ? [] : this.causeOf(reference)
  }

  /** What the program printed about a failure with a reference: the error, and where it happened. Waits a moment for it. */
  async causeOf(reference: string): Promise<readonly string[]> {
    const late = AbortSignal.timeout(LATE_MS)
    const gone = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve()))
    for (;;) {
      const { lines } = this
      const at = lines.findIndex((line) => line.includes(reference))
      const error = lines.slice(at + 1).findIndex((line) => /^\s+at /.test(line))
      if (at >= 0 && error >= 0) return shortStack(lines.slice(at + 1))
      if (late.aborted) return at < 0 ? [] : shortStack(lines.slice(at + 1))
      await Promise.race([gone, new Promise<void>((resolve) => (this.#wake = resolve))])
    }
  }
}

/** The message of an error, and the places in the program itself. */
function shortStack(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => !/^\s/.test(line))
  const own = end < 0 ? lines : lines.slice(0, end)
  const isPlace = (line: string): boolean => /^\s+at /.test(line)
  const places = own.filter(isPlace)
  const inProject = places.filter((line) => !/node_modules|node:|[\\/]dist[\\/]/.test(line))
  return [
    ...own.filter((line) => !isPlace(line)).slice(0, MOST_LINES),
    ...(inProject.length > 0 ? inProject : places).slice(0, 3),
  ].map((line) => line.trim())
}

/** The failure of a file that did not come to serve: what it says itself, and nothing of how it was started. Other errors stay. */
export function startFailure(
  thrown: unknown,
  { from, label }: ResolvedTarget,
  output: ProgramOutput,
): unknown {
  if (!(thrown instanceof McpError) || (from !== 'file' && from !== 'project')) return thrown
  const [, how] = /the server exited (with code \d+|by \w+|on \w+|with signal \w+)/.exec(thrown.message) ?? []
  if (how === undefined) return thrown
  const text = once(output.lines).join('\n')
  // The command that runs the file ends with these lines.
  const [, message, fix] = /(?:^|\n)error: ((?:(?!\nerror: )[^])*?)(?:\nfix: ([^]*))?$/.exec(text) ?? []
  const said = shortened(message ?? (text.trim() === '' ? '' : `it ended ${how}:\n${text}`))
  return new Failure(`${safeLine(label)} did not start: ${said === '' ? `it ended ${how}` : said}`, {
    exit: EXIT.unreachable,
    hint:
      fix?.trim() ??
      (message === undefined ? 'Look for process.exit() in the program, and at what it printed.' : undefined),
    cause: thrown,
  })
}

/** Lines that were printed twice, because the program was started a second time, only once. */
function once(lines: readonly string[]): readonly string[] {
  const half = lines.slice(0, lines.length / 2)
  return lines.length % 2 === 0 && half.every((line, i) => line === lines[half.length + i]) ? half : lines
}

/** The first lines of a text, and the place at its end. */
function shortened(text: string): string {
  const [, before = '', place = ''] = /^([^]*?)(\n {2}at [^\n]+:\d+:\d+)?$/.exec(safe(text.trim())) ?? []
  const lines = before.split('\n')
  const more = lines.length - MOST_LINES
  const shown = more <= 0 ? lines : [...lines.slice(0, MOST_LINES), `… ${more} more lines`]
  return shown.join('\n') + place
}
