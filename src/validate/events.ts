import { ownText } from './own-text.ts'

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
  /** The beginning of a line. It is only added to until its end comes, which takes no time. */
  #rest = ''
  /** Whether a return came last, which may be half of a line break. */
  #hasReturn = false
  #isEmpty = true
  #data: string[] = []
  #fields: { event?: string; id?: string; retry?: string } = {}
  readonly #onEvent: (event: SseEvent) => void

  constructor(onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent
  }

  push(text: string): void {
    if (text === '') return
    const whole = this.#hasReturn ? `\r${text}` : text
    this.#hasReturn = whole.endsWith('\r')
    const [first = '', ...lines] = (this.#hasReturn ? whole.slice(0, -1) : whole).split(/\r\n|\n|\r/)
    this.#rest += first
    for (const next of lines) {
      this.#line(this.#rest)
      this.#rest = next
    }
  }

  #line(line: string): void {
    if (line === '') {
      this.#dispatch()
      return
    }
    if (line.startsWith(':')) return
    this.#isEmpty = false
    const at = line.indexOf(':')
    const name = at < 0 ? line : line.slice(0, at)
    const value = at < 0 ? '' : line.slice(line[at + 1] === ' ' ? at + 2 : at + 1)
    if (name === 'data') this.#data.push(value)
    else if (name === 'event' || name === 'id' || name === 'retry') this.#fields[name] = value
  }

  #dispatch(): void {
    if (this.#isEmpty) return
    const [data, { event = 'message', id, retry }] = [this.#data, this.#fields]
    this.#isEmpty = true
    this.#data = []
    this.#fields = {}
    this.#onEvent({
      type: ownText(event),
      data: ownText(data.join('\n')),
      id: id === undefined ? undefined : ownText(id),
      hasData: data.length > 0,
      retry,
    })
  }
}
