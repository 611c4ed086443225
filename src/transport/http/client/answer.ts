import type { ContentLimits, ReadLimits } from '../../../protocol/client-limits.ts'
import type { Message } from '../../../protocol/jsonrpc.ts'
import { McpError, mcpError } from '../../../errors/error.ts'
import { BAD_ANSWER } from '../../../errors/client.ts'
import { STREAM_LOST } from '../../../errors/transport.ts'
import type { OutgoingRequest } from '../../../rpc/client-transport.ts'
import { readBody } from './body.ts'
import type { Count } from './holds.ts'
import { answers, readReceived } from './message.ts'

export interface ReadingOptions {
  readonly limits: ReadLimits
  readonly signal: AbortSignal
  readonly leftovers: Set<() => void>
  readonly count: Count
}

/** Reads the response from a JSON reply. */
export async function readJsonAnswer(
  response: Response,
  outgoing: OutgoingRequest,
  { limits, signal, count }: ReadingOptions,
): Promise<Message> {
  const text = await readBody(response, limits.clientBytes, signal, count).catch((error: unknown) => {
    throw error instanceof McpError
      ? error
      : mcpError(STREAM_LOST, { method: outgoing.method }, { cause: error })
  })
  const answer = take(text, outgoing, limits, true)
  if (answer === undefined) throw invalid(outgoing, 'it does not answer this request')
  return answer
}

/** Finds the response among the messages of a text; the others are passed on if they are new. */
export function take(
  text: string | undefined,
  outgoing: OutgoingRequest,
  limits: ContentLimits,
  isNew: boolean,
): Message | undefined {
  let answer: Message | undefined
  for (const message of read(text, outgoing, limits)) {
    if (answers(message, outgoing.id)) answer ??= message
    else if (message.method !== undefined && isNew) outgoing.onMessage(message)
  }
  return answer
}

function read(
  text: string | undefined,
  outgoing: OutgoingRequest,
  limits: ContentLimits,
): readonly Message[] {
  if (text === undefined) throw invalid(outgoing, 'it is not UTF-8')
  try {
    return readReceived(text, limits)
  } catch (error) {
    throw invalid(outgoing, error instanceof McpError ? error.message : 'it cannot be read', error)
  }
}

function invalid({ method }: OutgoingRequest, issue: string, cause?: unknown): McpError {
  return mcpError(BAD_ANSWER, { method, issue }, cause === undefined ? {} : { cause })
}
