import { mcpError } from '../../../errors/error.ts'
import { NODE_LOST } from '../../../errors/http.ts'
import { toErrorObject } from '../../../errors/reply.ts'
import type { RequestId } from '../../../protocol/jsonrpc.ts'
import type { Dialect } from '../../../protocol/switches.ts'
import { encodeError } from '../../../wire/reply.ts'

/** The most characters of such a response: everybody who reads the stream gets it with each page. A batch of 100 requests with short ids needs fewer. */
const MOST = 32_768

/**
 * The response that a client gets if the node of its stream dies before it sends another one: to a request, or to the requests of a batch.
 * A request whose id is too long for the room that is left gets no response. The text is empty if no request gets one.
 */
export function lostResponse(id: RequestId | readonly RequestId[] | undefined, dialect: Dialect): string {
  const error = toErrorObject(mcpError(NODE_LOST, {}), dialect)
  const isBatch = typeof id === 'object'
  const ids = isBatch ? id : id === undefined ? [] : [id]
  let left = MOST
  const texts = ids.flatMap((one) => {
    const text = encodeError(one, error, dialect)
    if (text.length > left) return []
    left -= text.length
    return [text]
  })
  const all = texts.join(',')
  return isBatch && all !== '' ? `[${all}]` : all
}

/** The response that `writer` of a stream keeps for the case that its node dies; empty if there is none. */
export function responseIn(writer: string): string {
  return writer.slice(writer.indexOf(' ') + 1)
}
