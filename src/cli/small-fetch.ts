import { platformFetch } from '#fetch'
import { pinned } from '#pinned'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { orAborted } from '../base/backoff.ts'
import { placeOf, placeOfHost, type Place } from '../base/places.ts'
import { TimeLimit } from '../base/time-limit.ts'

/** A reply, with the beginning of its body. */
export interface SmallReply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

const MOST_CHARS = 200_000
/** The largest document that is read. */
const MOST_BYTES = 200_000
const PATIENCE_MS = 10_000

/** Sends a request that may take some seconds, follows no redirects, and reads no more of the reply than needed. */
export async function smallFetch(
  url: string | URL,
  init: RequestInit,
  signal: AbortSignal,
  patienceMs: number = PATIENCE_MS,
): Promise<SmallReply> {
  signal.throwIfAborted()
  using limit = new TimeLimit(signal, patienceMs)
  const sent = platformFetch(url, { ...init, redirect: 'manual', signal: limit.signal })
  const response = await orAborted(sent, limit.signal)
  const { status, headers } = response
  const isStream = /text\/event-stream/i.test(headers.get('content-type') ?? '')
  let body = ''
  const reader = response.body
    ?.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .getReader()
  try {
    // A stream of events may stay open for ever.
    while (reader !== undefined && !isStream && body.length < MOST_CHARS) {
      const { done, value = '' } = await orAborted(reader.read(), limit.signal)
      if (done) break
      body += value
    }
  } catch {
    // What came so far is enough to look at, unless the user has left.
    signal.throwIfAborted()
  } finally {
    void reader?.cancel().catch(() => undefined)
  }
  return { status, headers, body: body.slice(0, MOST_CHARS) }
}

/** The addresses of a name. The system may look for them for a long time, but nobody waits that long. */
export async function lookedUp(name: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
  using limit = new TimeLimit(signal, PATIENCE_MS)
  return await orAborted(lookup(name, { all: true }), limit.signal)
}

/** The places that what a server names may be in: nothing more private than the server itself. */
const REACHABLE: Readonly<Record<Place, readonly Place[]>> = {
  public: ['public'],
  private: ['public', 'private'],
  loopback: ['public', 'private', 'loopback'],
  special: ['public'],
}

type Resolver = Parameters<typeof pinned.resolve>[1]

/** Where a server is. By DNS alone, a name is never this computer: whoever owns the name could move it there at any time. */
async function placeOfServer({ hostname }: URL, resolver: Resolver): Promise<Place> {
  const known = placeOfHost(hostname)
  if (known !== undefined) return known
  const places = (await pinned.resolve(hostname, resolver)).map(placeOf)
  return places.length > 0 && places.every((place) => place === 'private') ? 'private' : 'public'
}

/** The places where a URL that a server names may lead. Throws if none. */
function placesFor(url: URL, server: URL, home: Place): readonly Place[] {
  if (url.protocol === 'http:' && home === 'loopback') return ['loopback']
  if (url.protocol !== 'https:') throw new Error('it is not an https URL')
  const places = REACHABLE[home]
  return url.hostname === server.hostname ? places.filter((place) => place === home) : places
}

/**
 * Reads JSON from an address that a server named. Throws with a reason if it must not be asked, or if there is none. A server must not
 * make this computer ask others in its network, so the connection goes to the very address that was checked.
 */
export async function readNamedJson(
  url: URL,
  server: URL,
  signal: AbortSignal,
  resolver?: Resolver,
): Promise<Readonly<Record<string, unknown>>> {
  signal.throwIfAborted()
  using limit = new TimeLimit(signal, PATIENCE_MS)
  const places = placesFor(url, server, await orAborted(placeOfServer(server, resolver), limit.signal))
  const faultOf = (place: Place): Error | undefined =>
    places.includes(place) ? undefined : new Error('it is in a network that the server must not name')
  // Addresses in URLs are not looked up.
  const place = placeOfHost(url.hostname)
  const fault = place === undefined ? undefined : faultOf(place)
  if (fault !== undefined) throw fault
  const request = new Request(url, { headers: { accept: 'application/json' } })
  const checks = { faultOf: (address: string) => faultOf(placeOf(address)), signal: limit.signal, resolver }
  const { status, chunks, cancel } = await orAborted(pinned.send(request, checks), limit.signal)
  try {
    if (status !== 200) throw new Error(`it answers with status ${status}`)
    return toObject(await orAborted(readAll(chunks), limit.signal))
  } finally {
    cancel()
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`)
    parts.push(chunk)
  }
  return Buffer.concat(parts).toString()
}

function toObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('it is not an object')
  return value as Readonly<Record<string, unknown>>
}
