import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { orAborted } from '../base/backoff.ts'
import { placeOf, type Place } from '../base/places.ts'
import { TimeLimit } from '../base/time-limit.ts'

/** A reply, with the beginning of its body. */
export interface SmallReply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

const MOST_CHARS = 200_000
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
  const sent = fetch(url, { ...init, redirect: 'manual', signal: limit.signal })
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

/** Where a host leads, by all of its addresses: the most private one counts. */
async function placeOfName(hostname: string, signal: AbortSignal): Promise<Place> {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const places = (await lookedUp(name, signal)).map(({ address }) => placeOf(address))
  return (['special', 'loopback', 'private'] as const).find((place) => places.includes(place)) ?? 'public'
}

/** The places that what a server names may be in: nothing more private than the server itself. */
const REACHABLE: Readonly<Record<Place, readonly Place[]>> = {
  public: ['public'],
  private: ['public', 'private'],
  loopback: ['public', 'private', 'loopback'],
  special: ['public'],
}

/**
 * Reads JSON from an address that a server named. Throws with a reason if it must not be asked, or if there is none. A server must not
 * make this computer ask others in its network.
 */
export async function readNamedJson(
  url: URL,
  server: URL,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const from = await placeOfName(server.hostname, signal)
  const to = await placeOfName(url.hostname, signal)
  const isPlain = url.protocol === 'http:' && from === 'loopback' && to === 'loopback'
  if (url.protocol !== 'https:' && !isPlain) throw new Error('it is not an https URL')
  if (!REACHABLE[from].includes(to)) throw new Error('it is in a network that the server must not name')
  const { status, body } = await smallFetch(url, { headers: { accept: 'application/json' } }, signal)
  if (status !== 200) throw new Error(`it answers with status ${status}`)
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw new Error('it is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('it is not an object')
  return value as Readonly<Record<string, unknown>>
}
