/** An event of a stream of server-sent events. */
export interface SseEvent {
  readonly type: string
  readonly data: string
  readonly id: string | undefined
  /** Whether it had a line of data at all. */
  readonly hasData: boolean
  readonly retry: string | undefined
}

/** Splits a stream of text into server-sent events. */
export class SseParser {
  #rest = ''
  #lines: string[] = []
  readonly #onEvent: (event: SseEvent) => void

  constructor(onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent
  }

  push(text: string): void {
    this.#rest += text
    for (;;) {
      const found = /\r\n|\n|\r(?!$)/.exec(this.#rest)
      if (found === null) return
      this.#line(this.#rest.slice(0, found.index))
      this.#rest = this.#rest.slice(found.index + found[0].length)
    }
  }

  /** How much text waits for its end. */
  get waiting(): number {
    return this.#rest.length + this.#lines.reduce((sum, line) => sum + line.length, 0)
  }

  #line(line: string): void {
    if (line !== '') {
      if (!line.startsWith(':')) this.#lines.push(line)
      return
    }
    if (this.#lines.length === 0) return
    const fields = this.#lines.map((one): readonly [string, string] => {
      const at = one.indexOf(':')
      return at < 0 ? [one, ''] : [one.slice(0, at), one.slice(at + 1).replace(/^ /, '')]
    })
    this.#lines = []
    const all = (name: string): readonly string[] =>
      fields.filter(([key]) => key === name).map(([, value]) => value)
    this.#onEvent({
      type: all('event').at(-1) ?? 'message',
      data: all('data').join('\n'),
      id: all('id').at(-1),
      hasData: all('data').length > 0,
      retry: all('retry').at(-1),
    })
  }
}
