import type { Outcome } from './run.ts'
import type { Entry } from './trace.ts'

const HIDDEN = '***'
/** The shortest beginning of a secret that is hidden where a text was cut off: half of it, and at least so much. */
const SHORTEST_PART = 8

/** What a report must not show. */
export interface Secrets {
  /** Secrets of the caller, wherever they are. */
  readonly values: readonly string[]
  /** Names of headers of the caller, whose values are not shown at all. */
  readonly headers: readonly string[]
}

/** Hides values in texts, also as JSON and URLs write them, and also if a text was cut off in the middle of one. */
export function masked(values: readonly string[]): (text: string) => string {
  const forms = new Set(
    values
      .filter((value) => value !== '')
      .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]),
  )
  // A long one may contain a short one.
  const ordered = [...forms].toSorted((a, b) => b.length - a.length)
  return (text) => {
    // Whole ones first, since the forms of one begin alike.
    const rest = ordered.reduce((some, value) => some.replaceAll(value, HIDDEN), text)
    return ordered.reduce(withoutPart, rest)
  }
}

/** A value that may also be a word of our own sentences. */
const WORD = /^[a-z]{1,16}$/i

/** Hides values in a finding. It begins with words of ours: where they are words of a language, they stay before the first quote or colon. */
export function maskedFinding(values: readonly string[]): (text: string) => string {
  const all = masked(values)
  const unlikely = masked(values.filter((value) => !WORD.test(value)))
  return (text) => {
    const [own = ''] = /^[^":]*/.exec(text) ?? []
    return unlikely(own) === own ? own + all(text.slice(own.length)) : all(text)
  }
}

/** Hides the beginning of a secret, as long as it is. */
function withoutPart(text: string, secret: string): string {
  const least = Math.max(SHORTEST_PART, Math.ceil(secret.length / 2))
  if (secret.length <= least) return text
  const start = secret.slice(0, least)
  let shown = ''
  let from = 0
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, from)) {
    let length = least
    while (length < secret.length && text[at + length] === secret[length]) length++
    shown += text.slice(from, at) + HIDDEN
    from = at + length
  }
  return shown + text.slice(from)
}

/** An outcome as a report may show it: without secrets, and with findings in one line, so that a peer adds no lines of its own. */
export function reportable(outcome: Outcome, { values, headers }: Secrets): Outcome {
  const mask = masked(values)
  const names = new Set(headers.map((name) => name.toLowerCase()))
  const { found, entries } = outcome
  return {
    ...outcome,
    ...(found !== undefined && { found: inOneLine(maskedFinding(values)(found)) }),
    ...(entries !== undefined && { entries: entries.map((entry) => entryOf(entry, mask, names)) }),
  }
}

function entryOf(entry: Entry, mask: (text: string) => string, names: ReadonlySet<string>): Entry {
  const { from, text, http } = entry
  if (http === undefined) return { ...entry, text: mask(text) }
  const isHidden = (name: string): boolean => from === 'validator' && names.has(name.toLowerCase())
  const headers = Object.entries(http.headers).map(([name, value]) => [
    name,
    isHidden(name) ? HIDDEN : mask(value),
  ])
  return {
    ...entry,
    text: mask(text),
    http: { ...http, headers: Object.fromEntries(headers) as Readonly<Record<string, string>> },
  }
}

/** A text without line breaks. */
export function inOneLine(text: string): string {
  return text.replaceAll(/[\s\u0085]+/g, ' ').trim()
}
