import { mcpError } from '../../../errors/error.ts'
import { NODE_LOST } from '../../../errors/http.ts'
import { toErrorObject } from '../../../errors/reply.ts'
import { isObject, type RequestId } from '../../../protocol/jsonrpc.ts'
import type { Dialect } from '../../../protocol/switches.ts'
import { encodeError } from '../../../wire/reply.ts'
import { withoutMark, type MarkedStream } from './marked-text.ts'
import { STANDALONE } from './sessions.ts'

/** How many events are read at once. */
const PAGE = 100
/** The beginning of a response as nodes write it. */
const RESPONSE = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),"(?:result|error)":/

/** The responses in the stream of a session, which has many writers. */
export class StoredAnswers {
  readonly #stream: MarkedStream
  readonly #ids = new Set<string>()
  /** The number of the event after those that were read. */
  #next = 0

  constructor(stream: MarkedStream) {
    this.#stream = stream
  }

  /** Whether one of the events that were read answers a request. */
  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Reads the events that were added since the last time; false if there is no such stream. */
  async read(): Promise<boolean> {
    const { events, session } = this.#stream
    for (;;) {
      const page = await events.read(session, STANDALONE, this.#next - 1, PAGE)
      if (page === undefined) return false
      for (const { text } of page.events) for (const id of answeredIn(withoutMark(text))) this.#ids.add(id)
      const last = page.events.at(-1)
      this.#next = last === undefined ? Math.max(this.#next, page.first) : last.seq + 1
      if (page.events.length < PAGE) return true
    }
  }

  /**
   * Answers a request of a node that died with an error, unless the stream has a response. Both is one step: the error is added only if no event
   * came after those that were read, and from then on the stream takes nothing for the request, in case its node lives.
   */
  async giveUp(id: string, dialect: Dialect): Promise<void> {
    const { events, session, room } = this.#stream
    const text = encodeError(readId(id), toErrorObject(mcpError(NODE_LOST, {}), dialect), dialect)
    while ((await this.read()) && !this.has(id)) {
      const event = { text, seq: this.#next, requests: [id], givesUp: true }
      // Another node has given it up.
      if ((await events.append(session, STANDALONE, event, room)) === undefined) return
    }
  }
}

/** The ids of the requests that a text answers, as JSON. */
export function answeredIn(text: string): readonly string[] {
  if (!text.startsWith('[')) return RESPONSE.exec(text)?.slice(1, 2) ?? []
  return (JSON.parse(text) as readonly unknown[]).flatMap((one) =>
    isObject(one) && one['method'] === undefined && one['id'] !== undefined
      ? [JSON.stringify(one['id'])]
      : [],
  )
}

/** The id in a JSON text. */
export function readId(text: string): RequestId {
  const id = JSON.parse(text) as string | number
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : BigInt(text)
}
