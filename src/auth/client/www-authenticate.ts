/** One way to authenticate that a server offers in the header `WWW-Authenticate` (RFC 9110, section 11.6.1). */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string
  /** By name, in lower case. The first of several with the same name counts. */
  readonly params: ReadonlyMap<string, string>
}

const MAX_CHARS = 16_384
const MAX_CHALLENGES = 20
const MAX_PARAMS = 50

// Sticky, and without two ways to match the same text, so that reading takes linear time.
const GAP = /[ \t,]*/y
const TOKEN = /[!#$%&'*+.^_`|~\w-]+/y
const EQUALS = /[ \t]*=[ \t]*(?=[!#$%&'*+.^_`|~\w"-])/y
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y
const TOKEN68 = /[ \t]+[\w.~+/-]+=*(?=[ \t]*(?:,|$))/y

/** Reads all challenges of a header; several headers are joined by commas. It skips malformed parts up to the next comma. */
export function readChallenges(header: string | null): readonly Challenge[] {
  if (header === null || header.length > MAX_CHARS) return []
  const text = new Scanner(header)
  const challenges: { readonly scheme: string; readonly params: Map<string, string> }[] = []
  while (challenges.length <= MAX_CHALLENGES) {
    // A scheme can only begin the header or follow a comma.
    const isFirst = text.at === 0
    const mayBegin = text.take(GAP)?.includes(',') === true || isFirst
    if (text.isDone) break
    const name = text.take(TOKEN)?.toLowerCase()
    if (name !== undefined && text.take(EQUALS) !== undefined) {
      const value = text.takeValue()
      const params = challenges.at(-1)?.params
      if (value !== undefined && params !== undefined && !params.has(name) && params.size < MAX_PARAMS)
        params.set(name, value)
    } else if (name !== undefined && mayBegin && text.isAtEnd()) {
      challenges.push({ scheme: name, params: new Map() })
      text.take(TOKEN68)
    } else text.skip()
  }
  return challenges.slice(0, MAX_CHALLENGES)
}

/** Takes one piece of a text after the other. */
class Scanner {
  at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get isDone(): boolean {
    return this.at >= this.#text.length
  }

  /** The text that a sticky pattern matches here, or its group. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.#text)
    if (found === null) return undefined
    this.at = pattern.lastIndex
    return found[1] ?? found[0]
  }

  takeValue(): string | undefined {
    if (this.#text[this.at] !== '"') return this.take(TOKEN)
    const value = this.take(QUOTED)
    // All that follows is inside of quotes that nothing closes.
    if (value === undefined) this.at = this.#text.length
    return value?.replace(/\\([^])/g, '$1')
  }

  /** Whether a token ends here, and not only the characters that a token may have. */
  isAtEnd(): boolean {
    return this.isDone || /[ \t,]/.test(this.#text[this.at]!)
  }

  /** Goes to the next comma. */
  skip(): void {
    if (this.#text[this.at] === '"') return void this.takeValue()
    const comma = this.#text.indexOf(',', this.at)
    this.at = comma < 0 ? this.#text.length : comma
  }
}
