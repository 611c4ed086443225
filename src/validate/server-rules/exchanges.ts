import { messagesIn, parsed, type Message, type Received } from '../message.ts'
import { HttpWire } from '../wire-http.ts'
import type { Wire } from '../wire.ts'

/** Finds the request that a response answers; undefined if there is none with its id. */
export type RequestFinder = (wire: Wire, received: Received, id: unknown) => Message | undefined

/** A request that was sent, and its place in the trace. */
interface Sent {
  readonly at: number
  readonly message: Message
}

/** Finds requests by their ids. Every conversation counts its ids from 1, so only those of the same connection are looked at, over HTTP those of the same POST. */
export function requestFinder(): RequestFinder {
  const byWire = new Map<Wire, Map<unknown, Sent[]>>()
  const byPost = new Map<string, readonly Message[] | undefined>()
  const postedOn = (wire: Wire, stream: string): readonly Message[] | undefined => {
    if (!byPost.has(stream)) {
      const post = wire instanceof HttpWire ? wire.posts.get(stream) : undefined
      // Nobody can say which ids are in a text that is not JSON.
      const isKnown = post !== undefined && parsed(post) !== undefined
      byPost.set(stream, isKnown ? requestsIn(post) : undefined)
    }
    return byPost.get(stream)
  }
  return (wire, { stream, at }, id) => {
    const posted = postedOn(wire, stream)
    if (posted !== undefined) return posted.find((message) => message['id'] === id)
    const sent = byWire.get(wire) ?? sentOn(wire)
    byWire.set(wire, sent)
    // An id may be used again when its request was answered.
    return sent.get(id)?.findLast((one) => one.at <= at)?.message
  }
}

/** Says whether a request had its response before; each response is to be asked about once, in the order in which they came. */
export function furtherAnswers(): (wire: Wire, received: Received, id: unknown) => boolean {
  const counts = new Map<string, number>()
  const names = new Map<Wire, number>()
  const askedOn = new Map<Wire, Map<unknown, Sent[]>>()
  return (wire, { stream, at }, id) => {
    const post = wire instanceof HttpWire ? wire.posts.get(stream) : undefined
    // A stream that is resumed repeats responses, and nobody can say which ids are in a text that is not JSON.
    if (wire instanceof HttpWire && (post === undefined || parsed(post) === undefined)) return false
    if (!names.has(wire)) names.set(wire, names.size)
    if (!askedOn.has(wire)) askedOn.set(wire, sentOn(wire))
    const key = JSON.stringify([names.get(wire), post === undefined ? '' : stream, id])
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    const asked =
      post === undefined
        ? askedOn
            .get(wire)
            ?.get(id)
            ?.filter((one) => one.at <= at).length
        : requestsIn(post).filter((message) => message['id'] === id).length
    return count > (asked ?? 0)
  }
}

/** Finds the first request with an id that was sent on a connection. */
export function sentRequests(): (wire: Wire, id: unknown) => Message | undefined {
  const byWire = new Map<Wire, Map<unknown, Sent[]>>()
  return (wire, id) => {
    const sent = byWire.get(wire) ?? sentOn(wire)
    byWire.set(wire, sent)
    return sent.get(id)?.[0]?.message
  }
}

function sentOn({ sent }: Wire): Map<unknown, Sent[]> {
  const found = new Map<unknown, Sent[]>()
  for (const { at, text } of sent)
    for (const message of requestsIn(text)) {
      const id = message['id']
      const others = found.get(id)
      if (others === undefined) found.set(id, [{ at, message }])
      else others.push({ at, message })
    }
  return found
}

/** The messages in a text that want an answer. Those with a method of another type do too. */
function requestsIn(text: string): readonly Message[] {
  return messagesIn(parsed(text)).filter(
    (message) => Object.hasOwn(message, 'id') && Object.hasOwn(message, 'method'),
  )
}
