import { mcpError } from '../../../errors/error.ts'
import { BAD_ACCEPT, STREAM_EXISTS } from '../../../errors/http.ts'
import type { WritePool } from '../../io/write-budget.ts'
import { toStream } from './exchange.ts'
import { readAccept } from './negotiate.ts'
import { callerOf, type Headers, type HttpIn, type HttpOut } from './parts.ts'
import type { HttpSession } from './sessions.ts'

/** Opens the stream of a session, or resumes one whose connection broke, unless its caller has left too much unread. */
export function openSessionStream(
  session: HttpSession,
  request: HttpIn,
  headers: Headers,
  written: WritePool,
): HttpOut {
  if (!readAccept(request).events) throw mcpError(BAD_ACCEPT, {})
  const lastEventId = request.header('last-event-id')
  if (lastEventId !== undefined) {
    const found = session.find(lastEventId)
    // Tells the client not to reconnect: an empty stream would make it try again and again.
    if (found === undefined) return { status: 204, headers }
    written.check(callerOf(request))
    return toStream({ attach: (sink: never) => found.stream.attach(sink, found.seq) }, headers)
  }
  const stream = session.standalone()
  if (stream.attached) throw mcpError(STREAM_EXISTS, {})
  stream.prime(session.session.dialect)
  return toStream(stream, headers)
}
