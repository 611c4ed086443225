import type { Writable } from './io.ts'

/** How many characters may wait for a reader before further lines are left out. */
const MOST_UNREAD = 1_000_000

/**
 * Writes lines that a server causes at any time, so that nothing can wait for their reader. While too much is unread, further lines are left
 * out; once everything is read, a line says how many.
 */
export class UnreadLines {
  readonly #stream: Writable
  readonly #omittedLine: (count: number) => string
  #unread = 0
  #omitted = 0

  constructor(stream: Writable, omittedLine: (count: number) => string) {
    this.#stream = stream
    this.#omittedLine = omittedLine
  }

  /** Writes a line, or counts it as left out. */
  add(line: () => string): void {
    if (this.#omitted > 0 || this.#unread >= MOST_UNREAD) this.#omitted++
    else this.#write(line())
  }

  /** Says how many lines were left out since it was said last. */
  tellOmitted(): void {
    if (this.#omitted === 0) return
    const line = this.#omittedLine(this.#omitted)
    this.#omitted = 0
    this.#write(line)
  }

  #write(line: string): void {
    this.#unread += line.length
    this.#stream.write(`${line}\n`, () => {
      this.#unread -= line.length
      if (this.#unread === 0) this.tellOmitted()
    })
  }
}
