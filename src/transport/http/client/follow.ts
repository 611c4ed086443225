import type { Message } from '../../../protocol/jsonrpc.ts'
import { type McpError, mcpError } from '../../../errors/error.ts'
import { STREAM_LOST } from '../../../errors/transport.ts'
import type { OutgoingRequest } from '../../../rpc/client-transport.ts'
import { take, type ReadingOptions } from './answer.ts'
import { tooLarge } from './body.ts'
import { ReconnectBackoff, type BackoffOptions } from './reconnect-backoff.ts'
import { isStream, resume } from './resume.ts'
import { isMessageEvent, Place, readStream } from './stream.ts'

export interface FollowOptions extends ReadingOptions, BackoffOptions {
  /** Whether a lost stream can be resumed. */
  resumes(): boolean
  /** Opens the stream again after an event, if there was one. */
  get(lastId: string | undefined): Promise<Response>
  /** The error for a reply that is not a stream. */
  refused(response: Response): Promise<McpError>
}

/** Reads a stream up to the response, resuming it when the connection is lost, if possible. */
export async function follow(
  first: Response,
  outgoing: OutgoingRequest,
  options: FollowOptions,
): Promise<Message> {
  const { method } = outgoing
  const { signal, get } = options
  const place = new Place()
  let backoff: ReconnectBackoff | undefined
  for (let response = first; ;) {
    const since = performance.now()
    const answer = await readStreamAnswer(response, outgoing, { ...options, place })
    if (answer !== undefined) return answer
    if (!options.resumes() || place.lastId === undefined) throw mcpError(STREAM_LOST, { method })
    backoff ??= new ReconnectBackoff(options.reconnect, options.random)
    backoff.learn(place, performance.now() - since)
    const next = await resume({ place, backoff, signal, get, counted: true }, true)
    if (next === undefined) throw mcpError(STREAM_LOST, { method })
    if (!isStream(next)) throw await options.refused(next)
    response = next
  }
}

/** Reads one connection of a stream; undefined when it ended before the response. */
async function readStreamAnswer(
  response: Response,
  outgoing: OutgoingRequest,
  { place, ...options }: ReadingOptions & { readonly place: Place },
): Promise<Message | undefined> {
  const { limits } = options
  const maxBytes = limits.clientBytes
  let answer: Message | undefined
  place.begin()
  await readStream(response, {
    ...options,
    maxBytes,
    onEvent(event) {
      const isNew = place.reach(event)
      if (isMessageEvent(event)) answer = take(event.data, outgoing, limits, isNew)
      return answer !== undefined
    },
    onRetry: (ms) => place.ask(ms),
    onOversize() {
      throw tooLarge(maxBytes)
    },
  })
  return answer
}
