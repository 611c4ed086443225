import { McpError, mcpError } from '../../protocol/errors.ts'
import type { Outgoing, Received } from '../../rpc/line.ts'
import { dropBody, readBody } from './client-body.ts'
import { mediaTypeOf, retryAfterOf } from './client-headers.ts'
import { answers, readReceived } from './client-message.ts'

export interface ReadingOptions {
  readonly maxBytes: number
  readonly maxDepth: number
  readonly signal: AbortSignal
  readonly leftovers: Set<() => void>
}

/** The most of a reply that only tells of an error. */
const MAX_ERROR_BYTES = 1_048_576
/** Statuses that ask for something other than another message. */
const NO_ANSWER: ReadonlySet<number> = new Set([401, 403, 407, 429, 503])

/** The answer in a reply that is one JSON text. */
export async function readJsonAnswer(
  response: Response,
  outgoing: Outgoing,
  { maxBytes, maxDepth, signal }: ReadingOptions,
): Promise<Received> {
  const text = await readBody(response, maxBytes, signal).catch((error: unknown) => {
    throw error instanceof McpError
      ? error
      : mcpError('stream_lost', { method: outgoing.method }, { cause: error })
  })
  const answer = take(text, outgoing, maxDepth, true)
  if (answer === undefined) throw invalid(outgoing, 'it is not the answer to this request')
  return answer
}

/** Finds the answer among the messages of a text; the others are passed on where they are new. */
export function take(
  text: string | undefined,
  outgoing: Outgoing,
  maxDepth: number,
  isNew: boolean,
): Received | undefined {
  let answer: Received | undefined
  for (const message of read(text, outgoing, maxDepth)) {
    if (answers(message, outgoing.id)) answer ??= message
    else if (message.method !== undefined && isNew) outgoing.onMessage(message)
  }
  return answer
}

function read(text: string | undefined, outgoing: Outgoing, maxDepth: number): readonly Received[] {
  if (text === undefined) throw invalid(outgoing, 'it is not UTF-8')
  try {
    return readReceived(text, maxDepth)
  } catch (error) {
    throw invalid(outgoing, error instanceof McpError ? error.message : 'it cannot be read', error)
  }
}

function invalid({ method }: Outgoing, issue: string, cause?: unknown): McpError {
  return mcpError('bad_answer', { method, issue }, cause === undefined ? {} : { cause })
}

/** The error that a reply with a bad status amounts to: the server's own, which is an answer, or ours, which is thrown. */
export async function readFailure(
  response: Response,
  outgoing: Outgoing,
  options: ReadingOptions,
): Promise<Received> {
  const answer = await readErrorBody(response, outgoing, options)
  if (answer !== undefined && !NO_ANSWER.has(response.status)) return answer
  throw toFailure(response, outgoing.method, answer)
}

async function readErrorBody(
  response: Response,
  { id }: Outgoing,
  { maxBytes, maxDepth, signal }: ReadingOptions,
): Promise<Received | undefined> {
  if (mediaTypeOf(response.headers) !== 'application/json') {
    dropBody(response)
    return undefined
  }
  try {
    const text = await readBody(response, Math.min(maxBytes, MAX_ERROR_BYTES), signal)
    const messages = text === undefined ? [] : readReceived(text, maxDepth)
    return messages.find((message) => message.error !== undefined && answers(message, id))
  } catch (error) {
    if (signal.aborted) throw error
    dropBody(response)
    return undefined
  }
}

/** What a bad status means, with what is needed to do something about it. */
export function toFailure({ status, headers }: Response, method: string, answer?: Received): McpError {
  const wwwAuthenticate = headers.get('www-authenticate')
  const retryAfterMs = retryAfterOf(headers)
  const data = {
    status,
    ...(wwwAuthenticate !== null && { wwwAuthenticate }),
    ...(answer?.error !== undefined && { error: answer.error }),
  }
  return mcpError(
    'http_failed',
    { method, status, reason: '' },
    { data, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  )
}

/** The error for a good status without an answer in it. */
export function toUseless({ status, headers }: Response, method: string): McpError {
  const type = mediaTypeOf(headers)
  const shown = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(type) ? type : 'unknown'
  const issue =
    status === 200 ? `its type is ${shown}, not JSON or an event stream` : `status ${status} brings no answer`
  return mcpError('bad_answer', { method, issue }, { data: { status } })
}
