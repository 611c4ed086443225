import { Memory } from './memory.ts'
import { ownText } from './own-text.ts'

/** One entry of the trace: what was sent or received, as a report shows it. */
export interface Entry {
  /** Its place among all entries. */
  readonly at: number
  readonly from: 'validator' | 'peer'
  /** The connection or HTTP request that it belongs to. */
  readonly stream: string
  /** The message, or a line such as `POST /mcp`. Long texts are cut off. */
  readonly text: string
  /** The status and headers of an HTTP request or reply. */
  readonly http?: { readonly status?: number; readonly headers: Readonly<Record<string, string>> } | undefined
}

/** The most characters of an entry that are kept. */
const MOST_CHARS = 2_000
/** How many of the last entries are kept, and how many more before the oldest are removed. */
const MOST_ENTRIES = 5_000
const MORE_ENTRIES = 500
/** Headers whose values a report must not show. */
const SECRET = /^(?:authorization|cookie|set-cookie|proxy-authorization|dpop|.*(?:token|secret|api-?key).*)$/i

/** What was sent and received during a run, for the reports: the last of it, if it is much. Secrets are left out. */
export class Trace {
  readonly #entries: Entry[] = []
  #next = 0
  /** How many entries there were of each side, also of those that were not kept, and how many of the peer were not messages. */
  readonly counts = { validator: 0, peer: 0, noise: 0 }
  /** What the connections of the run keep. */
  readonly memory: Memory

  constructor(memory: Memory = new Memory()) {
    this.memory = memory
  }

  /** Adds an entry, and returns its place. */
  add(entry: Omit<Entry, 'at'>): number {
    const at = this.#next++
    this.counts[entry.from]++
    this.#entries.push({
      ...entry,
      at,
      text: shortened(entry.text),
      ...(entry.http !== undefined && {
        http: { ...entry.http, headers: withoutSecrets(entry.http.headers) },
      }),
    })
    if (this.#entries.length >= MOST_ENTRIES + MORE_ENTRIES) this.#entries.splice(0, MORE_ENTRIES)
    return at
  }

  /** The place of the next entry. */
  get mark(): number {
    return this.#next
  }

  /** The entries from one place to another, the last ones if they are many. */
  between(from: number, to: number = this.#next, most = 12): readonly Entry[] {
    return this.#entries.filter(({ at }) => at >= from && at < to).slice(-most)
  }
}

/** The beginning of a text. It must not keep the rest of it in memory. */
function shortened(text: string): string {
  return text.length > MOST_CHARS ? `${ownText(text.slice(0, MOST_CHARS))} …` : ownText(text)
}

function withoutSecrets(headers: Readonly<{ [name: string]: string }>): Readonly<{ [name: string]: string }> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET.test(name) ? '***' : shortened(value)]),
  )
}
