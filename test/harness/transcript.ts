import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Official } from '../corpus/checker.ts'
import { officialOf, SOURCE } from '../corpus/official.ts'
import type { Source } from '../corpus/source.ts'

export interface Entry {
  readonly from: 'client' | 'server'
  readonly text: string
  /** Sent unchecked to see how the server reacts; it may break the schema. */
  readonly raw: boolean
}

interface Message extends JsonObject {
  readonly id?: string | number
  readonly method?: string
  readonly result?: JsonObject
  readonly error?: JsonObject
}

/** The errors that the official schema of the revision finds in the messages of a connection. */
export function schemaErrors(
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
  /** The unanswered requests of each side, by id. */
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
      const error = raw ? this.#remember(from, message, raw) : this.#message(from, message)
      return error === undefined ? [] : [`${from} sent ${JSON.stringify(message).slice(0, 600)}: ${error}`]
    })
  }

  /** Checks the unanswered client requests; those of servers were checked when they were sent. */
  unanswered(): readonly string[] {
    return [...this.#asked.client.values()].flat().flatMap((request) => {
      const { id, method = '' } = request
      const error = this.#raw.has(id) ? undefined : this.#official.message(method, request)
      return error === undefined ? [] : [`client sent ${JSON.stringify(request).slice(0, 600)}: ${error}`]
    })
  }

  #message(from: 'client' | 'server', message: Message): string | undefined {
    const { id, method } = message
    if (message['jsonrpc'] !== '2.0') return 'jsonrpc is not 2.0'
    const stateless = this.#revision === '2026-07-28'
    if (stateless && from === 'server' && id !== undefined && method !== undefined)
      return 'servers do not send requests'
    if (stateless && from === 'client' && method === undefined) return 'clients do not send responses'
    if (method === undefined) return this.#answer(from === 'client' ? 'server' : 'client', message)
    if (from === 'server') {
      if (id !== undefined) this.#remember(from, message, false)
      return this.#official.message(method, message)
    }
    // A client's request is checked when it is answered: a refused one may be invalid on purpose.
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
    // A reused id belongs to the later request: the earlier one was cancelled, or the later one is refused first.
    const asked = this.#asked[asker].get(id) ?? []
    const request = asked.pop()
    if (error !== undefined) {
      const code = Number(error['code'])
      if (this.#revision === '2026-07-28' && isReserved(code)) return `the code ${code} is reserved`
      const name = this.#revision >= '2025-11-25' ? 'JSONRPCErrorResponse' : 'JSONRPCError'
      return this.#official.shape(name, { jsonrpc: '2.0', id: id ?? 0, error })
    }
    if (request?.method === undefined || result === undefined) return 'it answers no known request'
    const wrong = this.#raw.has(id) ? undefined : this.#official.message(request.method, request)
    if (wrong !== undefined) return `its request is invalid: ${wrong}`
    if (result['resultType'] === 'input_required') return this.#official.shape('InputRequiredResult', result)
    const isAsked = (request['params'] as JsonObject | undefined)?.['task'] !== undefined
    const isTask = result['resultType'] === 'task' || (isAsked && 'task' in result)
    return isTask
      ? this.#official.shape('CreateTaskResult', result)
      : this.#official.result(request.method, result)
  }
}

/** Whether the protocol reserves a code without defining it. */
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
