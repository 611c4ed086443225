import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Official } from '../corpus/checker.ts'
import { officialOf, SOURCE } from '../corpus/official.ts'
import type { Source } from '../corpus/source.ts'

export interface Entry {
  readonly from: 'client' | 'server'
  readonly text: string
  /** Sent as it is, to see what the server makes of it; may break the schema. */
  readonly raw: boolean
}

interface Message extends JsonObject {
  readonly id?: string | number
  readonly method?: string
  readonly result?: JsonObject
  readonly error?: JsonObject
}

/** What the official schema of the revision says against the messages of a connection. */
export function complaints(
  entries: readonly Entry[],
  revision: Revision,
  source: Source = SOURCE,
): readonly string[] {
  const check = new Check(officialOf(revision, source), revision)
  return [...entries.flatMap((entry) => check.entry(entry)), ...check.unanswered()]
}

class Check {
  readonly #official: Official
  readonly #revision: Revision
  /** The requests of each side that were not answered yet, by id. */
  readonly #asked = { client: new Map<unknown, Message[]>(), server: new Map<unknown, Message[]>() }
  readonly #raw = new Set<unknown>()

  constructor(official: Official, revision: Revision) {
    this.#official = official
    this.#revision = revision
  }

  entry({ from, text, raw }: Entry): readonly string[] {
    const messages = parse(text)
    if (messages === undefined) return raw ? [] : [`not JSON: ${text.slice(0, 200)}`]
    return messages.flatMap((message) => {
      const complaint = raw ? this.#remember(from, message, raw) : this.#message(from, message)
      return complaint === undefined
        ? []
        : [`${from} sent ${JSON.stringify(message).slice(0, 600)}: ${complaint}`]
    })
  }

  /** Requests that nobody answered; those of servers were checked when they were sent. */
  unanswered(): readonly string[] {
    return [...this.#asked.client.values()].flat().flatMap((request) => {
      const { id, method = '' } = request
      const complaint = this.#raw.has(id) ? undefined : this.#official.message(method, request)
      return complaint === undefined
        ? []
        : [`client sent ${JSON.stringify(request).slice(0, 600)}: ${complaint}`]
    })
  }

  #message(from: 'client' | 'server', message: Message): string | undefined {
    const { id, method } = message
    if (message['jsonrpc'] !== '2.0') return 'jsonrpc is not 2.0'
    const stateless = this.#revision === '2026-07-28'
    if (stateless && from === 'server' && id !== undefined && method !== undefined)
      return 'a server sends no requests'
    if (stateless && from === 'client' && method === undefined) return 'a client sends no responses'
    if (method === undefined) return this.#answer(from === 'client' ? 'server' : 'client', message)
    if (from === 'server') {
      if (id !== undefined) this.#remember(from, message, false)
      return this.#official.message(method, message)
    }
    // What a client asks is judged when it is answered: a request that is refused may be wrong on purpose.
    if (id !== undefined) return this.#remember(from, message, false)
    return this.#official.message(method, message)
  }

  #remember(from: 'client' | 'server', message: Message, raw: boolean): undefined {
    const { id } = message ?? {}
    if (id === undefined || message.method === undefined) return
    const asked = this.#asked[from].get(id) ?? []
    this.#asked[from].set(id, [...asked, message])
    if (raw) this.#raw.add(id)
  }

  #answer(asker: 'client' | 'server', { id, result, error }: Message): string | undefined {
    // An id that is used twice belongs to the later request: the earlier was cancelled, or the later is refused first.
    const asked = this.#asked[asker].get(id) ?? []
    const request = asked.pop()
    if (error !== undefined) {
      const code = Number(error['code'])
      if (this.#revision === '2026-07-28' && isReserved(code)) return `the code ${code} is reserved`
      const name = this.#revision >= '2025-11-25' ? 'JSONRPCErrorResponse' : 'JSONRPCError'
      return this.#official.shape(name, { jsonrpc: '2.0', id: id ?? 0, error })
    }
    if (request?.method === undefined || result === undefined) return 'it answers nothing that was asked'
    const wrong = this.#raw.has(id) ? undefined : this.#official.message(request.method, request)
    if (wrong !== undefined) return `the request that it answers: ${wrong}`
    if (result['resultType'] === 'input_required') return this.#official.shape('InputRequiredResult', result)
    return this.#official.result(request.method, result)
  }
}

/** Codes that the protocol keeps for itself, without those that it gave a meaning to. */
function isReserved(code: number): boolean {
  const known = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]
  return code >= -32768 && code <= -32000 && !known.includes(code)
}

function parse(text: string): readonly Message[] | undefined {
  try {
    const value = JSON.parse(text) as Message | readonly Message[]
    return (Array.isArray(value) ? value : [value]) as readonly Message[]
  } catch {
    return undefined
  }
}
