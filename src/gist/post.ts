import { platformFetch } from '#fetch'
import type { ClientLimits } from '../protocol/client-limits.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { ANSWER_TOO_LARGE, BAD_ANSWER, HTTP_FAILED } from '../errors/client.ts'
import { CLOSED } from '../errors/rpc.ts'
import { STREAM_LOST } from '../errors/transport.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Clock } from '../rpc/clock.ts'
import { Deadline } from '../rpc/deadline.ts'
import { readBody } from '../transport/http/client/body.ts'
import { toFailure, toUseless } from '../transport/http/client/failure.ts'
import { createSend, type Send } from '../transport/http/client/fetch.ts'
import {
  mediaTypeOf,
  readCallerHeaders,
  type CallerHeaders,
  type HeaderRecord,
} from '../transport/http/client/headers.ts'
import { Holds } from '../transport/http/client/holds.ts'
import { readTarget } from '../transport/http/client/target.ts'
import { isMessageEvent, readStream } from '../transport/http/client/stream.ts'
import { checkValues } from '../wire/values.ts'
import { readPart } from './answers.ts'
import type { ResultEnvelope } from './envelopes.ts'

export interface PosterOptions {
  readonly headers: CallerHeaders
  readonly fetch: typeof globalThis.fetch | undefined
  readonly limits: ClientLimits
}

/** The timeouts of one exchange, and the listener for progress. */
export interface Posting {
  readonly idleMs: number
  readonly totalMs: number
  /** Measures the time of `totalMs`; by default it begins now. */
  readonly clock?: Clock | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((part: ResultEnvelope) => void) | undefined
}

const METHOD = 'POST /gist'
const ACCEPT = 'application/json, text/event-stream'

/** Posts envelopes to one URL and reads the replies, whole or as a stream. */
export class Poster {
  readonly #send: Send
  readonly #limits: ClientLimits
  readonly #holds = new Holds()
  readonly #headers: () => Promise<HeaderRecord>
  #closed = false

  constructor(url: string | URL, { headers, fetch, limits }: PosterOptions) {
    const fixed = typeof headers === 'function' ? undefined : readCallerHeaders(headers)
    this.#headers = async () =>
      fixed ?? readCallerHeaders(await (headers as () => HeaderRecord | Promise<HeaderRecord>)())
    this.#send = createSend(readTarget(url), fetch ?? platformFetch)
    this.#limits = limits
  }

  /** Sends an envelope and returns the reply envelope. */
  async post(envelope: JsonObject, posting: Posting): Promise<JsonObject> {
    const { onProgress, ...times } = posting
    if (this.#closed) throw mcpError(CLOSED, {})
    const deadline = new Deadline({ method: METHOD, signal: undefined, ...times })
    const hold = this.#holds.begin(() => mcpError(CLOSED, {}), deadline.signal)
    const onPart = (part: ResultEnvelope): void => {
      deadline.touch()
      onProgress?.(part)
    }
    try {
      const answer = await hold.race(this.#exchange(JSON.stringify(envelope), hold.signal, onPart))
      hold.release()
      return answer
    } catch (error) {
      throw hold.release(error)
    } finally {
      deadline.end()
    }
  }

  /** Aborts everything in progress. */
  close(): void {
    this.#closed = true
    this.#holds.abortAll()
  }

  async #exchange(
    body: string,
    signal: AbortSignal,
    onPart: (part: ResultEnvelope) => void,
  ): Promise<JsonObject> {
    const caller = await this.#headers()
    const headers = { ...caller, accept: ACCEPT, 'content-type': 'application/json' }
    const response = await this.#send({ verb: 'POST', headers, body, signal, method: METHOD })
    const type = mediaTypeOf(response.headers)
    if (type === 'text/event-stream' && response.ok) return this.#follow(response, signal, onPart)
    if (type === 'application/json') return this.#read(response, signal)
    throw response.ok ? toUseless(response, METHOD) : notServed(response)
  }

  async #read(response: Response, signal: AbortSignal): Promise<JsonObject> {
    const text = await readBody(response, this.#limits.clientBytes, signal).catch((error: unknown) => {
      throw error instanceof McpError ? error : mcpError(STREAM_LOST, { method: METHOD }, { cause: error })
    })
    const value = this.#parse(text)
    // Any other JSON comes from an intermediary.
    if (!response.ok && value['status'] !== 'error') throw notServed(response)
    return value
  }

  async #follow(
    response: Response,
    signal: AbortSignal,
    onPart: (part: ResultEnvelope) => void,
  ): Promise<JsonObject> {
    let answer: JsonObject | undefined
    let problem: McpError | undefined
    await readStream(response, {
      maxBytes: this.#limits.clientBytes,
      signal,
      leftovers: this.#holds.leftovers,
      onEvent: (event) => {
        if (!isMessageEvent(event)) return false
        try {
          const value = this.#parse(event.data)
          if (value['status'] !== 'in_progress' || 'job_id' in value) answer = value
          else onPart(readPart(value))
        } catch (error) {
          problem = error as McpError
        }
        return answer !== undefined || problem !== undefined
      },
      onRetry: () => undefined,
      onOversize: () => {
        problem ??= mcpError(ANSWER_TOO_LARGE, { limit: this.#limits.clientBytes, unit: 'bytes' })
      },
    })
    if (answer !== undefined) return answer
    throw problem ?? mcpError(STREAM_LOST, { method: METHOD })
  }

  #parse(text: string | undefined): JsonObject {
    const value = this.#parseWithin(text ?? '')
    if (!isObject(value)) throw bad('it is not a JSON object')
    if (isDeeper(value, this.#limits.depth)) throw bad('it is nested too deeply')
    return value
  }

  #parseWithin(text: string): unknown {
    try {
      checkValues(text, this.#limits)
      return JSON.parse(text)
    } catch (error) {
      if (error instanceof McpError) throw bad(error.message)
      return undefined
    }
  }
}

/** Whether a value is nested more than `room` levels deep. */
function isDeeper(value: unknown, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return room === 0 || Object.values(value).some((member) => isDeeper(member, room - 1))
}

function bad(issue: string): McpError {
  return mcpError(BAD_ANSWER, { method: METHOD, issue })
}

/** The error for a bad status that is not an envelope. */
function notServed(response: Response): McpError {
  const { status } = response
  if (![400, 404, 405].includes(status)) return toFailure(response, METHOD)
  const reason =
    ': this is not a gist endpoint; servers have one at /gist with listen({ http: { gist: true } })'
  return mcpError(HTTP_FAILED, { method: METHOD, status, reason }, { data: { status } })
}
