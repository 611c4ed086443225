import type { Reply, Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import { isResponseTo, type HttpReply } from '../wire.ts'

/** How long to look for the end of a stream that was closed before. */
const QUIET_MS = 50
/** How long to wait for a response on a stream that was resumed. */
const RESUMED_MS = 1_000

/** Whether the stream of a request ended, and the response can no longer come. */
export async function isBrokenOff(session: Session, { id, http, message }: Reply): Promise<boolean> {
  const { wire } = session
  if (message !== undefined || http?.isStream !== true || !(wire instanceof HttpWire)) return false
  if (!(await isEnded(http, QUIET_MS))) return false
  // The client comes back for the response, maybe several times.
  if (wire.retries.has(http.stream)) return false
  const eventId = lastEventId(wire, http.stream)
  if (session.isModern || eventId === undefined) return true
  const resumed = await wire.get({ headers: { 'last-event-id': eventId } })
  if (!resumed.isStream) return true
  const from = resumed.at
  const answer = await wire.wait(isResponseTo(id), { from, ms: RESUMED_MS })
  return answer === undefined && !wire.retries.has(resumed.stream) && (await isEnded(resumed, QUIET_MS))
}

/** Whether the peer ends a reply soon. */
export function isEnded({ ended }: HttpReply, ms: number): Promise<boolean> {
  return Promise.race([
    ended.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), ms).unref()),
  ])
}

/** The id of the last event of a stream; undefined if it has none. */
function lastEventId({ received, events }: HttpWire, stream: string): string | undefined {
  const ids = [
    ...events.map(({ stream: own, id }) => ({ own, id })),
    ...received.map(({ stream: own, eventId: id }) => ({ own, id })),
  ]
  return ids.findLast(({ own, id }) => own === stream && id !== undefined && id !== '')?.id
}
