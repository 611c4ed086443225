import { platformFetch } from '#fetch'
import type { ClientLimits } from '../protocol/client-limits.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { ANSWER_TOO_LARGE, BAD_ANSWER, HTTP_FAILED } from '../errors/client.ts'
import { CLOSED } from '../errors/rpc.ts'
import { STREAM_LOST } from '../errors/transport.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Clock } from '../rpc/clock.ts'
import { Deadline } from '../rpc/deadline.ts'
import { reportProgress } from '../rpc/report-progress.ts'
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
import { parseUrl } from '../protocol/url.ts'

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

const POST = 'POST /gist'
const GET = 'GET /jobs'
const ACCEPT = 'application/json, text/event-stream'

/** One HTTP request: an envelope, or a question about a job. */
interface Request {
  readonly send: Send
  readonly verb: 'POST' | 'GET'
  /** Names it in errors. */
  readonly method: string
  readonly body?: string
}

/** Posts envelopes to one URL and reads the replies, whole or as a stream. */
export class Poster {
  readonly #url: URL
  readonly #fetch: typeof globalThis.fetch
  readonly #send: Send
  readonly #limits: ClientLimits
  readonly #holds: Holds
  readonly #headers: () => Promise<HeaderRecord>
  #closed = false

  constructor(url: string | URL, { headers, fetch, limits }: PosterOptions) {
    const fixed = typeof headers === 'function' ? undefined : readCallerHeaders(headers)
    this.#headers = async () =>
      fixed ?? readCallerHeaders(await (headers as () => HeaderRecord | Promise<HeaderRecord>)())
    this.#url = readTarget(url)
    this.#fetch = fetch ?? platformFetch
    this.#send = createSend(this.#url, this.#fetch)
    this.#limits = limits
    this.#holds = new Holds(limits)
  }

  /** Sends an envelope and returns the reply envelope. */
  async post(envelope: JsonObject, posting: Posting): Promise<JsonObject> {
    const body = JSON.stringify(envelope)
    return this.#within({ send: this.#send, verb: 'POST', method: POST, body }, posting)
  }

  /** Asks for a job, whose URL is next to that of the envelopes. */
  async job(id: string, posting: Posting): Promise<JsonObject> {
    const url = parseUrl(`jobs/${encodeURIComponent(id)}${this.#url.search}`, this.#url)
    return this.#within({ send: createSend(url, this.#fetch), verb: 'GET', method: GET }, posting)
  }

  async #within(request: Request, posting: Posting): Promise<JsonObject> {
    const { onProgress, ...times } = posting
    if (this.#closed) throw mcpError(CLOSED, {})
    const deadline = new Deadline({ method: request.method, signal: undefined, ...times })
    const hold = this.#holds.begin(() => mcpError(CLOSED, {}), deadline.signal)
    const onPart = (part: ResultEnvelope): void => {
      deadline.touch()
      reportProgress(onProgress, deadline, part)
    }
    try {
      const answer = await hold.race(this.#exchange(request, hold.signal, onPart))
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
    { send, verb, method, body }: Request,
    signal: AbortSignal,
    onPart: (part: ResultEnvelope) => void,
  ): Promise<JsonObject> {
    const caller = await this.#headers()
    const sent = body !== undefined && { body }
    const headers = { ...caller, accept: ACCEPT, ...(sent && { 'content-type': 'application/json' }) }
    const response = await send({ verb, headers, signal, method, ...sent })
    const type = mediaTypeOf(response.headers)
    if (type === 'text/event-stream' && response.ok) return this.#follow(response, method, signal, onPart)
    if (type === 'application/json') return this.#read(response, method, signal)
    throw response.ok ? toUseless(response, method) : notServed(response, method)
  }

  async #read(response: Response, method: string, signal: AbortSignal): Promise<JsonObject> {
    const text = await readBody(response, this.#limits.clientBytes, signal, this.#holds.count).catch(
      (error: unknown) => {
        throw error instanceof McpError ? error : mcpError(STREAM_LOST, { method }, { cause: error })
      },
    )
    const value = this.#parse(text, method)
    // Any other JSON comes from an intermediary.
    if (!response.ok && value['status'] !== 'error') throw notServed(response, method)
    return value
  }

  async #follow(
    response: Response,
    method: string,
    signal: AbortSignal,
    onPart: (part: ResultEnvelope) => void,
  ): Promise<JsonObject> {
    let answer: JsonObject | undefined
    let problem: McpError | undefined
    await readStream(response, {
      maxBytes: this.#limits.clientBytes,
      signal,
      leftovers: this.#holds.leftovers,
      count: this.#holds.count,
      onEvent: (event) => {
        if (!isMessageEvent(event)) return false
        try {
          const value = this.#parse(event.data, method)
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
    throw problem ?? mcpError(STREAM_LOST, { method })
  }

  #parse(text: string | undefined, method: string): JsonObject {
    const value = this.#parseWithin(text ?? '', method)
    if (!isObject(value)) throw bad(method, 'it is not a JSON object')
    if (isDeeper(value, this.#limits.depth)) throw bad(method, 'it is nested too deeply')
    return value
  }

  #parseWithin(text: string, method: string): unknown {
    try {
      checkValues(text, this.#limits)
      return JSON.parse(text)
    } catch (error) {
      if (error instanceof McpError) throw bad(method, error.message)
      return undefined
    }
  }
}

/** Whether a value is nested more than `room` levels deep. */
function isDeeper(value: unknown, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return room === 0 || Object.values(value).some((member) => isDeeper(member, room - 1))
}

function bad(method: string, issue: string): McpError {
  return mcpError(BAD_ANSWER, { method, issue })
}

/** The error for a bad status that is not an envelope. */
function notServed(response: Response, method: string): McpError {
  const { status } = response
  if (![400, 404, 405].includes(status)) return toFailure(response, method)
  const reason = `: this is not ${PLACES[method]}, which servers have with listen({ http: { gist: true } })`
  return mcpError(HTTP_FAILED, { method, status, reason }, { data: { status } })
}

const PLACES: Readonly<Record<string, string>> = { [POST]: 'a gist endpoint', [GET]: 'the path of a job' }
